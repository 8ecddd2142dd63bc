// SPDX-License-Identifier: BSD-3-Clause
#include <span>

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
template <class Count>
struct Given {
  const void* sendbuf;
  const Count* sendcounts;
  const MPI_Aint* senddispls;
  Types sendtypes;
  void* recvbuf;
  const Count* recvcounts;
  const MPI_Aint* recvdispls;
  Types recvtypes;
};

// The arguments of a side, as C has them.
#define ONE_BLOCK(side) e.side##buf, *e.side##counts, e.side##types.one()
#define V_FORM(side) e.side##buf, e.side##counts, e.side##displs, e.side##types.one()
#define W_FORM(side) e.side##buf, e.side##counts, e.side##displs, e.side##types.all()

// The three forms of an operation.
template <class Count>
struct Row {
  using E = Given<Count>;
  bool types_per_sent, types_per_received;
  int (*completed)(const E& e, tonari_neighborhood near);
  int (*started)(const E& e, tonari_neighborhood near, tonari_request* request);
  int (*persistent)(const E& e, tonari_neighborhood near, MPI_Info info, tonari_request* request);
};
#define ROW(E, _c, name, sent, received, per_sent, per_received)                       \
  {per_sent, per_received,                                                             \
   [](const E& e, tonari_neighborhood near) {                                          \
     return tonari_##name##_c(sent(send), received(recv), near);                       \
   },                                                                                  \
   [](const E& e, tonari_neighborhood near, tonari_request* request) {                 \
     return tonari_i##name##_c(sent(send), received(recv), near, request);             \
   },                                                                                  \
   [](const E& e, tonari_neighborhood near, MPI_Info info, tonari_request* request) {  \
     return tonari_##name##_init##_c(sent(send), received(recv), near, info, request); \
   }}
// _c: behind the names of the functions that take such counts.
#define ROWS(Count, _c)                                                  \
  {ROW(Given<Count>, _c, alltoall, ONE_BLOCK, ONE_BLOCK, false, false),  \
   ROW(Given<Count>, _c, alltoallv, V_FORM, V_FORM, false, false),       \
   ROW(Given<Count>, _c, alltoallw, W_FORM, W_FORM, true, true),         \
   ROW(Given<Count>, _c, allgather, ONE_BLOCK, ONE_BLOCK, false, false), \
   ROW(Given<Count>, _c, allgatherv, ONE_BLOCK, V_FORM, false, false),   \
   ROW(Given<Count>, _c, allgatherw, ONE_BLOCK, W_FORM, false, true)}
const Row<int> rows[] = ROWS(int, );
const Row<MPI_Count> large_rows[] = ROWS(MPI_Count, _c);
#undef ROWS
#undef ROW

// In place: the symmetric exchanges read the sending side only.
template <class Count>
struct InPlaceRow {
  using E = Given<Count>;
  bool types_per_rank;
  int (*completed)(const E& e, MPI_Comm comm, MPI_Info info);
  int (*started)(const E& e, MPI_Comm comm, MPI_Info info, tonari_request* request);
  int (*persistent)(const E& e, MPI_Comm comm, MPI_Info info, tonari_request* request);
};
#define GENERAL(side) \
  e.recvbuf, e.sendcounts, e.senddispls, e.recvcounts, e.recvdispls, e.sendtypes.one()
#define IN_PLACE_ONE(side) e.recvbuf, *e.sendcounts, e.sendtypes.one()
#define IN_PLACE_V(side) e.recvbuf, e.sendcounts, e.senddispls, e.sendtypes.one()
#define IN_PLACE_W(side) e.recvbuf, e.sendcounts, e.senddispls, e.sendtypes.all()
#define ROW(E, _c, name, arguments, per_rank)                              \
  {per_rank,                                                               \
   [](const E& e, MPI_Comm comm, MPI_Info info) {                          \
     return tonari_##name##_c(arguments(), comm, info);                    \
   },                                                                      \
   [](const E& e, MPI_Comm comm, MPI_Info info, tonari_request* request) { \
     return tonari_i##name##_c(arguments(), comm, info, request);          \
   },                                                                      \
   [](const E& e, MPI_Comm comm, MPI_Info info, tonari_request* request) { \
     return tonari_##name##_init##_c(arguments(), comm, info, request);    \
   }}
#define ROWS(Count, _c)                                          \
  {ROW(Given<Count>, _c, alltoall_inplace, IN_PLACE_ONE, false), \
   ROW(Given<Count>, _c, alltoallv_inplace, IN_PLACE_V, false),  \
   ROW(Given<Count>, _c, alltoallw_inplace, IN_PLACE_W, true),   \
   ROW(Given<Count>, _c, alltoallv_inplace_general, GENERAL, false)}
const InPlaceRow<int> in_place_rows[] = ROWS(int, );
const InPlaceRow<MPI_Count> large_in_place_rows[] = ROWS(MPI_Count, _c);
#undef ROWS
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

template <class Count>
int exchange(std::span<const Row<Count>> all, int form, int operation, const Given<Count>& given,
             const int sendtypes[], const int recvtypes[], tonari_neighborhood near, int info,
             tonari_request* request) {
  return run([&] {
    const Row<Count>& row = row_of(all, operation);
    int indegree = 0, outdegree = 0;
    if (near) tonari_neighborhood_degrees(near, &indegree, &outdegree);
    Given<Count> e = given;
    e.sendtypes = Types::read(sendtypes, row.types_per_sent, outdegree);
    e.recvtypes = Types::read(recvtypes, row.types_per_received, indegree);
    return in_form(
        form, [&] { return row.completed(e, near); }, [&] { return row.started(e, near, request); },
        [&] { return row.persistent(e, near, info_of(info), request); });
  });
}

template <class Count>
int exchange_inplace(std::span<const InPlaceRow<Count>> all, int form, int operation,
                     const Given<Count>& given, const int types[], int comm, int info,
                     tonari_request* request) {
  return run([&] {
    const InPlaceRow<Count>& row = row_of(all, operation);
    const MPI_Comm on = comm_of(comm);
    const MPI_Info keys = info_of(info);
    Given<Count> e = given;
    e.sendtypes = Types::read(types, row.types_per_rank, row.types_per_rank ? ranks_of(on) : 1);
    return in_form(
        form, [&] { return row.completed(e, on, keys); },
        [&] { return row.started(e, on, keys, request); },
        [&] { return row.persistent(e, on, keys, request); });
  });
}

}  // namespace

extern "C" int tonari_fortran_exchange(int form, int operation, const void* sendbuf,
                                       const int sendcounts[], const MPI_Aint senddispls[],
                                       const int sendtypes[], void* recvbuf, const int recvcounts[],
                                       const MPI_Aint recvdispls[], const int recvtypes[],
                                       tonari_neighborhood near, int info,
                                       tonari_request* request) {
  return exchange<int>(rows, form, operation,
                       {sendbuf, sendcounts, senddispls, Types(nullptr), recvbuf, recvcounts,
                        recvdispls, Types(nullptr)},
                       sendtypes, recvtypes, near, info, request);
}

extern "C" int tonari_fortran_exchange_c(int form, int operation, const void* sendbuf,
                                         const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         const int sendtypes[], void* recvbuf,
                                         const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                         const int recvtypes[], tonari_neighborhood near, int info,
                                         tonari_request* request) {
  return exchange<MPI_Count>(large_rows, form, operation,
                             {sendbuf, sendcounts, senddispls, Types(nullptr), recvbuf, recvcounts,
                              recvdispls, Types(nullptr)},
                             sendtypes, recvtypes, near, info, request);
}

extern "C" int tonari_fortran_exchange_inplace(int form, int operation, void* buf,
                                               const int sendcounts[], const MPI_Aint senddispls[],
                                               const int recvcounts[], const MPI_Aint recvdispls[],
                                               const int types[], int comm, int info,
                                               tonari_request* request) {
  return exchange_inplace<int>(in_place_rows, form, operation,
                               {nullptr, sendcounts, senddispls, Types(nullptr), buf, recvcounts,
                                recvdispls, Types(nullptr)},
                               types, comm, info, request);
}

extern "C" int tonari_fortran_exchange_inplace_c(int form, int operation, void* buf,
                                                 const MPI_Count sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const MPI_Count recvcounts[],
                                                 const MPI_Aint recvdispls[], const int types[],
                                                 int comm, int info, tonari_request* request) {
  return exchange_inplace<MPI_Count>(large_in_place_rows, form, operation,
                                     {nullptr, sendcounts, senddispls, Types(nullptr), buf,
                                      recvcounts, recvdispls, Types(nullptr)},
                                     types, comm, info, request);
}

extern "C" int tonari_fortran_sparse(int form, int sends, const int destinations[],
                                     const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                     int type, const void* sendbuf, int comm, int info,
                                     tonari_messages* messages, tonari_request* request) {
  const MPI_Comm on = comm_of(comm);
  if (form == TONARI_FORTRAN_STARTED)
    return tonari_sparse_ialltoallv(sends, destinations, sendcounts, senddispls, type_of(type),
                                    sendbuf, on, info_of(info), messages, request);
  return tonari_sparse_alltoallv(sends, destinations, sendcounts, senddispls, type_of(type),
                                 sendbuf, on, info_of(info), messages);
}
