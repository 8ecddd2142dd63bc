// SPDX-License-Identifier: BSD-3-Clause
// What a planner for graphs decides: over which ranks each block travels, and in which stage it
// takes each hop. Everything else (messages, slots, dependencies) follows and is shared: emit()
// makes the plan.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// A block, whoever holds it: number `block` of rank `origin`'s send buffer; in an allgather always
// 0.
struct BlockId {
  std::int32_t origin;
  std::uint32_t block;
  friend auto operator<=>(const BlockId&, const BlockId&) = default;
};

struct Hop {
  std::int32_t stage;  // >= 0; a block leaves a rank in a later stage than it arrived in
  std::int32_t peer;   // the other rank of this hop, never the rank itself
  BlockId block;
  friend auto operator<=>(const Hop&, const Hop&) = default;
};

// The hops that begin or end at one rank. All blocks that one rank sends to another in one stage
// travel in one message, and messages of one stage leave in the order in which `out` first names
// their peers. Each hop stands in the `out` of one rank and in the `in` of the other. Blocks for
// the rank itself and from MPI_PROC_NULL have no hops.
struct Relay {
  std::vector<Hop> out, in;
};

// Sorts by stage, and in each by peer in the staggered order.
void stagger(std::int32_t rank, std::vector<Hop>& hops);

// Keeps the first of equal hops, in order: edges that repeat ask for the same block of an
// allgather.
void remove_repeats(std::vector<Hop>& hops);

// ports: as in EmitOptions; stages count as rounds. Blocks that are passed on wait in scratch
// blocks of `foreign` size, or in the receive block if they are for this rank too. Throws
// Errc::internal if a block leaves that is not here, or does not arrive that should.
Plan emit(const Vertex& vertex, Collective collective, const Relay& relay, int ports = 0);

}  // namespace tonari
