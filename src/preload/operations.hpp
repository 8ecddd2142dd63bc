// SPDX-License-Identifier: BSD-3-Clause
// The arguments of MPI's neighborhood collectives, and what they become: a call of the MPI or of
// tonari. The blocking, non-blocking and persistent forms begin with the same arguments.
#pragma once

#include <tonari/tonari.h>

#include <array>
#include <cstdint>
#include <vector>

#include "preload/communicator.hpp"
#include "preload/interpose.hpp"

namespace tonari::preload {

inline MPI_Datatype type_of(Handle type) { return handle_as<MPI_Datatype>(type); }

// Bytes of so many elements; 0 where the MPI refuses the type.
std::uint64_t bytes_of(int count, Handle type);
std::uint64_t bytes_of(const int counts[], int blocks, Handle type);
std::uint64_t bytes_of(const int counts[], const MPI_Datatype types[], int blocks);

// Displacements of v forms in MPI are int, and MPI_Aint here. The array is used again by the
// thread's next call with this number.
const MPI_Aint* wide(const int displacements[], int blocks, int number);

struct Alltoall {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  int sendcount;
  Handle sendtype;
  void* recvbuf;
  int recvcount;
  Handle recvtype;

  template <class Function, class... More>
  int native(Function* function, More... more) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, more...);
  }
  int exchange(const Communicator& on) const {
    return tonari_alltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                           type_of(recvtype), on.near);
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return tonari_ialltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                            type_of(recvtype), on.near, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return tonari_alltoall_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                                type_of(recvtype), on.near, info, request);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcount, sendtype) * static_cast<std::uint64_t>(on.targets);
  }
};

struct Alltoallv {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  const int *sendcounts, *sdispls;
  Handle sendtype;
  void* recvbuf;
  const int *recvcounts, *rdispls;
  Handle recvtype;

  template <class Function, class... More>
  int native(Function* function, More... more) const {
    return function(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    more...);
  }
  int exchange(const Communicator& on) const {
    return tonari_alltoallv(sendbuf, sendcounts, wide(sdispls, on.targets, 0), type_of(sendtype),
                            recvbuf, recvcounts, wide(rdispls, on.sources, 1), type_of(recvtype),
                            on.near);
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return tonari_ialltoallv(sendbuf, sendcounts, wide(sdispls, on.targets, 0), type_of(sendtype),
                             recvbuf, recvcounts, wide(rdispls, on.sources, 1), type_of(recvtype),
                             on.near, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return tonari_alltoallv_init(
        sendbuf, sendcounts, wide(sdispls, on.targets, 0), type_of(sendtype), recvbuf, recvcounts,
        wide(rdispls, on.sources, 1), type_of(recvtype), on.near, info, request);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcounts, on.targets, sendtype);
  }
};

struct Alltoallw {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  const int* sendcounts;
  const MPI_Aint* sdispls;
  const void* sendtypes;  // of this MPI's handles
  void* recvbuf;
  const int* recvcounts;
  const MPI_Aint* rdispls;
  const void* recvtypes;

  template <class Function, class... More>
  int native(Function* function, More... more) const {
    return function(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, more...);
  }
  int exchange(const Communicator& on) const {
    return tonari_alltoallw(sendbuf, sendcounts, sdispls,
                            static_cast<const MPI_Datatype*>(sendtypes), recvbuf, recvcounts,
                            rdispls, static_cast<const MPI_Datatype*>(recvtypes), on.near);
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return tonari_ialltoallw(
        sendbuf, sendcounts, sdispls, static_cast<const MPI_Datatype*>(sendtypes), recvbuf,
        recvcounts, rdispls, static_cast<const MPI_Datatype*>(recvtypes), on.near, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return tonari_alltoallw_init(
        sendbuf, sendcounts, sdispls, static_cast<const MPI_Datatype*>(sendtypes), recvbuf,
        recvcounts, rdispls, static_cast<const MPI_Datatype*>(recvtypes), on.near, info, request);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcounts, static_cast<const MPI_Datatype*>(sendtypes), on.targets);
  }
};

struct Allgather {
  static constexpr Kind kind = Kind::allgather;
  static constexpr bool all_know = false;
  const void* sendbuf;
  int sendcount;
  Handle sendtype;
  void* recvbuf;
  int recvcount;
  Handle recvtype;

  template <class Function, class... More>
  int native(Function* function, More... more) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, more...);
  }
  int exchange(const Communicator& on) const {
    return tonari_allgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                            type_of(recvtype), on.near);
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return tonari_iallgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                             type_of(recvtype), on.near, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return tonari_allgather_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                                 type_of(recvtype), on.near, info, request);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcount, sendtype) * static_cast<std::uint64_t>(on.targets);
  }
};

struct Allgatherv {
  static constexpr Kind kind = Kind::allgather;
  static constexpr bool all_know = false;
  const void* sendbuf;
  int sendcount;
  Handle sendtype;
  void* recvbuf;
  const int *recvcounts, *displs;
  Handle recvtype;

  template <class Function, class... More>
  int native(Function* function, More... more) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, more...);
  }
  int exchange(const Communicator& on) const {
    return tonari_allgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts,
                             wide(displs, on.sources, 1), type_of(recvtype), on.near);
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return tonari_iallgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts,
                              wide(displs, on.sources, 1), type_of(recvtype), on.near, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return tonari_allgatherv_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts,
                                  wide(displs, on.sources, 1), type_of(recvtype), on.near, info,
                                  request);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcount, sendtype) * static_cast<std::uint64_t>(on.targets);
  }
};

}  // namespace tonari::preload
