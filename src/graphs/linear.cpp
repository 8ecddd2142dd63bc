// linear: every block straight to its target, all blocks for one rank in one message. In an allgather every distinct target gets one message.
#include <algorithm>

#include "graphs/algorithm.hpp"

namespace tonari {
namespace {

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

Relay direct(const Vertex& v, Collective collective) {
  Relay relay;
  const bool alltoall = collective == Collective::alltoall;
  const auto add = [&](std::vector<Hop>& hops, std::int32_t peer, BlockId block) {
    if (peer >= 0 && peer != v.rank) hops.push_back({0, peer, block});
  };
  for (std::uint32_t i = 0; i < v.targets.size(); ++i) add(relay.out, v.targets[i], {v.rank, alltoall ? i : 0});
  for (std::uint32_t j = 0; j < v.sources.size(); ++j) add(relay.in, v.sources[j], {v.sources[j], alltoall ? v.origins[j] : 0});
  if (!alltoall) {
    remove_repeats(relay.out);
    remove_repeats(relay.in);
  }
  return relay;
}

std::vector<GraphWay> ways(World&, std::span<const Vertex> vertices, const GraphFacts&, const GraphTask& task) {
  GraphWay way;
  for (const Vertex& v : vertices) way.relays.push_back(direct(v, task.collective));
  return {std::move(way)};
}

}  // namespace

const GraphAlgorithm graph_linear{"linear", "every block straight to its target, blocks for one rank together", applicable, ways};

}  // namespace tonari
