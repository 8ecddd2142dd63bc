// SPDX-License-Identifier: BSD-3-Clause
// Graphs of all kinds for the tests of planners, and the proof of what planners make of them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/expected_delivery.hpp"
#include "base/hash.hpp"
#include "planners/graphs/local_bsp_comm.hpp"
#include "planners/registry.hpp"

namespace tonari::graphs {

using Edges = std::vector<std::pair<int, int>>;  // from, to; in the order of the lists

// Every rank's place in the graph; edges appear in the lists in the order given. nodes: sizes of
// the nodes, ranks consecutive; empty: one rank each.
inline std::vector<Vertex> make(int ranks, const Edges& edges, std::vector<int> nodes = {}) {
  std::vector<Vertex> all(ranks);
  for (int r = 0; r < ranks; ++r) all[r].rank = r;
  for (const auto& [from, to] : edges) {
    all[to].sources.push_back(from);
    all[to].origins.push_back(static_cast<std::uint32_t>(all[from].targets.size()));
    all[from].targets.push_back(to);
  }
  if (nodes.empty()) nodes.assign(ranks, 1);
  for (int first = 0, n = 0; first < ranks; ++n) {
    const int last = std::min(ranks, first + (n < static_cast<int>(nodes.size()) ? nodes[n] : 1));
    for (int r = first; r < last; ++r) {
      all[r].node = first;
      all[r].node_ranks.resize(last - first);
      std::iota(all[r].node_ranks.begin(), all[r].node_ranks.end(), first);
    }
    first = last;
  }
  return all;
}

// Lists of sources in another order than the edges were made in, k-th edges still k-th, and holes
// (MPI_PROC_NULL) on both sides.
inline void disturb(std::vector<Vertex>& all, std::mt19937& random) {
  for (Vertex& v : all) {
    std::vector<std::size_t> order(v.sources.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&, salt = random()](std::size_t a, std::size_t b) {
                       return Hash().word(salt).word(v.sources[a]).value() <
                              Hash().word(salt).word(v.sources[b]).value();
                     });
    Vertex shuffled = v;
    for (std::size_t j = 0; j < order.size(); ++j)
      shuffled.sources[j] = v.sources[order[j]], shuffled.origins[j] = v.origins[order[j]];
    v = shuffled;
    if (random() % 4 == 0) {
      const std::size_t hole = random() % (v.sources.size() + 1);
      v.sources.insert(v.sources.begin() + static_cast<std::ptrdiff_t>(hole), -1);
      v.origins.insert(v.origins.begin() + static_cast<std::ptrdiff_t>(hole), 0);
    }
    if (random() % 4 == 0) v.targets.push_back(-1);  // at the end: numbers of blocks stay
  }
}

inline Edges erdos_renyi(int ranks, double density, std::mt19937& random) {
  Edges edges;
  std::bernoulli_distribution is(density);
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b && is(random)) edges.emplace_back(a, b);
  return edges;
}

// Every rank sends to `degree` random ones, repeats and itself included.
inline Edges random_targets(int ranks, int degree, std::mt19937& random) {
  Edges edges;
  for (int a = 0; a < ranks; ++a)
    for (int k = 0; k < degree; ++k) edges.emplace_back(a, static_cast<int>(random() % ranks));
  return edges;
}

inline Edges star_out(int ranks, int center = 0) {
  Edges edges;
  for (int r = 0; r < ranks; ++r)
    if (r != center) edges.emplace_back(center, r);
  return edges;
}

inline Edges star_in(int ranks, int center = 0) {
  Edges edges;
  for (int r = 0; r < ranks; ++r)
    if (r != center) edges.emplace_back(r, center);
  return edges;
}

inline Edges complete(int ranks) {
  Edges edges;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b) edges.emplace_back(a, b);
  return edges;
}

// Each rank r links to `links` earlier ones, preferring those with many links already (Barabasi and
// Albert 1999); both directions.
inline Edges scale_free(int ranks, int links, std::mt19937& random) {
  Edges edges;
  std::vector<int> ends{0};
  for (int r = 1; r < ranks; ++r)
    for (int k = 0; k < std::min(links, r); ++k) {
      const int other = ends[random() % ends.size()];
      if (other == r) continue;
      edges.emplace_back(r, other);
      edges.emplace_back(other, r);
      ends.push_back(r);
      ends.push_back(other);
    }
  return edges;
}

// A random graph of a random kind, with repeated edges, self edges, isolated ranks and holes now
// and then.
inline std::vector<Vertex> any_graph(std::mt19937& random, int most_ranks = 24) {
  const int ranks = 1 + static_cast<int>(random() % most_ranks);
  Edges edges;
  switch (random() % 6) {
    case 0:
      edges = erdos_renyi(ranks, (random() % 100) / 100.0, random);
      break;
    case 1:
      edges = random_targets(ranks, static_cast<int>(random() % 8), random);
      break;
    case 2:
      edges = star_out(ranks, static_cast<int>(random() % ranks));
      break;
    case 3:
      edges = star_in(ranks, static_cast<int>(random() % ranks));
      break;
    case 4:
      edges = complete(ranks);
      break;
    case 5:
      edges = scale_free(ranks, 1 + static_cast<int>(random() % 3), random);
      break;
  }
  const std::size_t repeats = random() % 4 == 0 ? random() % 5 : 0;
  for (std::size_t k = 0; k < repeats && !edges.empty(); ++k)
    edges.push_back(edges[random() % edges.size()]);
  if (random() % 3 == 0) edges.emplace_back(random() % ranks, random() % ranks);
  std::vector<int> nodes;
  if (random() % 2)
    for (int left = ranks; left > 0; left -= nodes.back())
      nodes.push_back(1 + static_cast<int>(random() % std::min(left, 7)));
  std::vector<Vertex> all = make(ranks, edges, nodes);
  disturb(all, random);
  return all;
}

inline std::vector<Plan> plans(std::span<const Vertex> vertices, Collective collective,
                               const GraphVariant& way) {
  std::vector<Plan> all;
  for (std::size_t r = 0; r < vertices.size(); ++r)
    all.push_back(emit(vertices[r], collective, way.relays()[r], way.ports()));
  return all;
}

// Block sizes that all differ, empty ones among them.
inline std::uint64_t odd_bytes(BlockId block) {
  return Hash().word(block.origin).word(block.block).value() % 24;
}

// Proves all ways of an algorithm, whether or not it is expected to pay; does nothing where it is
// impossible.
inline void expect_proven(const GraphPlanner& algorithm, std::span<const Vertex> vertices,
                          const GraphTask& task, unsigned seed) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  if (!algorithm.applicable(facts, task).empty()) return;
  const std::vector<GraphVariant> ways = algorithm.variants(bsp, vertices, facts, task);
  ASSERT_FALSE(ways.empty()) << algorithm.name;
  for (const GraphVariant& way : ways) {
    ASSERT_EQ(way.relays().size(), vertices.size()) << algorithm.name;
    const Proof proof = prove(plans(vertices, task.collective, way),
                              expected_delivery(vertices, task.collective, odd_bytes), seed);
    ASSERT_TRUE(proof) << algorithm.name << " " << way.variant() << " " << name(task.collective)
                       << ", seed " << seed << ": " << proof.what;
  }
}

}  // namespace tonari::graphs
