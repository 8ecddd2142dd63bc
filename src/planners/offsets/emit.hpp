// SPDX-License-Identifier: BSD-3-Clause
// From a routing to one rank's plan.
#pragma once

#include "plan/variant.hpp"
#include "planners/offsets/allgather_tree.hpp"
#include "planners/offsets/routing.hpp"

namespace tonari {

// Pure and local: needs no other rank. O(hops) time and memory.
Plan emit_alltoall(const Routing& routing, int rank, EmitOptions options);
Plan emit_allgather(const Routing& routing, const AllgatherTree& tree, int rank,
                    EmitOptions options);

}  // namespace tonari
