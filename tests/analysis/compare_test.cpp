// SPDX-License-Identifier: BSD-3-Clause
// Comparing the algorithms on one whole graph: who the edges make neighbors, what is counted, what
// is proven, what is refused.
#include "analysis/compare.hpp"

#include <gtest/gtest.h>

#include <set>

#include "planners/graphs/graphs.hpp"
#include "support/contains.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

GraphQuestion ask(int ranks, const graphs::Edges& edges,
                  Collective collective = Collective::alltoall, std::uint64_t bytes = 64,
                  int node_ranks = 1) {
  std::vector<std::int32_t> from, to;
  for (const auto& [a, b] : edges) from.push_back(a), to.push_back(b);
  return make_question(make_vertices(ranks, from, to, node_ranks), collective, bytes, LogGP());
}

TEST(MakeVertices, BlocksAreOrderedByEdgesAndSources) {
  const std::vector<std::int32_t> from{2, 0, 2, 1, 2, 2}, to{0, 1, 1, 1, 0, 2};
  const std::vector<Vertex> v = make_vertices(4, from, to, 3);
  EXPECT_EQ(v[2].targets, (std::vector<std::int32_t>{0, 1, 0, 2}));
  EXPECT_EQ(v[1].sources, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(v[1].origins, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(v[0].sources, (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(v[0].origins, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(v[3].targets.empty() && v[3].sources.empty());
  EXPECT_EQ(v[1].node_ranks, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(v[3].node, 3);
  EXPECT_EQ(v[3].node_ranks, (std::vector<std::int32_t>{3}));
}

TEST(MakeVertices, BothEndsAgreeOnRandomGraphs) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 20);
    std::vector<std::int32_t> from, to;
    for (const auto& [a, b] : graphs::random_targets(ranks, 4, random))
      from.push_back(a), to.push_back(b);
    const std::vector<Vertex> all = make_vertices(ranks, from, to);
    std::set<std::pair<std::int32_t, std::uint32_t>> met;
    for (const Vertex& v : all)
      for (std::size_t j = 0; j < v.sources.size(); ++j) {
        ASSERT_EQ(all[v.sources[j]].targets.at(v.origins[j]), v.rank);
        met.emplace(v.sources[j], v.origins[j]);
      }
    EXPECT_EQ(met.size(), from.size());
  }
}

TEST(MakeVertices, RefusesWhatIsNoGraph) {
  const std::vector<std::int32_t> three{0, 1, 3}, two{0, 1};
  EXPECT_EQ(test::error_of([&] { make_vertices(3, three, three); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { make_vertices(4, three, two); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { make_vertices(4, three, three, 0); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { make_vertices(0, {}, {}); }).code(), Errc::argument);
  const std::vector<std::uint64_t> one_size{8};
  const Error sizes = test::error_of([&] { make_vertices(4, three, three, 1, one_size); });
  EXPECT_CONTAINS(sizes.what(), "1 sizes of blocks, but 3 edges");
  EXPECT_EQ(test::error_of([&] { make_vertices(1 << 20, {}, {}, 1 << 20); }).code(),
            Errc::argument);
}

TEST(Compare, LinearIsCounted) {
  const GraphQuestion question =
      ask(5, {{0, 1}, {0, 2}, {0, 1}, {3, 1}, {3, 3}}, Collective::alltoall, 100);
  const std::vector<GraphAnswer> rows = analyze(question, graph_linear);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].variant, "");
  EXPECT_EQ(rows[0].traffic.most_out, 2);
  EXPECT_EQ(rows[0].traffic.most_in, 2);
  EXPECT_EQ(rows[0].traffic.messages, 3);
  EXPECT_EQ(rows[0].traffic.most_blocks_out, 3);
  EXPECT_EQ(rows[0].bytes, 300u);
  EXPECT_EQ(rows[0].rounds, 2);
  EXPECT_EQ(rows[0].crossover_bytes, 0);
  EXPECT_TRUE(rows[0].proven);
  EXPECT_GT(rows[0].predicted, 0);
}

TEST(Compare, EveryAlgorithmIsProvenOrSaysWhyNot) {
  std::mt19937 random(7);
  for (const AlgorithmRow& known : algorithms())
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const GraphQuestion question =
          ask(24, graphs::random_targets(24, 6, random), collective, 32, 4);
      if (!known.graphs) continue;
      for (const GraphAnswer& row : analyze(question, *known.graphs)) {
        EXPECT_EQ(row.algorithm, known.name);
        EXPECT_NE(row.proven, !row.reason.empty()) << row.algorithm;
        if (!row.reason.empty()) continue;
        EXPECT_GE(row.rounds, row.traffic.stages) << row.algorithm;
        EXPECT_TRUE(row.crossover_bytes.has_value()) << row.algorithm;
        EXPECT_EQ(make_plan(question, *known.graphs, row.variant, 23).rank(), 23);
      }
    }
}

TEST(Compare, LargeGraphsAreProvenOnRequestOnly) {
  std::mt19937 random(1);
  const GraphQuestion question = ask(3000, graphs::random_targets(3000, 2, random));
  EXPECT_FALSE(analyze(question, graph_linear)[0].proven);
  EXPECT_TRUE(analyze(question, graph_linear, Proving::always)[0].proven);
  EXPECT_FALSE(analyze(ask(2, {{0, 1}}), graph_linear, Proving::never)[0].proven);
}

TEST(Compare, UnknownVariantsAndRanksAreRefused) {
  const GraphQuestion question = ask(2, {{0, 1}});
  EXPECT_EQ(test::error_of([&] { make_plan(question, graph_linear, "fast", 0); }).code(),
            Errc::algorithm);
  EXPECT_EQ(test::error_of([&] { make_plan(question, graph_linear, "", 2); }).code(),
            Errc::argument);
}

TEST(Compare, AGraphWithoutEdgesTakesNoTime) {
  const GraphAnswer row = analyze(ask(3, {}), graph_linear)[0];
  EXPECT_EQ(row.predicted, 0);
  EXPECT_EQ(row.rounds, 0);
  EXPECT_TRUE(row.proven);
}

}  // namespace
}  // namespace tonari
