// The colouring planner (paper 002, §II-A3): messages in rounds in which no rank sends twice or receives twice.
#pragma once

#include <span>
#include <vector>

#include "graphs/edge_colours.hpp"

namespace tonari {

struct Colouring {
  EdgeColours edges;
  int colours = 0;  // rounds: the highest colour in use, plus one
  int bound = 0;    // no colouring has fewer: the maximum degree
};

// Collective; the same on all ranks but for `edges`, which are each rank's own. Never more than max(bound, 2 * bound - 1) colours.
Colouring colour_edges(World& world, std::span<const Vertex> vertices);

}  // namespace tonari
