// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls that combine blocks of several ranks into messages (ADR 50): which messages a rank
// exchanges with its neighbors, and where their bytes lie in the buffers of a call.
#pragma once

#include <memory>
#include <vector>

#include "one_shot/direct_messages.hpp"
#include "plan/plan.hpp"

namespace tonari {

// A plan whose messages go by the streams of a neighborhood: all of them along its edges. Their
// places are free from the beginning, so that no message has to wait in a stream.
struct HopPlan {
  HopPlan(Plan of_rank, Collective operation, const Streams& streams);

  struct Peer {
    std::uint32_t sent = 0;      // messages to it
    std::vector<OpId> received;  // those from it
  };
  Plan plan;
  Collective collective;
  std::vector<Peer> peers;               // by the streams' numbers of neighbors
  std::vector<std::uint32_t> stream_of;  // by operation; of copies it means nothing
  std::vector<OpId> arriving;            // receives, by their tags: that is the order of rounds
  int messages = 0;
};

// All but the addresses of the buffers of calls with blocks of one size, the same on all ranks.
struct HopMessages {
  struct Part {
    SpaceId space;  // fixed_space: scratch memory
    Layout layout;  // relative to the space
  };
  struct Copy {
    Move move;  // between buffers that begin at 0
    SpaceId from, to;
  };
  HopMessages(std::shared_ptr<const HopPlan> of, Bytes block_bytes, const Arguments& arguments);

  std::shared_ptr<const HopPlan> plan;
  Bytes block;
  std::vector<std::vector<Part>> parts;  // of a message, by operation
  std::vector<std::vector<Copy>> copies;
  std::vector<Bytes> lengths;  // of a message
  Bytes bytes = 0;             // sent
  std::size_t scratch = 0;
};

}  // namespace tonari
