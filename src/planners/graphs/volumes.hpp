// SPDX-License-Identifier: BSD-3-Clause
// How many bytes ranks move where the blocks of a graph differ in size and ranks know the sizes of
// those that they send (Vertex::bytes). Whoever passes a block on learns its size with it.
#pragma once

#include <span>

#include "planners/graphs/bsp_comm.hpp"
#include "planners/graphs/relay.hpp"

namespace tonari {

// In bytes, of all ranks.
struct Volumes {
  std::int64_t most_out = 0, most_in = 0;  // of the rank that sends, receives most
  std::int64_t total = 0;                  // sent by all
};

// The sizes of the blocks that a vertex itself sends; an allgather has one. It refers to the
// vertex.
class OwnBytes {
 public:
  OwnBytes(const Vertex& vertex, Collective collective);
  std::uint64_t operator()(std::uint32_t block) const {
    return alltoall_ ? (block < vertex_->bytes.size() ? vertex_->bytes[block] : 0) : all_;
  }

 private:
  const Vertex* vertex_;
  bool alltoall_;
  std::uint64_t all_ = 0;  // of an allgather's block
};

// Collective, an exchange per stage.
Volumes gather_volumes(BspComm& bsp, std::span<const Vertex> vertices, Collective collective,
                       std::span<const Relay> relays);

}  // namespace tonari
