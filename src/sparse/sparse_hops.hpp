// SPDX-License-Identifier: BSD-3-Clause
// store-and-forward/N: messages hop by hop on a virtual mesh of all ranks with N dimensions
// (topology/virtual_topology.hpp), each hop an exchange of RankGroup. Few messages per rank, many
// bytes.
#pragma once

#include "planners/graphs/rank_group.hpp"
#include "sparse/superstep.hpp"

namespace tonari {

// Collective; waits for the other ranks in here. Whole messages, also long ones, come to the inbox.
void forward_by_hops(RankGroup& group, SparseState& state);

}  // namespace tonari
