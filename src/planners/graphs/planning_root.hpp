// SPDX-License-Identifier: BSD-3-Clause
// Planners that see the whole pattern (src/planners/patterns), for patterns that fit one rank's
// memory: this rank, the root, gets by message what everybody has to send, plans, and tells every
// rank its hops. Where several plan, each has a root of its own, so that they plan at the same
// time.
//
// Larger patterns are left to planners that no rank needs to know the whole pattern for.
#pragma once

#include <functional>
#include <string>

#include "planners/graphs/graph_planner.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// A root's memory and time are bounded by these, whatever the number of ranks. Who names a plan may
// wait for it: of 2^20 blocks it takes seconds, up to half a minute.
constexpr std::int64_t most_root_blocks = 1 << 17, most_named_blocks = 1 << 20,
                       most_root_ranks = 1 << 14;
enum class Asked : std::uint8_t { along_with_others, by_name };
bool fits_a_root(const GraphFacts& facts, Asked asked = Asked::along_with_others);

struct RootPlanner {
  std::string variant;
  // Words are bytes where the sizes of blocks are known (GraphFacts::sized), else blocks.
  std::function<MessageSchedule(const CommunicationMatrix&)> plan;
};

// The words of such a matrix that so many bytes are.
double root_words(double bytes, const GraphFacts& facts, const GraphTask& task);

// Empty if the pattern fits what is asked for by name, else the reason why not.
std::string too_large_for_a_root(const GraphFacts& facts);

// The relays of the ranks here, per planner. Throws on all ranks if a root fails: Errc::memory, or
// Errc::internal. Collective.
std::vector<std::vector<Relay>> plan_at_roots(BspComm& bsp, std::span<const Vertex> vertices,
                                              const GraphFacts& facts, const GraphTask& task,
                                              std::span<const RootPlanner> planners);

}  // namespace tonari
