// SPDX-License-Identifier: BSD-3-Clause
// linear: every block straight to its target, all blocks for one rank in one message. In an
// allgather every distinct target gets one message. Where edges of an all-to-all repeat there is
// also the plain way, a message per block.
#include <algorithm>
#include <unordered_map>

#include "planners/graphs/graph_planner.hpp"

namespace tonari {
namespace {

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

Relay direct(const Vertex& v, Collective collective) {
  Relay relay;
  const bool alltoall = collective == Collective::alltoall;
  const auto add = [&](std::vector<Hop>& hops, std::int32_t peer, BlockId block) {
    if (peer >= 0 && peer != v.rank) hops.push_back({0, peer, block});
  };
  for (std::uint32_t i = 0; i < v.targets.size(); ++i)
    add(relay.out, v.targets[i], {v.rank, alltoall ? i : 0});
  for (std::uint32_t j = 0; j < v.sources.size(); ++j)
    add(relay.in, v.sources[j], {v.sources[j], alltoall ? v.origins[j] : 0});
  if (!alltoall) {
    remove_repeats(relay.out);
    remove_repeats(relay.in);
  }
  return relay;
}

// Of the blocks between two ranks, the one with the k-th lowest number travels in stage k.
bool separate_repeats(std::vector<Hop>& hops) {
  std::unordered_map<std::int32_t, std::vector<Hop*>> to;
  for (Hop& hop : hops) to[hop.peer].push_back(&hop);
  for (auto& [peer, these] : to) {
    std::sort(these.begin(), these.end(),
              [](const Hop* a, const Hop* b) { return a->block < b->block; });
    for (std::size_t k = 0; k < these.size(); ++k) these[k]->stage = static_cast<std::int32_t>(k);
  }
  return to.size() < hops.size();
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts&, const GraphTask& task) {
  std::vector<Relay> together, apart;
  bool repeats = false;
  for (const Vertex& v : vertices) {
    Relay& relay = apart.emplace_back(together.emplace_back(direct(v, task.collective)));
    repeats = separate_repeats(relay.out) || repeats;
    separate_repeats(relay.in);
  }
  std::vector<GraphVariant> all{{graph_linear, "", vertices, task, std::move(together)}};
  if (task.collective == Collective::alltoall && bsp.max(repeats))
    all.emplace_back(graph_linear, "a message per block", vertices, task, std::move(apart));
  return all;
}

}  // namespace

const GraphPlanner graph_linear{"linear", applicable, variants};

}  // namespace tonari
