// SPDX-License-Identifier: BSD-3-Clause
// One call of the six operations as one value: made once, where the program calls, and passed down
// from there. Requests, one-shot calls, groups, iso.h, and what grids, blocks and vectors exchange
// inside are such calls.
#pragma once

#include <tonari/tonari.h>

#include "base/numbers.hpp"
#include "channels/arguments.hpp"
#include "engine/comm/local_topology.hpp"

namespace tonari {

// One side of a call. Members that its form does not have stay empty. Counts are int, or MPI_Count
// in the forms with _c (docs/adr/0034-large-counts.md).
struct BufferArguments {
  Form form = Form::regular;
  const void* buffer = nullptr;
  MPI_Count count = 0;                      // regular
  MPI_Datatype type = MPI_DATATYPE_NULL;    // regular and v
  Numbers counts = {};                      // v and w
  const MPI_Aint* displacements = nullptr;  // v: in extents of the type, w: in bytes
  const MPI_Datatype* types = nullptr;      // w
  const SpaceId* spaces = nullptr;          // of blocks; null: all lie in the side's buffer
};
inline BufferArguments regular(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {Form::regular, buffer, count, type};
}
inline BufferArguments v_form(const void* buffer, Numbers counts, const MPI_Aint displacements[],
                              MPI_Datatype type) {
  return {Form::v, buffer, 0, type, counts, displacements};
}
inline BufferArguments w_form(const void* buffer, Numbers counts, const MPI_Aint displacements[],
                              const MPI_Datatype types[]) {
  return {Form::w, buffer, 0, MPI_DATATYPE_NULL, counts, displacements, types};
}

inline constexpr std::size_t operations = 6;

// Owns nothing: it is over before the program's call returns. What outlives it is read
// (neighborhood/read_call.hpp) or remembered (BoundCall, OneShotCall, CachedCall); these say
// whether a later call is the same.
struct Call {
  Collective collective;
  BufferArguments send, recv;
  tonari_neighborhood near = nullptr;
  MPI_Info info = MPI_INFO_NULL;  // settings for a request of its own
  // Of calls inside of the library: who makes it knows that blocks on a device are staged.
  bool may_stage = false;

  Form form() const { return recv.form; }  // an allgather has one block to send, in all forms
  std::size_t operation() const {
    return 3 * static_cast<std::size_t>(collective) + static_cast<std::size_t>(form());
  }
  const char* name() const {
    static constexpr const char* names[operations] = {"alltoall",  "alltoallv",  "alltoallw",
                                                      "allgather", "allgatherv", "allgatherw"};
    return names[operation()];
  }
  std::size_t blocks_sent(const LocalTopology& topology) const {
    return collective == Collective::allgather ? 1 : as_given(topology).targets.size();
  }
  std::size_t blocks_received(const LocalTopology& topology) const {
    return as_given(topology).sources.size();
  }

  // Reads it in normal form, with blocks in the order of topology.vertex. Throws Errc::argument,
  // Errc::overflow or Errc::mpi.
  Arguments read(const LocalTopology& topology) const;
};

// Reads `blocks` blocks of one side. `prefix` begins the names of its arguments: "send", "recv" or
// "". Throws like Call::read.
std::vector<TypedBlock> typed_blocks(const char* prefix, std::size_t blocks,
                                     const BufferArguments& given);

}  // namespace tonari
