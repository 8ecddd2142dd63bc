// SPDX-License-Identifier: BSD-3-Clause
// Coloring the edges of a graph so that no rank sends twice or receives twice in one color. Every
// rank is two vertices, a sender and a receiver, and so the graph is bipartite and maximum-degree
// colors suffice (König). Each rank knows the colors of its own edges only.
#pragma once

#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"
#include "planners/graphs/color_set.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// A rank as a sender, or as a receiver.
struct Side {
  std::vector<std::int32_t> peers;  // distinct other ranks, ascending: an edge to (from) each
  std::vector<Color> colors;        // of these edges; the peer always knows the same
  ColorSet used;                    // the colors above
  // the edges in Welsh-Powell's order; both ends agree on any two edges that meet
  std::vector<std::uint32_t> order;

  std::size_t edge(std::int32_t peer) const;
  void color(std::size_t edge, Color c);
  void uncolor(std::size_t edge);
};

struct EdgeColors {
  std::vector<Side> senders, receivers;  // per rank of bsp.here()
};

// No edge is colored yet. Collective, one exchange.
EdgeColors uncolored_edges(BspComm& bsp, std::span<const Vertex> vertices);

// Welsh and Powell's heuristic (Hoefler 2012, §II-A3) on the edges without a color: by descending
// degree, each gets the lowest color below `palette` that is free at both ends, or none if there is
// none. Collective; about as many exchanges as the longest chain of edges that meet, in descending
// order.
void color_greedily(BspComm& bsp, EdgeColors& edges, Color palette);

// Colors what color_greedily left, by recoloring along alternating paths; palette is at least the
// maximum degree. True if all edges have a color now. Gives up after about `patience` exchanges, or
// earlier if that many will not do; what it leaves is a valid coloring of the other edges.
// Collective.
bool recolor(BspComm& bsp, EdgeColors& edges, Color palette, int patience);

}  // namespace tonari
