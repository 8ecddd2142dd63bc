// SPDX-License-Identifier: BSD-3-Clause
// Ways of values along the messages of an algorithm for graphs, which shares out who writes to whom
// for the whole pattern: balanced, or message-sharing (Duymuş 2021).
//
//   What a rank needs of one owner is a block. The algorithm leads each block over ranks on the
//   way, in stages. Several blocks of an owner carry the same value, if several ranks need it:
//
//        stage 0   owner ──▶ h   for h, t and u      the value goes once, not three times
//        stage 1   h ──▶ t, h ──▶ u
//
//   A value that several blocks bring to a rank comes there once, the first time: the ways of one
//   value are a tree. Contributions to a sum take such a tree back, so those that meet at a rank
//   are added there, and go on as one with the last message that carries any of them. That never
//   takes more values or messages than the blocks would, and a message is left out if all its
//   values go by others (planners/patterns/value_ways.hpp).
#pragma once

#include <span>
#include <string>

#include "planners/graphs/bsp_comm.hpp"
#include "vector/owned_ranges.hpp"
#include "vector/route.hpp"

namespace tonari {

// Each direction is planned for itself, as an algorithm may relieve senders alone.
struct PlannedRoutes {
  VectorRoute values;
  VectorRoute sums;  // as the ways of values that sums take back
};

// Collective. `bsp` has one rank per process. Throws Errc::argument where the algorithm has no such
// variant, Errc::algorithm where it cannot plan this pattern, the same on all ranks.
PlannedRoutes plan_routes(BspComm& bsp, const OwnedRanges& ranges,
                          std::span<const std::int64_t> indices, const std::string& name);

}  // namespace tonari
