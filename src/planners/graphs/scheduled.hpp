// SPDX-License-Identifier: BSD-3-Clause
// Runs a schedule from a file on any graph, as it is written.
//
// Each rank has read its own part (OwnSchedule) of one and the same file. It checks that part
// against its own neighbors alone. Together these checks prove the whole:
//
//   a block is at its origin, which knows whether the pattern has it
//   it leaves a rank only after it came there  ─▶ stages ascend along its way, so nothing is cyclic
//   every rank but its target passes it on once, and it comes to no rank twice
//                                              ─▶ it ends at its target, and there alone
//
// A file names pairs of ranks, not blocks: all blocks of a pair go the same way. In an allgather
// the blocks of one origin are one, which comes to a rank once, and not at all where nobody needs
// it any more.
#pragma once

#include <string>
#include <vector>

#include "planners/graphs/graph_planner.hpp"
#include "planners/patterns/schedule_file.hpp"

namespace tonari {

inline constexpr char scheduled_name[] = "schedule";  // as an algorithm, in labels

// Local. Throws Errc::file, with the rank and the block, unless the part delivers what the rank has
// to send and to get, and passes on all else that comes. name: of the file.
void check_schedule(const Vertex& vertex, const OwnSchedule& own, const std::string& name);

// Collective. own: one per vertex; checked, and of the same file on all ranks.
GraphVariant scheduled_variant(BspComm& bsp, std::span<const Vertex> vertices,
                               std::span<const OwnSchedule> own, Collective collective);

}  // namespace tonari
