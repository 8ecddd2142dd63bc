// SPDX-License-Identifier: BSD-3-Clause
// A shortcut beside the simulator, for plans that would take too long to make and to simulate
// (src/select/price.cpp says when).
//
// It looks at rounds, hops and volume alone, and adds up what the simulator would find if no rank
// waited for what others keep busy, and copied nothing to itself:
//
//   the busier of processor (o, copies) and network (g, G)
//   + a latency for each hop of an average block
//   + of the less busy one what cannot overlap: the share of one round per hop
//
// Where no block is for the rank itself, that is within a factor of 3 of simulate(); and of two
// variants that simulate() finds twice apart, it finds the same one faster.
#pragma once

#include "cost/loggp.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {

// Seconds. `block_bytes` is the average size of a block.
double estimate(const OffsetVariant& variant, double block_bytes, const LogGP& machine,
                ChannelCost channel = {});

}  // namespace tonari
