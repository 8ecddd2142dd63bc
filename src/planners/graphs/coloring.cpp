// SPDX-License-Identifier: BSD-3-Clause
// coloring (Hoefler 2012, §II-A3): the colors of the edges are the rounds. Greedy as in the paper,
// and beyond it: what does not fit into as many colors as the maximum degree is recolored along
// alternating paths, so that the number of rounds is nearly always the least possible.
#include "planners/graphs/coloring.hpp"

#include <algorithm>
#include <bit>

#include "planners/graphs/graph_planner.hpp"

namespace tonari {
namespace {

// If one rank has edges with all others, the rounds of the paper's Fig. 3 are optimal, and nobody
// has to ask: in round c, rank r sends to r + c + 1.
void color_by_distance(const BspComm& bsp, EdgeColors& edges) {
  const auto distance = [&](std::int32_t from, std::int32_t to) {
    return (to - from + bsp.ranks()) % bsp.ranks() - 1;
  };
  for (std::size_t k = 0; k < edges.senders.size(); ++k) {
    const std::int32_t self = bsp.here()[k];
    Side &out = edges.senders[k], &in = edges.receivers[k];
    for (std::size_t e = 0; e < out.peers.size(); ++e) out.color(e, distance(self, out.peers[e]));
    for (std::size_t e = 0; e < in.peers.size(); ++e) in.color(e, distance(in.peers[e], self));
  }
}

// A path in two colors of a graph where every rank has all `degree` colors can be as long as the
// graph: that is given up after a while. With one color more all ranks have gaps, and paths end
// after about `degree` hops.
void color_by_degree(BspComm& bsp, EdgeColors& edges, Color degree) {
  const int patience = 16 * (degree + 2 * std::bit_width(static_cast<unsigned>(bsp.ranks())));
  for (Color palette : {degree, degree + 1}) {
    color_greedily(bsp, edges, palette);
    if (recolor(bsp, edges, palette, patience)) return;
  }
  // always enough: an edge meets at most 2 * degree - 2 others
  color_greedily(bsp, edges, 2 * degree);
}

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

std::string pays(const GraphFacts& facts, const GraphTask&) {
  return facts.degree() > 1 ? "" : "no rank sends or receives more than one message";
}

// The hops of one side, by color.
std::vector<Hop> hops_by_color(const Side& side, std::span<const std::int32_t> peers,
                               const auto& block) {
  std::vector<Hop> hops;
  for (std::uint32_t i = 0; i < peers.size(); ++i) {
    const std::size_t e = side.edge(peers[i]);
    if (e < side.peers.size() && side.peers[e] == peers[i])
      hops.push_back({side.colors[e], peers[i], block(i)});
  }
  std::stable_sort(hops.begin(), hops.end(),
                   [](const Hop& a, const Hop& b) { return a.stage < b.stage; });
  return hops;
}

Relay relay_by_color(const Vertex& v, const Side& sender, const Side& receiver,
                     Collective collective) {
  const bool alltoall = collective == Collective::alltoall;
  Relay relay{hops_by_color(sender, v.targets,
                            [&](std::uint32_t i) { return BlockId{v.rank, alltoall ? i : 0}; }),
              hops_by_color(receiver, v.sources, [&](std::uint32_t j) {
                return BlockId{v.sources[j], alltoall ? v.origins[j] : 0};
              })};
  if (!alltoall) {
    remove_repeats(relay.out);
    remove_repeats(relay.in);
  }
  return relay;
}

// rounds: nobody starts a round before its part of the one before is done. order: messages leave in
// the order of their rounds, but do not wait.
std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts&, const GraphTask& task) {
  const Coloring coloring = color_edges(bsp, vertices);
  std::vector<Relay> rounds;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    rounds.push_back(relay_by_color(vertices[k], coloring.edges.senders[k],
                                    coloring.edges.receivers[k], task.collective));
  std::vector<Relay> order = rounds;
  for (Relay& relay : order)
    for (std::vector<Hop>* hops : {&relay.out, &relay.in})
      for (Hop& hop : *hops) hop.stage = 0;
  return {{graph_coloring, "rounds", vertices, task, std::move(rounds), 1},
          {graph_coloring, "order", vertices, task, std::move(order)}};
}

}  // namespace

Coloring color_edges(BspComm& bsp, std::span<const Vertex> vertices) {
  Coloring result{uncolored_edges(bsp, vertices)};
  const auto raise = [](int& most, std::size_t value) {
    most = std::max(most, static_cast<int>(value));
  };
  for (const auto* sides : {&result.edges.senders, &result.edges.receivers})
    for (const Side& side : *sides) raise(result.bound, side.peers.size());
  result.bound = static_cast<int>(bsp.max(static_cast<Word>(result.bound)));
  if (result.bound == bsp.ranks() - 1)
    color_by_distance(bsp, result.edges);
  else
    color_by_degree(bsp, result.edges, result.bound);
  for (const Side& side : result.edges.senders)
    for (Color c : side.colors) raise(result.colors, c + 1);
  result.colors = static_cast<int>(bsp.max(static_cast<Word>(result.colors)));
  return result;
}

const GraphPlanner graph_coloring{"coloring", applicable, variants, pays};

}  // namespace tonari
