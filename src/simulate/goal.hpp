// SPDX-License-Identifier: BSD-3-Clause
// Schedules as text in the language GOAL, which LogGOPSim and ATLAHS read, too:
//
//   num_ranks 2
//   rank 0 {
//   l0: calc 100
//   l1: send 8b to 1 tag 3
//   l1 requires l0
//   }
//   rank 1 {
//   l0: recv 8b from 0 tag 3
//   }
//
// Calculations are in nanoseconds. A tag is the place of the receive in its rank's program.
#pragma once

#include <ostream>
#include <string>

#include "simulate/machine.hpp"
#include "simulate/schedule.hpp"

namespace tonari::sim {

// Calculations are rounded to nanoseconds.
void write_goal(std::ostream& out, const Schedule& schedule);

// The whole file is there, or it is as before. Throws Errc::file.
void write_goal_file(const std::string& path, const Schedule& schedule);

// Messages meet receives of their sender and tag in order; -1 stands for any of a receive. Throws
// Errc::file with the number of the line that is wrong. A rank has one processor and one interface.
Schedule read_goal(const std::string& text, const std::string& name);
Schedule read_goal_file(const std::string& path);

// GOAL knows no nodes and no shared cores: all messages cost what those of the network do.
Machine without_classes(Machine machine);

}  // namespace tonari::sim
