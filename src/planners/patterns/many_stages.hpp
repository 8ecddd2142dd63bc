// SPDX-License-Identifier: BSD-3-Clause
// balanced (balanced.hpp) over any number of stages: thinning, leveling and shortening on edges
// that each belong to a stage. Two stages have an implementation of their own (thinning.hpp,
// two_hops.hpp), which is several times as fast.
#pragma once

#include <span>

#include "planners/patterns/balanced.hpp"
#include "planners/patterns/staged_graph.hpp"

namespace tonari {

// edges: where to start; throws Errc::internal if some block has no path over them.
MessageSchedule over_many_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                                 std::span<const StagedEdge> edges);

}  // namespace tonari
