// SPDX-License-Identifier: BSD-3-Clause
// "Is possible" and "pays" are two questions: what is asked for by name runs on every machine.
#include <gtest/gtest.h>

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/spread.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace graphs;

// A second of latency, and expensive bytes: nothing is worth a detour.
LogGP far_away() {
  LogGP m;
  m.L = 1, m.o = m.g = 1e-6, m.G = 1e-3, m.copy_byte = 1e-3;
  return m;
}

GraphTask forced(Collective collective, double bytes = 1 << 16) {
  return {collective, bytes, far_away(), true};
}

std::vector<GraphVariant> variants(const GraphPlanner& planner, std::span<const Vertex> vertices,
                                   const GraphTask& task) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return planner.variants(bsp, vertices, gather_facts(bsp, vertices), task);
}

Traffic traffic(const GraphVariant& variant) {
  LocalBspComm bsp(static_cast<int>(variant.relays().size()));
  return gather_traffic(bsp, variant.relays());
}

TEST(Forced, EveryAlgorithmIsProvenWhereItDoesNotPay) {
  std::mt19937 random(31);
  for (unsigned seed = 0; seed < test::random_cases(60u) && !HasFailure(); ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 20);
    for (const AlgorithmRow& row : algorithms())
      for (Collective collective : {Collective::alltoall, Collective::allgather})
        if (row.graphs) expect_proven(*row.graphs, vertices, forced(collective), seed);
  }
}

TEST(Forced, EveryAlgorithmIsProvenOnFewRanks) {
  for (const AlgorithmRow& row : algorithms())
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      for (int ranks = 1; row.graphs && ranks <= 5; ++ranks) {
        expect_proven(*row.graphs, make(ranks, {}), forced(collective), 1);
        expect_proven(*row.graphs, make(ranks, {{0, ranks - 1}, {0, 0}}), forced(collective), 1);
        expect_proven(*row.graphs, make(ranks, complete(ranks), {ranks}), forced(collective), 1);
      }
}

TEST(Forced, DoesNotDependOnProcesses) {
  std::mt19937 random(32);
  for (int k = 0; k < 8; ++k) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    for (const AlgorithmRow& row : algorithms())
      if (row.graphs && row.graphs->applicable({24}, forced(Collective::allgather)).empty())
        expect_same_however_spread(*row.graphs, vertices, forced(Collective::allgather), random);
  }
}

// Hoefler 2012, Fig. 4: a hot spot.
TEST(Forced, ATreeGrowsOnThePapersStar) {
  const std::vector<Vertex> vertices = make(16, star_out(16));
  LocalBspComm bsp(16);
  const GraphFacts facts = gather_facts(bsp, vertices);
  for (Collective collective : {Collective::alltoall, Collective::allgather}) {
    const GraphTask task = forced(collective, collective == Collective::alltoall ? 1 << 16 : 1);
    const Objection against = objection(graph_tree, facts, task);
    EXPECT_TRUE(against.plans(task));
    EXPECT_EQ(against.impossible, "");
    EXPECT_NE(against.unpaying, "");
    GraphTask free = task;
    free.forced = false;
    EXPECT_FALSE(objection(graph_tree, facts, free).plans(free));
    for (const GraphVariant& variant : variants(graph_tree, vertices, task)) {
      EXPECT_LE(traffic(variant).most_out, 8) << variant.variant() << " " << name(collective);
      EXPECT_GE(traffic(variant).stages, 3) << variant.variant() << " " << name(collective);
    }
  }
}

// The paper's formula has o, L and G, but asks for no gain. (m+s)/2 - s - ceil(L/o) = 7 - 2 of 15.
TEST(Forced, ThePapersTreeAsksForNothingButThePapersFormula) {
  const std::vector<Vertex> vertices = make(16, star_out(16));
  GraphTask task = forced(Collective::alltoall, 1 << 20);
  task.machine.L = 2e-6;
  const GraphVariant paper = variants(graph_tree, vertices, task).front();
  ASSERT_EQ(paper.variant(), "paper");
  EXPECT_EQ(paper.relays()[1].out.size(), 5u);
}

TEST(Forced, RanksWithCommonTargetsShareThem) {
  const std::vector<Vertex> vertices = make(16, complete(16));
  const GraphTask task = forced(Collective::allgather);
  const std::vector<GraphVariant> all = variants(graph_common_neighborhood, vertices, task);
  EXPECT_EQ(all.front().variant(), "pairs");
  EXPECT_LT(traffic(all.front()).most_out, 15);
}

TEST(Forced, StoreAndForwardHasEveryNumberOfDimensions) {
  const std::vector<Vertex> vertices = make(32, complete(32));
  std::vector<std::string> names;
  for (const GraphVariant& v :
       variants(graph_store_and_forward, vertices, forced(Collective::alltoall)))
    names.push_back(v.variant());
  EXPECT_EQ(names, (std::vector<std::string>{"2", "3", "4", "5"}));
}

TEST(Forced, WhatIsImpossibleStaysImpossible) {
  const GraphTask task = forced(Collective::alltoall);
  EXPECT_NE(objection(graph_common_neighborhood, {8, 1, 8, 56, 7, 7, 56}, task).impossible, "");
  EXPECT_FALSE(objection(graph_common_neighborhood, {8, 1, 8, 56, 7, 7, 56}, task).plans(task));
  EXPECT_NE(objection(graph_store_and_forward, {3, 1, 3, 6, 2, 2, 6}, task).impossible, "");
}

}  // namespace
}  // namespace tonari
