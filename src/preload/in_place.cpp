// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw with MPI_IN_PLACE, which all ranks give or none.
// Other calls of these functions are the MPI's.
#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

namespace tonari::preload {
namespace {

int ranks(Handle comm) {
  int size = 0;
  (void)PMPI_Comm_size(handle_as<MPI_Comm>(comm), &size);
  return size;
}

// What is exchanged is described by the receive side; the send side means nothing, and goes to the
// MPI as it came. comm is here because there are no neighbors.

struct AlltoallInPlace {
  static constexpr Kind kind = Kind::in_place;
  static constexpr bool all_know = true;
  Alltoall given;
  Handle comm;

  template <class Function>
  int native(Function* function, Handle) const {
    return given.native(function, comm);
  }
  int exchange(const Communicator&) const {
    return tonari_alltoall_inplace(given.recvbuf, given.recvcount, type_of(given.recvtype),
                                   handle_as<MPI_Comm>(comm), MPI_INFO_NULL);
  }
  std::uint64_t bytes(const Communicator&) const {
    return bytes_of(given.recvcount, given.recvtype) * static_cast<std::uint64_t>(ranks(comm));
  }
};

struct AlltoallvInPlace {
  static constexpr Kind kind = Kind::in_place;
  static constexpr bool all_know = true;
  Alltoallv given;
  Handle comm;

  template <class Function>
  int native(Function* function, Handle) const {
    return given.native(function, comm);
  }
  int exchange(const Communicator&) const {
    return tonari_alltoallv_inplace(given.recvbuf, given.recvcounts,
                                    wide(given.rdispls, ranks(comm), 1), type_of(given.recvtype),
                                    handle_as<MPI_Comm>(comm), MPI_INFO_NULL);
  }
  std::uint64_t bytes(const Communicator&) const {
    return bytes_of(given.recvcounts, ranks(comm), given.recvtype);
  }
};

// Displacements are in bytes, but int.
struct AlltoallwInPlace {
  static constexpr Kind kind = Kind::in_place;
  static constexpr bool all_know = true;
  const void* sendbuf;
  const int *sendcounts, *sdispls;
  const void* sendtypes;
  void* recvbuf;
  const int *recvcounts, *rdispls;
  const void* recvtypes;
  Handle comm;

  const MPI_Datatype* types() const { return static_cast<const MPI_Datatype*>(recvtypes); }
  template <class Function>
  int native(Function* function, Handle) const {
    return function(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, comm);
  }
  int exchange(const Communicator&) const {
    return tonari_alltoallw_inplace(recvbuf, recvcounts, wide(rdispls, ranks(comm), 1), types(),
                                    handle_as<MPI_Comm>(comm), MPI_INFO_NULL);
  }
  std::uint64_t bytes(const Communicator&) const {
    return bytes_of(recvcounts, types(), ranks(comm));
  }
};

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

// The body of one function; ARGUMENTS are a braced list.
#define TONARI_IN_PLACE(NAME, OURS, KIND, NATIVE, ...)                    \
  {                                                                       \
    static auto* const real = behind<decltype(OURS)>("PMPI_" #NAME);      \
    if (sendbuf != MPI_IN_PLACE) return real NATIVE;                      \
    const KIND arguments{__VA_ARGS__};                                    \
    const Caller caller{"MPI_" #NAME, __builtin_return_address(0), comm}; \
    return BlockingCall(caller, real, arguments).run();                   \
  }                                                                       \
  TONARI_ALSO_FOR_FORTRAN(NAME, OURS)

TONARI_IN_FRONT_OF(Alltoall, alltoall, const void* sendbuf, int sendcount, Handle sendtype,
                   void* recvbuf, int recvcount, Handle recvtype, Handle comm)
int alltoall(const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf, int recvcount,
             Handle recvtype, Handle comm)
    TONARI_IN_PLACE(Alltoall, alltoall, AlltoallInPlace,
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                    {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm)

        TONARI_IN_FRONT_OF(Alltoallv, alltoallv, const void* sendbuf, const int sendcounts[],
                           const int sdispls[], Handle sendtype, void* recvbuf,
                           const int recvcounts[], const int rdispls[], Handle recvtype,
                           Handle comm) int alltoallv(const void* sendbuf, const int sendcounts[],
                                                      const int sdispls[], Handle sendtype,
                                                      void* recvbuf, const int recvcounts[],
                                                      const int rdispls[], Handle recvtype,
                                                      Handle comm)
            TONARI_IN_PLACE(Alltoallv, alltoallv, AlltoallvInPlace,
                            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype, comm),
                            {sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype},
                            comm)

                TONARI_IN_FRONT_OF(Alltoallw, alltoallw, const void* sendbuf,
                                   const int sendcounts[], const int sdispls[],
                                   const void* sendtypes, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], const void* recvtypes,
                                   Handle comm) int alltoallw(const void* sendbuf,
                                                              const int sendcounts[],
                                                              const int sdispls[],
                                                              const void* sendtypes, void* recvbuf,
                                                              const int recvcounts[],
                                                              const int rdispls[],
                                                              const void* recvtypes, Handle comm)
                    TONARI_IN_PLACE(Alltoallw, alltoallw, AlltoallwInPlace,
                                    (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                     rdispls, recvtypes, comm),
                                    sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm)
