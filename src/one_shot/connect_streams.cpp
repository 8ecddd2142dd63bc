// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/connect_streams.hpp"

#include <algorithm>
#include <map>

#include "engine/run/wiring.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

// Returns the edges of a rank by neighbor. The next higher rank comes first, so that not all send
// to the same one first.
std::vector<NeighborEdges> neighbors_of(const LocalTopology& topology, int ranks) {
  const Vertex& vertex = topology.vertex;
  std::map<std::int32_t, NeighborEdges> found;  // by distance
  const auto of = [&](std::int32_t rank) -> NeighborEdges& {
    NeighborEdges& edges = found[(rank - vertex.rank + ranks) % ranks];
    edges.rank = rank;
    return edges;
  };
  for (std::uint32_t i = 0; i < vertex.targets.size(); ++i)
    if (vertex.targets[i] >= 0 && vertex.targets[i] != vertex.rank)
      of(vertex.targets[i]).sent.push_back(i);
  for (std::uint32_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0 && vertex.sources[j] != vertex.rank)
      of(vertex.sources[j]).received.push_back(j);
  std::vector<NeighborEdges> all;
  for (auto& [distance, edges] : found) {
    std::ranges::stable_sort(edges.received, {},
                             [&](std::uint32_t j) { return vertex.origins[j]; });
    for (std::uint32_t j : edges.received)
      edges.received_numbers.push_back(
          static_cast<std::uint32_t>(given_number(topology, Buffer::recv, j)));
    all.push_back(std::move(edges));
  }
  return all;
}

}  // namespace

std::shared_ptr<Streams> connect_streams(Context& context) {
  context.reserve_tags(stream_tags);
  return std::make_shared<Streams>(connect_comm(context),
                                   neighbors_of(context.topology(), context.ranks()),
                                   context.shared_comm(), context.first_tag());
}

std::shared_ptr<Streams> streams_by_mpi(Context& context) {
  return std::make_shared<Streams>(context.node(), context.rank(),
                                   neighbors_of(context.topology(), context.ranks()),
                                   context.shared_comm(), context.first_tag());
}

void check_usable(const Streams& streams, const char* owner) {
  if (in_forked_child())
    fail(Errc::argument, "this process is a child of the one that made the ", owner,
         ", by fork(); exchange there");
  if (streams.left())
    fail(Errc::peer, "an earlier one-shot call on this ", owner,
         " failed in the middle, or was given up; free the ", owner, " and make another");
}

}  // namespace tonari
