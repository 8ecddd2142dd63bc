// SPDX-License-Identifier: BSD-3-Clause
// The exchange that a choice is made for, as far as all ranks know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "plan/variant.hpp"
#include "select/planner_registry.hpp"
#include "select/price.hpp"

namespace tonari {

// Bytes of the longest blocks that the fixed rule combines.
inline constexpr Bytes small_block = 1024;

struct Channel;  // select/channel.hpp; a problem only lists them
using Channels = std::span<const Channel* const>;

struct Problem {
  PlannerRegistry& planners;
  std::uint64_t fingerprint;  // of the neighborhood
  std::size_t neighbors;      // blocks that the busiest rank sends or receives
  Collective collective;
  Sizes sizes;
  bool contiguous = true;      // all blocks are
  bool shares_memory = false;  // some edge leads to a rank of the same node
  bool reads_memory = false;   // there the system lets processes read each other's
  bool several_nodes = false;
  Channels channels = {};  // that there are
  // Collective: makes each of these the largest that a rank has. There where sizes.edges are.
  std::function<void(std::span<double>)> heaviest = {};
  // Collective at its first call: a number for each rank, equal for those of one node. Asked where
  // there are several nodes.
  std::function<std::span<const std::int32_t>()> node_of = {};
};

}  // namespace tonari
