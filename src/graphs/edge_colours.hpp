// Colouring the edges of a graph so that no rank sends twice or receives twice in one colour. Every rank is two vertices, a sender and a receiver, and
// so the graph is bipartite and maximum-degree colours suffice (König). Each rank knows the colours of its own edges only.
#pragma once

#include <span>
#include <vector>

#include "graphs/colour_set.hpp"
#include "graphs/world.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// A rank as a sender, or as a receiver.
struct Side {
  std::vector<std::int32_t> peers;   // distinct other ranks, ascending: an edge to (from) each
  std::vector<Colour> colours;       // of these edges; the peer always knows the same
  ColourSet used;                    // the colours above
  std::vector<std::uint32_t> order;  // the edges in Welsh-Powell's order; both ends agree on any two edges that meet

  std::size_t edge(std::int32_t peer) const;
  void colour(std::size_t edge, Colour c);
  void uncolour(std::size_t edge);
};

struct EdgeColours {
  std::vector<Side> senders, receivers;  // per rank of world.here()
};

// No edge is coloured yet. Collective, one exchange.
EdgeColours uncoloured_edges(World& world, std::span<const Vertex> vertices);

// Welsh and Powell's heuristic (paper 002, §II-A3) on the edges without a colour: by descending degree, each gets the lowest colour below `palette` that is
// free at both ends, or none if there is none. Collective; about as many exchanges as the longest chain of edges that meet, in descending order.
void colour_greedily(World& world, EdgeColours& edges, Colour palette);

// Colours what colour_greedily left, by recolouring along alternating paths; palette is at least the maximum degree. True if all edges have a colour now. Gives
// up after about `patience` exchanges, or earlier if that many will not do; what it leaves is a valid colouring of the other edges. Collective.
bool recolour(World& world, EdgeColours& edges, Colour palette, int patience);

}  // namespace tonari
