// SPDX-License-Identifier: BSD-3-Clause
// What an exchange costs one rank whose blocks have sizes of their own. Pure.
//
// A rank knows the sizes of the blocks that it sends and of those that it receives. Blocks that it
// only passes on are taken for as long as those that it receives, on average. What a block of its
// own is longer than that, the sender adds for whoever passes it on.
#pragma once

#include "cost/links.hpp"
#include "planners/graphs/graph_planner.hpp"
#include "select/edge_sizes.hpp"

namespace tonari {

// Seconds, by the formula of traffic (select/price.cpp) for this rank's own messages.
double price_edges(const GraphVariant& variant, const EdgeSizes& mine, const LinkCosts& links);

}  // namespace tonari
