// SPDX-License-Identifier: BSD-3-Clause
// MPI's neighborhood collectives: their arguments, and what these become: a call of the MPI or of
// tonari. The blocking, non-blocking and persistent forms begin with the same arguments. So do
// those with large counts (_c, MPI 4): there Count is MPI_Count, and displacements are MPI_Aint.
#pragma once

#include <tonari/tonari.h>

#include <cstdint>

#include "preload/communicator.hpp"
#include "preload/interpose.hpp"
#include "preload/wrong.hpp"

namespace tonari::preload {

inline MPI_Datatype type_of(Handle type) { return handle_as<MPI_Datatype>(type); }
inline const MPI_Datatype* types_of(const void* list) {
  return static_cast<const MPI_Datatype*>(list);
}

// Bytes of all blocks, whose type is one, or of which each has its own; 0 without the lists.
template <class Count>
std::uint64_t bytes_of(const Count counts[], MPI_Datatype type, int blocks) {
  std::uint64_t all = 0;
  for (int i = 0; counts && i < blocks; ++i) all += bytes_of(counts[i], type);
  return all;
}
template <class Count>
std::uint64_t bytes_of(const Count counts[], const MPI_Datatype types[], int blocks) {
  std::uint64_t all = 0;
  for (int i = 0; counts && types && i < blocks; ++i) all += bytes_of(counts[i], types[i]);
  return all;
}

// Displacements of v forms in MPI are int, and MPI_Aint here. The array is used again by the
// thread's next call with this number.
const MPI_Aint* wide(const int displacements[], int blocks, int number);
inline const MPI_Aint* wide(const MPI_Aint displacements[], int, int) { return displacements; }

// The forms of buffer arguments. `native` gives them to a function of the MPI, `ours` to one of
// tonari; `bytes` is what a rank sends, `wrong_sent` and `wrong_received` what the MPI finds wrong
// (wrong.hpp). Lists of types are those of this MPI's handles.

template <class Count, class /*Displacement*/>
struct Equal {
  const void* sendbuf;
  Count sendcount;
  Handle sendtype;
  void* recvbuf;
  Count recvcount;
  Handle recvtype;

  int native(auto* function, auto... more) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, more...);
  }
  int ours(auto* function, const Communicator& on, auto... more) const {
    return function(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                    on.near, more...);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcount, type_of(sendtype)) * static_cast<std::uint64_t>(on.targets);
  }
  int wrong_sent(int) const { return wrong_side(sendbuf, sendcount, type_of(sendtype)); }
  int wrong_received(int) const { return wrong_side(recvbuf, recvcount, type_of(recvtype)); }
};

template <class Count, class Displacement>
struct V {
  const void* sendbuf;
  const Count* sendcounts;
  const Displacement* sdispls;
  Handle sendtype;
  void* recvbuf;
  const Count* recvcounts;
  const Displacement* rdispls;
  Handle recvtype;

  int native(auto* function, auto... more) const {
    return function(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    more...);
  }
  int ours(auto* function, const Communicator& on, auto... more) const {
    return function(sendbuf, sendcounts, wide(sdispls, on.targets, 0), type_of(sendtype), recvbuf,
                    recvcounts, wide(rdispls, on.sources, 1), type_of(recvtype), on.near, more...);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcounts, type_of(sendtype), on.targets);
  }
  int wrong_sent(int blocks) const {
    return wrong_side(sendbuf, blocks, sendcounts, sdispls, type_of(sendtype));
  }
  int wrong_received(int blocks) const {
    return wrong_side(recvbuf, blocks, recvcounts, rdispls, type_of(recvtype));
  }
};

// Between neighbors displacements are MPI_Aint in both widths.
template <class Count, class Displacement>
struct W {
  const void* sendbuf;
  const Count* sendcounts;
  const Displacement* sdispls;
  const void* sendtypes;
  void* recvbuf;
  const Count* recvcounts;
  const Displacement* rdispls;
  const void* recvtypes;

  int native(auto* function, auto... more) const {
    return function(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, more...);
  }
  int ours(auto* function, const Communicator& on, auto... more) const {
    return function(sendbuf, sendcounts, sdispls, types_of(sendtypes), recvbuf, recvcounts, rdispls,
                    types_of(recvtypes), on.near, more...);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcounts, types_of(sendtypes), on.targets);
  }
  int wrong_sent(int blocks) const {
    return wrong_side(sendbuf, blocks, sendcounts, sdispls, types_of(sendtypes));
  }
  int wrong_received(int blocks) const {
    return wrong_side(recvbuf, blocks, recvcounts, rdispls, types_of(recvtypes));
  }
};

template <class Count, class Displacement>
struct GatherV {
  const void* sendbuf;
  Count sendcount;
  Handle sendtype;
  void* recvbuf;
  const Count* recvcounts;
  const Displacement* rdispls;
  Handle recvtype;

  int native(auto* function, auto... more) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, more...);
  }
  int ours(auto* function, const Communicator& on, auto... more) const {
    return function(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts,
                    wide(rdispls, on.sources, 1), type_of(recvtype), on.near, more...);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of(sendcount, type_of(sendtype)) * static_cast<std::uint64_t>(on.targets);
  }
  int wrong_sent(int) const { return wrong_side(sendbuf, sendcount, type_of(sendtype)); }
  int wrong_received(int blocks) const {
    return wrong_side(recvbuf, blocks, recvcounts, rdispls, type_of(recvtype));
  }
};

// One operation: its buffer arguments, and tonari's functions for it.
template <class Arguments, Kind kind_, auto blocking, auto nonblocking, auto persistent>
struct Operation : Arguments {
  static constexpr Kind kind = kind_;
  static constexpr bool all_know = false;
  int exchange(const Communicator& on) const { return this->ours(blocking, on); }
  int wrong(const Communicator& on) const {
    return first_wrong(this->wrong_sent(on.targets), this->wrong_received(on.sources));
  }
  int begin(const Communicator& on, tonari_request* request) const {
    return this->ours(nonblocking, on, request);
  }
  int init(const Communicator& on, MPI_Info info, tonari_request* request) const {
    return this->ours(persistent, on, info, request);
  }
};

}  // namespace tonari::preload

// The same forms as parameters, and as the arguments that they are.
#define TONARI_TAKES_Equal(Count, Displacement)                                          \
  const void *sendbuf, Count sendcount, Handle sendtype, void *recvbuf, Count recvcount, \
      Handle recvtype
#define TONARI_GIVES_Equal sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define TONARI_TAKES_V(Count, Displacement)                                                     \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], Handle sendtype, \
      void *recvbuf, const Count recvcounts[], const Displacement rdispls[], Handle recvtype
#define TONARI_GIVES_V \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define TONARI_TAKES_W(Count, Displacement)                                    \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], \
      const void *sendtypes, void *recvbuf, const Count recvcounts[],          \
      const Displacement rdispls[], const void *recvtypes
#define TONARI_GIVES_W \
  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define TONARI_TAKES_GatherV(Count, Displacement)                                                 \
  const void *sendbuf, Count sendcount, Handle sendtype, void *recvbuf, const Count recvcounts[], \
      const Displacement rdispls[], Handle recvtype
#define TONARI_GIVES_GatherV sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype

namespace tonari::preload {

using Alltoall = Operation<Equal<int, int>, Kind::alltoall, tonari_alltoall, tonari_ialltoall,
                           tonari_alltoall_init>;
using Alltoallv = Operation<V<int, int>, Kind::alltoall, tonari_alltoallv, tonari_ialltoallv,
                            tonari_alltoallv_init>;
using Alltoallw = Operation<W<int, MPI_Aint>, Kind::alltoall, tonari_alltoallw, tonari_ialltoallw,
                            tonari_alltoallw_init>;
using Allgather = Operation<Equal<int, int>, Kind::allgather, tonari_allgather, tonari_iallgather,
                            tonari_allgather_init>;
using Allgatherv = Operation<GatherV<int, int>, Kind::allgather, tonari_allgatherv,
                             tonari_iallgatherv, tonari_allgatherv_init>;

// With large counts.
using Alltoall_c = Operation<Equal<MPI_Count, MPI_Aint>, Kind::alltoall, tonari_alltoall_c,
                             tonari_ialltoall_c, tonari_alltoall_init_c>;
using Alltoallv_c = Operation<V<MPI_Count, MPI_Aint>, Kind::alltoall, tonari_alltoallv_c,
                              tonari_ialltoallv_c, tonari_alltoallv_init_c>;
using Alltoallw_c = Operation<W<MPI_Count, MPI_Aint>, Kind::alltoall, tonari_alltoallw_c,
                              tonari_ialltoallw_c, tonari_alltoallw_init_c>;
using Allgather_c = Operation<Equal<MPI_Count, MPI_Aint>, Kind::allgather, tonari_allgather_c,
                              tonari_iallgather_c, tonari_allgather_init_c>;
using Allgatherv_c = Operation<GatherV<MPI_Count, MPI_Aint>, Kind::allgather, tonari_allgatherv_c,
                               tonari_iallgatherv_c, tonari_allgatherv_init_c>;

}  // namespace tonari::preload
