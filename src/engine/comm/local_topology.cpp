// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/local_topology.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/hash.hpp"

namespace tonari {

LocalTopology topology_in(std::shared_ptr<const Neighborhood> near, int rank) {
  LocalTopology topology;
  topology.near = near;
  topology.shape = native_shape(*near);
  topology.fingerprint = near->fingerprint();
  topology.neighbors = near->offsets.size();
  topology.vertex.rank = rank;
  NeighborRanks ranks = neighbor_ranks(*near, rank);
  topology.vertex.targets = std::move(ranks.targets);
  topology.vertex.sources = std::move(ranks.sources);
  topology.vertex.origins.resize(near->offsets.size());
  std::iota(topology.vertex.origins.begin(), topology.vertex.origins.end(), 0u);
  return topology;
}

LocalTopology topology_in(std::shared_ptr<const Neighborhood> near, Vertex given,
                          Isomorphism isomorphism) {
  LocalTopology topology = topology_in(std::move(near), given.rank);
  topology.vertex.node = given.node;
  topology.vertex.node_ranks = given.node_ranks;
  topology.send_blocks = std::move(isomorphism.send_blocks);
  topology.recv_blocks = std::move(isomorphism.recv_blocks);
  topology.given = std::move(given);
  return topology;
}

namespace {

std::uint64_t print_of(const Vertex& v) {
  Hash hash;
  hash.word(v.rank).word(v.node);
  for (std::int32_t target : v.targets) hash.word(target);
  hash.word(v.sources.size());
  for (std::int32_t source : v.sources) hash.word(source);
  // if blocks with the same lists come in another order, it is another neighborhood
  for (std::uint32_t origin : v.origins) hash.word(origin);
  return hash.value();
}

std::size_t existing(const std::vector<std::int32_t>& peers) {
  return peers.size() - std::count(peers.begin(), peers.end(), -1);
}

bool repeats(const std::vector<std::int32_t>& peers) {
  std::multiset<std::int32_t> sorted(peers.begin(), peers.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// Cartesian communicators with more dimensions than a grid can have stay graphs. There, two blocks
// from one rank may come in the other order.
bool crosswise(const Vertex& v) {
  std::map<std::int32_t, std::uint32_t> last;
  for (std::size_t j = 0; j < v.sources.size(); ++j) {
    if (v.sources[j] < 0) continue;
    const auto [entry, first] = last.try_emplace(v.sources[j], v.origins[j]);
    if (!first && v.origins[j] < entry->second) return true;
    entry->second = v.origins[j];
  }
  return false;
}

}  // namespace

LocalTopology topology_in_graph(BspComm& bsp, std::span<const Vertex> vertices, std::size_t k) {
  LocalTopology topology;
  Word most[] = {0, 0, 0, 0, 0}, print = 0;
  const auto raise = [](Word& word, std::size_t value) {
    word = std::max(word, static_cast<Word>(value));
  };
  for (const Vertex& vertex : vertices) {
    const std::size_t out = existing(vertex.targets), in = existing(vertex.sources);
    raise(most[0], out != vertex.targets.size() || in != vertex.sources.size());
    raise(most[1], repeats(vertex.targets));
    raise(most[2], out != in);
    raise(most[3], crosswise(vertex));
    raise(most[4], std::max(vertex.targets.size(), vertex.sources.size()));
    print += static_cast<Word>(print_of(vertex) >> 24);  // so that a sum of many fits
  }
  bsp.max(most);
  topology.shape = {most[0] == 0, most[1] != 0, most[2] == 0, most[3] == 0};
  topology.neighbors = static_cast<std::size_t>(most[4]);
  topology.fingerprint = static_cast<std::uint64_t>(bsp.sum(print));
  topology.facts = gather_facts(bsp, vertices);
  topology.vertex = vertices[k];
  return topology;
}

}  // namespace tonari
