// SPDX-License-Identifier: BSD-3-Clause
#include "graph_patterns.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>

#include "base/error.hpp"

namespace bench {
using tonari::Errc;

namespace {

using Edges = std::vector<std::pair<int, int>>;  // from, to

struct Name {
  std::string kind;
  std::vector<std::string> words;  // after the kind
};

Name split_pattern(const std::string& pattern) {
  Name name;
  std::istringstream in(pattern);
  std::getline(in, name.kind, ':');
  for (std::string word; std::getline(in, word, ':');) name.words.push_back(word);
  return name;
}

template <class Number>
Number parse(const std::string& pattern, const std::string& word, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < least || value > most)
    tonari::fail(Errc::argument, "the pattern '", pattern, "' has '", word,
                 "' where a number from ", least, " to ", most, " must stand");
  return value;
}

Edges random_edges(int ranks, double density, std::mt19937& random) {
  Edges edges;
  std::bernoulli_distribution is(density);
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b && is(random)) edges.emplace_back(a, b);
  return edges;
}

Edges scale_free(int ranks, int links, std::mt19937& random) {
  Edges edges;
  std::vector<int> ends{0};  // every rank as often as it has links
  for (int r = 1; r < ranks; ++r) {
    std::vector<int> chosen;
    while (static_cast<int>(chosen.size()) < std::min(links, r)) {
      const int other =
          random() % 4 == 0 ? static_cast<int>(random() % r) : ends[random() % ends.size()];
      if (other != r && std::find(chosen.begin(), chosen.end(), other) == chosen.end())
        chosen.push_back(other);
    }
    for (int other : chosen) {
      edges.emplace_back(r, other);
      edges.emplace_back(other, r);
      ends.insert(ends.end(), {r, other});
    }
  }
  return edges;
}

Edges cliques(int ranks, int size) {
  Edges edges;
  for (int a = 0; a < ranks; ++a)
    for (int b = a - a % size; b < std::min(ranks, a - a % size + size); ++b)
      if (a != b) edges.emplace_back(a, b);
  return edges;
}

Edges hot_spot(int ranks, bool sends) {
  Edges edges;
  for (int r = 1; r < ranks; ++r) edges.emplace_back(sends ? 0 : r, sends ? r : 0);
  return edges;
}

Edges make_edges(const std::string& pattern, int ranks) {
  const Name name = split_pattern(pattern);
  const bool has_number =
      name.kind == "random" || name.kind == "scale-free" || name.kind == "clique";
  if (name.words.size() < has_number || name.words.size() > has_number + 1u)
    tonari::fail(Errc::argument, "the pattern '", pattern,
                 "' must be random:P, hotspot, hotspot-in, scale-free:K or clique:K, each with an "
                 "optional :SEED");
  std::mt19937 random(name.words.size() > has_number ? parse(pattern, name.words.back(), 0u, ~0u)
                                                     : 1u);
  if (name.kind == "random")
    return random_edges(ranks, parse(pattern, name.words[0], 0.0, 1.0), random);
  if (name.kind == "scale-free")
    return scale_free(ranks, parse(pattern, name.words[0], 1, 1 << 20), random);
  if (name.kind == "clique") return cliques(ranks, parse(pattern, name.words[0], 1, 1 << 20));
  return hot_spot(ranks, name.kind == "hotspot");
}

}  // namespace

bool is_graph(const std::string& pattern) {
  const std::string kind = split_pattern(pattern).kind;
  return kind == "random" || kind == "hotspot" || kind == "hotspot-in" || kind == "scale-free" ||
         kind == "clique";
}

std::vector<tonari::Vertex> make_graph(const std::string& pattern, int ranks) {
  std::vector<tonari::Vertex> all(ranks);
  for (int r = 0; r < ranks; ++r) all[r].rank = r;
  for (const auto& [from, to] : make_edges(pattern, ranks)) {
    all[to].sources.push_back(from);
    all[to].origins.push_back(static_cast<std::uint32_t>(all[from].targets.size()));
    all[from].targets.push_back(to);
  }
  return all;
}

}  // namespace bench
