// SPDX-License-Identifier: BSD-3-Clause
// balanced (balanced.hpp) over any number of stages: thinning, leveling and shortening on edges
// that each belong to a stage. Two stages have an implementation of their own (thinning.hpp,
// two_hops.hpp), which is several times as fast. Work is bounded, counted in edges that searches
// look at: so plans are the same on every rank.
//
// Where words are limited (options.words), they are spent with more care:
//
//   thinning   at prices that rise from half an average block to options.price, if it is
//              finite: cheap deletions first; and once more after leveling, with the edges that it
//              has opened
//   leveling   ends that have one message less than the busiest make room, and the busiest begin
//              again; then ranks with room send blocks directly, and leveling has the words that
//              this saves
#pragma once

#include <cstddef>
#include <span>

#include "planners/patterns/balance_options.hpp"
#include "planners/patterns/message_schedule.hpp"
#include "planners/patterns/staged_graph.hpp"

namespace tonari {

// Patterns of up to so many blocks begin with all of their edges in all stages, and have more work
// to end with. Above, that takes hundreds of milliseconds.
inline constexpr std::size_t most_blocks_at_once = 12'288;

// edges: where to start; throws Errc::internal if some block has no path over them.
MessageSchedule over_many_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                                 std::span<const StagedEdge> edges);

// From the messages of a schedule, whose blocks begin on the ways that it gives them; the stages
// are options.stages, or its own if it has more. It has at least one message, and each block a way
// that passes no rank twice. options.words is kept if it keeps that limit.
MessageSchedule over_many_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                                 const MessageSchedule& start);

}  // namespace tonari
