// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw with MPI_IN_PLACE, which all ranks give or none.
// Other calls of these functions are the MPI's.
#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

namespace tonari::preload {
namespace {

int ranks(MPI_Comm comm) {
  int size = 0;
  (void)PMPI_Comm_size(comm, &size);
  return size;
}

// What is exchanged is described by the receive side; the send side means nothing, and goes to the
// MPI as it came.

template <class C, class D>
int exchange(auto* function, const Equal<C, D>& given, MPI_Comm comm) {
  return function(given.recvbuf, given.recvcount, type_of(given.recvtype), comm, MPI_INFO_NULL);
}
template <class C, class D>
int exchange(auto* function, const V<C, D>& given, MPI_Comm comm) {
  return function(given.recvbuf, given.recvcounts, wide(given.rdispls, ranks(comm), 1),
                  type_of(given.recvtype), comm, MPI_INFO_NULL);
}
template <class C, class D>
int exchange(auto* function, const W<C, D>& given, MPI_Comm comm) {
  return function(given.recvbuf, given.recvcounts, wide(given.rdispls, ranks(comm), 1),
                  types_of(given.recvtypes), comm, MPI_INFO_NULL);
}

template <class C, class D>
std::uint64_t bytes(const Equal<C, D>& given, int ranks) {
  return bytes_of(given.recvcount, type_of(given.recvtype)) * static_cast<std::uint64_t>(ranks);
}
template <class C, class D>
std::uint64_t bytes(const V<C, D>& given, int ranks) {
  return bytes_of(given.recvcounts, type_of(given.recvtype), ranks);
}
template <class C, class D>
std::uint64_t bytes(const W<C, D>& given, int ranks) {
  return bytes_of(given.recvcounts, types_of(given.recvtypes), ranks);
}

// function: tonari's. The communicator is a part because there are no neighbors.
template <class Arguments, auto function>
struct InPlace {
  static constexpr Kind kind = Kind::in_place;
  static constexpr bool all_know = true;
  Arguments given;
  MPI_Comm comm;

  int native(auto* real, Handle handle) const { return given.native(real, handle); }
  int exchange(const Communicator&) const { return preload::exchange(function, given, comm); }
  std::uint64_t bytes(const Communicator&) const { return preload::bytes(given, ranks(comm)); }
  int wrong(const Communicator&) const { return given.wrong_received(ranks(comm)); }
};

template <auto function, class Arguments>
int call_in_place(const auto& called, const Arguments& given, Handle comm) {
  if (given.sendbuf != MPI_IN_PLACE) return given.native(called.real, comm);
  return call_blocking(called, comm,
                       InPlace<Arguments, function>{given, handle_as<MPI_Comm>(comm)});
}

}  // namespace

// As TONARI_BLOCKING (blocking.cpp). function: tonari's.
#define TONARI_IN_PLACE(name, function, form, Count, Displacement)   \
  TONARI_IN_FRONT_OF(                                                \
      name, (TONARI_TAKES_##form(Count, Displacement), Handle comm), \
      call_in_place<function>(called, form<Count, Displacement>{TONARI_GIVES_##form}, comm))

TONARI_IN_PLACE(MPI_Alltoall, tonari_alltoall_inplace, Equal, int, int);
TONARI_IN_PLACE(MPI_Alltoallv, tonari_alltoallv_inplace, V, int, int);
TONARI_IN_PLACE(MPI_Alltoallw, tonari_alltoallw_inplace, W, int, int);
#if MPI_VERSION >= 4
TONARI_IN_PLACE(MPI_Alltoall_c, tonari_alltoall_inplace_c, Equal, MPI_Count, MPI_Aint);
TONARI_IN_PLACE(MPI_Alltoallv_c, tonari_alltoallv_inplace_c, V, MPI_Count, MPI_Aint);
TONARI_IN_PLACE(MPI_Alltoallw_c, tonari_alltoallw_inplace_c, W, MPI_Count, MPI_Aint);
#endif

}  // namespace tonari::preload
