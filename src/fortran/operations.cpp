// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>
#include <type_traits>

#include "fortran/form.hpp"
#include "fortran/handles.hpp"

using namespace tonari;

namespace {

// One for all blocks, or one for each; a call with one allocates nothing.
class Types {
 public:
  explicit Types(const int given[]) : one_(given ? type_of(*given) : MPI_DATATYPE_NULL) {}
  Types(const int given[], int count) : all_(types_of(given, count)) {}
  MPI_Datatype one() const { return one_; }
  const MPI_Datatype* all() const { return all_.data(); }

 private:
  MPI_Datatype one_ = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> all_;
};

// What the program has given for one side. A count for all blocks is the first of its list.
template <class Buffer, class Count>
struct Side {
  Buffer* buf;
  const Count* counts;
  const MPI_Aint* displs;
  const int* numbers;  // of its types
  Types types = Types(nullptr);

  void read_types(bool are_list, int count) {
    types = are_list ? Types(numbers, count) : Types(numbers);
  }
};
template <class Count>
struct Given {
  Side<const void, Count> send;
  Side<void, Count> recv;
};
// In place: the symmetric exchanges read the sending side only.
template <class Count>
struct GivenInPlace : Side<void, Count> {
  const Count* recvcounts;
  const MPI_Aint* recvdispls;
};

// The arguments of a side, as C has them.
constexpr auto as_one = [](auto& e) { return std::tuple(e.buf, *e.counts, e.types.one()); };
constexpr auto as_v = [](auto& e) { return std::tuple(e.buf, e.counts, e.displs, e.types.one()); };
constexpr auto as_w = [](auto& e) { return std::tuple(e.buf, e.counts, e.displs, e.types.all()); };
constexpr auto as_general = [](auto& e) {
  return std::tuple(e.buf, e.counts, e.displs, e.recvcounts, e.recvdispls, e.types.one());
};
template <auto form>
constexpr bool lists_types =
    std::is_same_v<std::remove_cv_t<decltype(form)>, std::remove_cv_t<decltype(as_w)>>;
static_assert(lists_types<as_w> && !lists_types<as_v>);

// One of the forms of an operation. Persistent ones take keys before the request, and those in
// place have them among `on`.
template <auto once, auto started, auto persistent>
int run_form(int form, const auto& sides, const auto& on, const auto& keys,
             tonari_request* request) {
  const auto call = [&](auto* function, const auto&... more) {
    return std::apply(function, std::tuple_cat(sides, on, more...));
  };
  return in_form(
      form, [&] { return call(once); }, [&] { return call(started, std::tuple(request)); },
      [&] { return call(persistent, keys(), std::tuple(request)); });
}

template <auto sent, auto received, auto... forms>
constexpr auto row =
    [](int form, auto& given, tonari_neighborhood near, int info, tonari_request* request) {
      int indegree = 0, outdegree = 0;
      if (near) tonari_neighborhood_degrees(near, &indegree, &outdegree);
      given.send.read_types(lists_types<sent>, outdegree);
      given.recv.read_types(lists_types<received>, indegree);
      return run_form<forms...>(
          form, std::tuple_cat(sent(given.send), received(given.recv)), std::tuple(near),
          [&] { return std::tuple(info_of(info)); }, request);
    };
template <class Count>
using Row = int (*)(int, Given<Count>&, tonari_neighborhood, int, tonari_request*);
constexpr Row<int> rows[] = {
    row<as_one, as_one, tonari_alltoall, tonari_ialltoall, tonari_alltoall_init>,
    row<as_v, as_v, tonari_alltoallv, tonari_ialltoallv, tonari_alltoallv_init>,
    row<as_w, as_w, tonari_alltoallw, tonari_ialltoallw, tonari_alltoallw_init>,
    row<as_one, as_one, tonari_allgather, tonari_iallgather, tonari_allgather_init>,
    row<as_one, as_v, tonari_allgatherv, tonari_iallgatherv, tonari_allgatherv_init>,
    row<as_one, as_w, tonari_allgatherw, tonari_iallgatherw, tonari_allgatherw_init>};
constexpr Row<MPI_Count> large_rows[] = {
    row<as_one, as_one, tonari_alltoall_c, tonari_ialltoall_c, tonari_alltoall_init_c>,
    row<as_v, as_v, tonari_alltoallv_c, tonari_ialltoallv_c, tonari_alltoallv_init_c>,
    row<as_w, as_w, tonari_alltoallw_c, tonari_ialltoallw_c, tonari_alltoallw_init_c>,
    row<as_one, as_one, tonari_allgather_c, tonari_iallgather_c, tonari_allgather_init_c>,
    row<as_one, as_v, tonari_allgatherv_c, tonari_iallgatherv_c, tonari_allgatherv_init_c>,
    row<as_one, as_w, tonari_allgatherw_c, tonari_iallgatherw_c, tonari_allgatherw_init_c>};

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &ranks);
  return ranks;
}

template <auto sides, auto... forms>
constexpr auto in_place_row = [](int form, auto& given, MPI_Comm comm, int info,
                                 tonari_request* request) {
  int ranks = 1;
  if (lists_types<sides>) ranks = ranks_of(comm);
  given.read_types(lists_types<sides>, ranks);
  return run_form<forms...>(
      form, sides(given), std::tuple(comm, info_of(info)), [] { return std::tuple(); }, request);
};
template <class Count>
using InPlaceRow = int (*)(int, GivenInPlace<Count>&, MPI_Comm, int, tonari_request*);
constexpr InPlaceRow<int> in_place_rows[] = {
    in_place_row<as_one, tonari_alltoall_inplace, tonari_ialltoall_inplace,
                 tonari_alltoall_inplace_init>,
    in_place_row<as_v, tonari_alltoallv_inplace, tonari_ialltoallv_inplace,
                 tonari_alltoallv_inplace_init>,
    in_place_row<as_w, tonari_alltoallw_inplace, tonari_ialltoallw_inplace,
                 tonari_alltoallw_inplace_init>,
    in_place_row<as_general, tonari_alltoallv_inplace_general, tonari_ialltoallv_inplace_general,
                 tonari_alltoallv_inplace_general_init>};
constexpr InPlaceRow<MPI_Count> large_in_place_rows[] = {
    in_place_row<as_one, tonari_alltoall_inplace_c, tonari_ialltoall_inplace_c,
                 tonari_alltoall_inplace_init_c>,
    in_place_row<as_v, tonari_alltoallv_inplace_c, tonari_ialltoallv_inplace_c,
                 tonari_alltoallv_inplace_init_c>,
    in_place_row<as_w, tonari_alltoallw_inplace_c, tonari_ialltoallw_inplace_c,
                 tonari_alltoallw_inplace_init_c>,
    in_place_row<as_general, tonari_alltoallv_inplace_general_c,
                 tonari_ialltoallv_inplace_general_c, tonari_alltoallv_inplace_general_init_c>};

// Throws Errc::argument where the module and the library do not belong together.
template <class Rows>
const auto& row_of(const Rows& all, int operation) {
  if (operation < 0 || operation >= static_cast<int>(std::size(all)))
    fail(Errc::argument, "`operation` is ", operation, ", which this library does not know");
  return all[operation];
}

}  // namespace

extern "C" int tonari_fortran_exchange(int form, int operation, const void* sendbuf,
                                       const int sendcounts[], const MPI_Aint senddispls[],
                                       const int sendtypes[], void* recvbuf, const int recvcounts[],
                                       const MPI_Aint recvdispls[], const int recvtypes[],
                                       tonari_neighborhood near, int info,
                                       tonari_request* request) {
  return run([&] {
    Given<int> given{{sendbuf, sendcounts, senddispls, sendtypes},
                     {recvbuf, recvcounts, recvdispls, recvtypes}};
    return row_of(rows, operation)(form, given, near, info, request);
  });
}

extern "C" int tonari_fortran_exchange_c(int form, int operation, const void* sendbuf,
                                         const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         const int sendtypes[], void* recvbuf,
                                         const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                         const int recvtypes[], tonari_neighborhood near, int info,
                                         tonari_request* request) {
  return run([&] {
    Given<MPI_Count> given{{sendbuf, sendcounts, senddispls, sendtypes},
                           {recvbuf, recvcounts, recvdispls, recvtypes}};
    return row_of(large_rows, operation)(form, given, near, info, request);
  });
}

extern "C" int tonari_fortran_exchange_inplace(int form, int operation, void* buf,
                                               const int sendcounts[], const MPI_Aint senddispls[],
                                               const int recvcounts[], const MPI_Aint recvdispls[],
                                               const int types[], int comm, int info,
                                               tonari_request* request) {
  return run([&] {
    GivenInPlace<int> given{{buf, sendcounts, senddispls, types}, recvcounts, recvdispls};
    return row_of(in_place_rows, operation)(form, given, comm_of(comm), info, request);
  });
}

extern "C" int tonari_fortran_exchange_inplace_c(int form, int operation, void* buf,
                                                 const MPI_Count sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const MPI_Count recvcounts[],
                                                 const MPI_Aint recvdispls[], const int types[],
                                                 int comm, int info, tonari_request* request) {
  return run([&] {
    GivenInPlace<MPI_Count> given{{buf, sendcounts, senddispls, types}, recvcounts, recvdispls};
    return row_of(large_in_place_rows, operation)(form, given, comm_of(comm), info, request);
  });
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
