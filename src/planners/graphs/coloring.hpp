// SPDX-License-Identifier: BSD-3-Clause
// The coloring planner (Hoefler 2012, §II-A3): messages in rounds in which no rank sends twice or
// receives twice.
#pragma once

#include <span>
#include <vector>

#include "planners/graphs/edge_colors.hpp"

namespace tonari {

struct Coloring {
  EdgeColors edges;
  int colors = 0;  // rounds: the highest color in use, plus one
  int bound = 0;   // no coloring has fewer: the maximum degree
};

// Collective; the same on all ranks but for `edges`, which are each rank's own. Never more than
// max(bound, 2 * bound - 1) colors.
Coloring color_edges(BspComm& bsp, std::span<const Vertex> vertices);

}  // namespace tonari
