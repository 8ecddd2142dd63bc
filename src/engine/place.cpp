#include "engine/place.hpp"

#include <algorithm>
#include <set>

#include "base/hash.hpp"

namespace tonari {

Place place_in(std::shared_ptr<const Neighborhood> near, int rank) {
  Place place;
  place.near = near;
  place.shape = native_shape(*near);
  place.fingerprint = near->fingerprint();
  place.neighbors = near->offsets.size();
  place.vertex.rank = rank;
  for (std::uint32_t i = 0; i < near->offsets.size(); ++i) {
    place.vertex.targets.push_back(near->target(rank, i));
    place.vertex.sources.push_back(near->source(rank, i));
    place.vertex.origins.push_back(i);
  }
  return place;
}

Place place_in(std::shared_ptr<const Neighborhood> near, Vertex given, Isomorphism isomorphism) {
  Place place = place_in(std::move(near), given.rank);
  place.send_blocks = std::move(isomorphism.send_blocks);
  place.recv_blocks = std::move(isomorphism.recv_blocks);
  place.given = std::move(given);
  return place;
}

namespace {

std::uint64_t print_of(const Vertex& v) {
  Hash hash;
  hash.word(v.rank).word(v.node);
  for (std::int32_t target : v.targets) hash.word(target);
  hash.word(v.sources.size());
  for (std::int32_t source : v.sources) hash.word(source);
  return hash.value();
}

std::size_t existing(const std::vector<std::int32_t>& peers) { return peers.size() - std::count(peers.begin(), peers.end(), -1); }

bool repeats(const std::vector<std::int32_t>& peers) {
  std::multiset<std::int32_t> sorted(peers.begin(), peers.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

}  // namespace

Place place_in_graph(World& world, Vertex vertex) {
  Place place;
  const std::size_t out = existing(vertex.targets), in = existing(vertex.sources);
  const bool complete = out == vertex.targets.size() && in == vertex.sources.size();
  Word words[] = {!complete, repeats(vertex.targets), out != in, static_cast<Word>(std::max(vertex.targets.size(), vertex.sources.size()))};
  world.max(words);
  place.shape = {words[0] == 0, words[1] != 0, words[2] == 0};
  place.neighbors = static_cast<std::size_t>(words[3]);
  place.fingerprint = static_cast<std::uint64_t>(world.sum(static_cast<Word>(print_of(vertex) >> 8)));  // room for the sum of all
  place.facts = gather_facts(world, std::span(&vertex, 1));
  place.vertex = std::move(vertex);
  return place;
}

}  // namespace tonari
