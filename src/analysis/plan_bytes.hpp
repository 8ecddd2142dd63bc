// SPDX-License-Identifier: BSD-3-Clause
// The sizes of the blocks in plans of a whole graph, where blocks differ (Vertex::bytes).
#pragma once

#include <span>
#include <vector>

#include "cost/effort.hpp"
#include "plan/plan.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// One per plan; plan r is that of vertices[r]. They refer to `vertices`. Pure.
std::vector<BlockBytes> plan_bytes(std::span<const Vertex> vertices, Collective collective,
                                   std::span<const Plan> plans);

}  // namespace tonari
