// SPDX-License-Identifier: BSD-3-Clause
// Paths over edges in stages: the two kinds of graphs against each other, and against all paths.
#include "planners/patterns/staged_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include "planners/patterns/list_graph.hpp"
#include "planners/patterns/row_graph.hpp"

namespace tonari {
namespace {

// Against plain sets, with columns in the first, second and last line of a row.
TEST(BitRows, AreSets) {
  std::mt19937 random(3);
  BitRows rows(3, 9000);
  std::vector<std::set<int>> sets(3);
  for (int k = 0; k < 4000; ++k) {
    const std::size_t row = random() % 3;
    const int column = static_cast<int>(random() % 2 ? random() % 9000 : random() % 130);
    if (random() % 3) {
      rows.set(row, column);
      sets[row].insert(column);
    } else {
      rows.clear(row, column);
      sets[row].erase(column);
    }
    if (k % 500 == 0) {
      rows.unite(2, rows, 0);
      sets[2].insert(sets[0].begin(), sets[0].end());
    }
  }
  std::vector<int> common, expected;
  rows.for_each_common(0, rows, 1, [&](int column) { common.push_back(column); });
  std::set_intersection(sets[0].begin(), sets[0].end(), sets[1].begin(), sets[1].end(),
                        std::back_inserter(expected));
  EXPECT_EQ(common, expected);
  EXPECT_EQ(rows.meet(0, rows, 1), !expected.empty());
  EXPECT_EQ(rows.count_common(0, rows, 1), static_cast<int>(expected.size()));
  EXPECT_EQ(rows.count_common(2, rows, 2), static_cast<int>(sets[2].size()));
  EXPECT_TRUE(rows.any(2));
  for (int column = 0; column < 9000; ++column)
    ASSERT_EQ(rows.test(2, column), sets[2].contains(column));
  rows.clear_row(2);
  EXPECT_EQ(rows.count_common(2, rows, 2), 0);
  EXPECT_FALSE(rows.any(2) || rows.meet(2, rows, 0));
  rows.assign_united(2, 0, rows, 1);
  sets[0].insert(sets[1].begin(), sets[1].end());
  EXPECT_EQ(rows.count_common(2, rows, 2), static_cast<int>(sets[0].size()));
}

// The edges of the shortest path, by trying all of them; `none` if there is no path.
constexpr std::size_t none = 1000;
std::size_t fewest_edges(const StagedGraph& graph, int ranks, int a, int b, int stage) {
  if (a == b) return 0;
  std::size_t fewest = none;
  for (int s = stage; s < graph.stages(); ++s)
    for (int next = 0; next < ranks; ++next)
      if (graph.open({s, a, next}))
        fewest = std::min(fewest, 1 + fewest_edges(graph, ranks, next, b, s + 1));
  return fewest;
}

using Reach = StagedGraph::Reach;

// Any pattern, as many edges of it or none.
CommunicationMatrix any_pairs(std::mt19937& random, int ranks) {
  std::vector<Flow> flows;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b && random() % 3 == 0) flows.push_back({a, b, 1});
  return CommunicationMatrix(ranks, flows);
}

// chain: whose ends have a long way
void add_edges(StagedGraph& graph, int ranks, bool chain, std::mt19937& random) {
  for (int s = 0; s < graph.stages(); ++s)
    for (int a = 0; a < ranks; ++a)
      for (int b = 0; b < ranks; ++b)
        if (chain ? s == a && a + 1 == b : a != b && random() % 8 == 0) graph.add({s, a, b});
}

std::vector<std::uint64_t> any_load(int ranks, std::mt19937& random) {
  std::vector<std::uint64_t> load(static_cast<std::size_t>(ranks), 0);
  for (std::uint64_t& words : load) words = random() % 4;
  return load;
}

void expect_path(const StagedGraph& graph, int a, int b, const std::vector<StagedEdge>& path) {
  int at = a, stage = -1;
  std::set<int> passed{a};
  for (const StagedEdge& e : path) {
    ASSERT_TRUE(graph.open(e) && e.from == at && e.stage > stage);
    at = e.to;
    ASSERT_TRUE(passed.insert(at).second) << "twice";
    stage = e.stage;
  }
  ASSERT_EQ(at, b);
}

template <class Graph>
class EitherGraph : public testing::Test {};
using Graphs = testing::Types<RowGraph, ListGraph>;
TYPED_TEST_SUITE(EitherGraph, Graphs);

TYPED_TEST(EitherGraph, FindsPathsOfFewEdges) {
  std::mt19937 random(8);
  int found = 0, missing = 0, longer = 0;
  for (int k = 0; k < 200; ++k) {
    const int ranks = 2 + static_cast<int>(random() % 11),
              stages = 1 + static_cast<int>(random() % 7);
    TypeParam graph(CommunicationMatrix(ranks, {}), stages);
    add_edges(graph, ranks, k % 5 == 0, random);
    const std::vector<std::uint64_t> load = any_load(ranks, random);
    std::vector<StagedEdge> path;
    for (int a = 0; a < ranks; ++a)
      for (int b = 0; b < ranks; ++b) {
        if (a == b) continue;
        const std::size_t fewest = fewest_edges(graph, ranks, a, b, 0);
        ASSERT_EQ(graph.find_path(a, b, load, Reach::four, path), fewest <= 4);
        const bool there = graph.find_path(a, b, load, Reach::all, path);
        ASSERT_EQ(there, fewest < none);
        if (there) {
          ++found;
          longer += path.size() > 4;
          if (fewest <= 4) {
            ASSERT_EQ(path.size(), fewest) << "from " << a << " to " << b;
          }
          expect_path(graph, a, b, path);
          if (this->HasFatalFailure()) return;
          continue;
        }
        StagedEdge edge;
        if (!graph.find_missing(a, b, 1000, edge)) continue;
        ++missing;
        ASSERT_FALSE(graph.open(edge));
        graph.add(edge);
        ASSERT_TRUE(graph.find_path(a, b, load, Reach::all, path));
        graph.remove(edge);
      }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(missing, 1000);
  EXPECT_GT(longer, 5);
}

// Both kinds of a graph, which edges come to and leave together.
struct Both {
  Both(const CommunicationMatrix& pattern, int stages)
      : ranks(pattern.ranks()), rows(pattern, stages), lists(pattern, stages) {}

  void turn_over(std::mt19937& random) {
    const StagedEdge e{static_cast<int>(random() % static_cast<unsigned>(rows.stages())),
                       static_cast<int>(random() % static_cast<unsigned>(ranks)),
                       static_cast<int>(random() % static_cast<unsigned>(ranks))};
    if (e.from == e.to) return;
    if (rows.open(e)) {
      rows.remove(e);
      lists.remove(e);
    } else {
      rows.add(e);
      lists.add(e);
    }
  }

  void expect_same(int a, int b, StagedGraph::Load load, int most) {
    std::vector<StagedEdge> one, other;
    for (Reach reach : {Reach::four, Reach::all}) {
      ASSERT_EQ(rows.find_path(a, b, load, reach, one), lists.find_path(a, b, load, reach, other));
      ASSERT_EQ(one, other) << "from " << a << " to " << b;
    }
    StagedEdge own{}, its{};
    ASSERT_EQ(rows.find_missing(a, b, most, own), lists.find_missing(a, b, most, its));
    ASSERT_EQ(own, its);
  }

  void expect_same_edges(int rank) {
    std::vector<StagedEdge> one, other;
    rows.list_out(rank, one), lists.list_out(rank, other);
    rows.list_in(rank, one), lists.list_in(rank, other);
    ASSERT_EQ(one, other);
    ASSERT_EQ(rows.sent(rank), lists.sent(rank));
    ASSERT_EQ(rows.received(rank), lists.received(rank));
    for (const StagedEdge& e : one) ASSERT_EQ(rows.pairs_over(e), lists.pairs_over(e));
  }

  int ranks;
  RowGraph rows;
  ListGraph lists;
};

TEST(StagedGraph, ListsAndRowsFindTheSame) {
  std::mt19937 random(38);
  for (int k = 0; k < 60; ++k) {
    const int ranks = 2 + static_cast<int>(random() % 80),
              stages = 1 + static_cast<int>(random() % 9);
    Both both(any_pairs(random, ranks), stages);
    const std::vector<std::uint64_t> load = any_load(ranks, random);
    const int edges = 1 + static_cast<int>(random() % (3u * static_cast<unsigned>(ranks)));
    for (int e = 0; e < edges; ++e) both.turn_over(random);
    for (int query = 0; query < 300; ++query) {
      const int a = static_cast<int>(random() % static_cast<unsigned>(ranks)),
                b = static_cast<int>(random() % static_cast<unsigned>(ranks));
      if (a == b) continue;
      both.expect_same(a, b, load, 1 + static_cast<int>(random() % 6));
      if (query % 50 == 0) both.expect_same_edges(a);
      if (HasFatalFailure()) return;
      if (random() % 2) both.turn_over(random);
    }
  }
}

}  // namespace
}  // namespace tonari
