// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/form.hpp"
#include "fortran/handles.hpp"

using namespace tonari;

namespace {

// One for all blocks, or one for each; a call with one allocates nothing.
class Types {
 public:
  explicit Types(const int given[]) : one_(given ? type_of(*given) : MPI_DATATYPE_NULL) {}
  Types(const int given[], int count) : all_(types_of(given, count)) {}
  static Types read(const int given[], bool is_list, int count) {
    return is_list ? Types(given, count) : Types(given);
  }
  MPI_Datatype one() const { return one_; }
  const MPI_Datatype* all() const { return all_.data(); }

 private:
  MPI_Datatype one_ = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> all_;
};

// What the program has given. A count for all blocks is the first of its list.
struct Given {
  const void* sendbuf;
  const int* sendcounts;
  const MPI_Aint* senddispls;
  Types sendtypes;
  void* recvbuf;
  const int* recvcounts;
  const MPI_Aint* recvdispls;
  Types recvtypes;
};

// The arguments of a side, as C has them.
#define ONE_BLOCK(side) e.side##buf, *e.side##counts, e.side##types.one()
#define V_FORM(side) e.side##buf, e.side##counts, e.side##displs, e.side##types.one()
#define W_FORM(side) e.side##buf, e.side##counts, e.side##displs, e.side##types.all()

// The three forms of an operation.
struct Row {
  bool types_per_sent, types_per_received;
  int (*once)(const Given& e, tonari_neighborhood near);
  int (*started)(const Given& e, tonari_neighborhood near, tonari_request* request);
  int (*persistent)(const Given& e, tonari_neighborhood near, MPI_Info info,
                    tonari_request* request);
};
#define ROW(name, sent, received, per_sent, per_received)                                 \
  {per_sent, per_received,                                                                \
   [](const Given& e, tonari_neighborhood near) {                                         \
     return tonari_##name(sent(send), received(recv), near);                              \
   },                                                                                     \
   [](const Given& e, tonari_neighborhood near, tonari_request* request) {                \
     return tonari_i##name(sent(send), received(recv), near, request);                    \
   },                                                                                     \
   [](const Given& e, tonari_neighborhood near, MPI_Info info, tonari_request* request) { \
     return tonari_##name##_init(sent(send), received(recv), near, info, request);        \
   }}
const Row rows[] = {ROW(alltoall, ONE_BLOCK, ONE_BLOCK, false, false),
                    ROW(alltoallv, V_FORM, V_FORM, false, false),
                    ROW(alltoallw, W_FORM, W_FORM, true, true),
                    ROW(allgather, ONE_BLOCK, ONE_BLOCK, false, false),
                    ROW(allgatherv, ONE_BLOCK, V_FORM, false, false),
                    ROW(allgatherw, ONE_BLOCK, W_FORM, false, true)};
#undef ROW

// In place: the symmetric exchanges read the sending side only.
struct InPlaceRow {
  bool types_per_rank;
  int (*once)(const Given& e, MPI_Comm comm, MPI_Info info);
  int (*started)(const Given& e, MPI_Comm comm, MPI_Info info, tonari_request* request);
  int (*persistent)(const Given& e, MPI_Comm comm, MPI_Info info, tonari_request* request);
};
#define GENERAL(side) \
  e.recvbuf, e.sendcounts, e.senddispls, e.recvcounts, e.recvdispls, e.sendtypes.one()
#define IN_PLACE_ONE(side) e.recvbuf, *e.sendcounts, e.sendtypes.one()
#define IN_PLACE_V(side) e.recvbuf, e.sendcounts, e.senddispls, e.sendtypes.one()
#define IN_PLACE_W(side) e.recvbuf, e.sendcounts, e.senddispls, e.sendtypes.all()
#define ROW(name, arguments, per_rank)                                         \
  {per_rank,                                                                   \
   [](const Given& e, MPI_Comm comm, MPI_Info info) {                          \
     return tonari_##name(arguments(), comm, info);                            \
   },                                                                          \
   [](const Given& e, MPI_Comm comm, MPI_Info info, tonari_request* request) { \
     return tonari_i##name(arguments(), comm, info, request);                  \
   },                                                                          \
   [](const Given& e, MPI_Comm comm, MPI_Info info, tonari_request* request) { \
     return tonari_##name##_init(arguments(), comm, info, request);            \
   }}
const InPlaceRow in_place_rows[] = {
    ROW(alltoall_inplace, IN_PLACE_ONE, false), ROW(alltoallv_inplace, IN_PLACE_V, false),
    ROW(alltoallw_inplace, IN_PLACE_W, true), ROW(alltoallv_inplace_general, GENERAL, false)};
#undef ROW

// Throws Errc::argument where the module and the library do not belong together.
template <class Rows>
const auto& row_of(const Rows& all, int operation) {
  if (operation < 0 || operation >= static_cast<int>(std::size(all)))
    fail(Errc::argument, "`operation` is ", operation, ", which this library does not know");
  return all[operation];
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace

extern "C" int tonari_fortran_exchange(int form, int operation, const void* sendbuf,
                                       const int sendcounts[], const MPI_Aint senddispls[],
                                       const int sendtypes[], void* recvbuf, const int recvcounts[],
                                       const MPI_Aint recvdispls[], const int recvtypes[],
                                       tonari_neighborhood near, int info,
                                       tonari_request* request) {
  return run([&] {
    const Row& row = row_of(rows, operation);
    int indegree = 0, outdegree = 0;
    if (near) tonari_neighborhood_degrees(near, &indegree, &outdegree);
    const Given e{
        sendbuf, sendcounts, senddispls, Types::read(sendtypes, row.types_per_sent, outdegree),
        recvbuf, recvcounts, recvdispls, Types::read(recvtypes, row.types_per_received, indegree)};
    return in_form(
        form, [&] { return row.once(e, near); }, [&] { return row.started(e, near, request); },
        [&] { return row.persistent(e, near, info_of(info), request); });
  });
}

extern "C" int tonari_fortran_exchange_inplace(int form, int operation, void* buf,
                                               const int sendcounts[], const MPI_Aint senddispls[],
                                               const int recvcounts[], const MPI_Aint recvdispls[],
                                               const int types[], int comm, int info,
                                               tonari_request* request) {
  return run([&] {
    const InPlaceRow& row = row_of(in_place_rows, operation);
    const MPI_Comm on = comm_of(comm);
    const MPI_Info keys = info_of(info);
    const Given e{
        nullptr,    sendcounts,
        senddispls, Types::read(types, row.types_per_rank, row.types_per_rank ? ranks_of(on) : 1),
        buf,        recvcounts,
        recvdispls, Types(nullptr)};
    return in_form(
        form, [&] { return row.once(e, on, keys); },
        [&] { return row.started(e, on, keys, request); },
        [&] { return row.persistent(e, on, keys, request); });
  });
}

extern "C" int tonari_fortran_sparse(int form, int sends, const int destinations[],
                                     const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                     int type, const void* sendbuf, int comm, int info,
                                     tonari_messages* messages, tonari_request* request) {
  if (form == TONARI_FORTRAN_STARTED)
    return tonari_sparse_ialltoallv(sends, destinations, sendcounts, senddispls, type_of(type),
                                    sendbuf, comm_of(comm), info_of(info), messages, request);
  return tonari_sparse_alltoallv(sends, destinations, sendcounts, senddispls, type_of(type),
                                 sendbuf, comm_of(comm), info_of(info), messages);
}
