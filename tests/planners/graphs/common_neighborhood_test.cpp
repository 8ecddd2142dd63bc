// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/spread.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace graphs;

// Only messages cost anything: everything is shared that can be.
LogGP only_messages() {
  LogGP machine;
  machine.L = 0, machine.G = 0, machine.g = machine.o;
  return machine;
}

std::vector<GraphVariant> plan_ways(std::span<const Vertex> vertices, double bytes,
                                    const LogGP& machine) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  const GraphTask task{Collective::allgather, bytes, machine};
  return graph_common_neighborhood.variants(bsp, vertices, facts, task);
}

Traffic traffic_of(std::span<const Vertex> vertices, const GraphVariant& way) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return gather_traffic(bsp, way.relays());
}

GraphVariant linear_way(std::span<const Vertex> vertices) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return graph_linear
      .variants(bsp, vertices, gather_facts(bsp, vertices), {Collective::allgather, 8, {}})
      .front();
}

void expect_proven_ways(std::span<const Vertex> vertices, const std::vector<GraphVariant>& ways,
                        unsigned seed) {
  const std::int64_t linear = traffic_of(vertices, linear_way(vertices)).most_out;
  for (const GraphVariant& way : ways) {
    const Proof proof = prove(plans(vertices, Collective::allgather, way),
                              expected_delivery(vertices, Collective::allgather, odd_bytes), seed);
    ASSERT_TRUE(proof) << way.variant() << ", seed " << seed << ": " << proof.what;
    ASSERT_LE(traffic_of(vertices, way).most_out, linear) << way.variant() << ", seed " << seed;
    for (const Relay& relay : way.relays()) {
      std::set<BlockId> arrived;
      for (const Hop& hop : relay.in)
        ASSERT_TRUE(arrived.insert(hop.block).second) << "a block came twice, seed " << seed;
    }
  }
}

// Groups of `size` ranks; every rank sends to `common` ranks behind the groups, the same ones for
// all of a communicator, and to `own` others.
Edges clustered(int ranks, int size, int common, int own, std::mt19937& random) {
  Edges edges;
  for (int first = 0; first + size <= ranks; first += size) {
    std::set<int> targets;
    while (static_cast<int>(targets.size()) < common)
      if (const int t = static_cast<int>(random() % ranks); t < first || t >= first + size)
        targets.insert(t);
    for (int r = first; r < first + size; ++r) {
      for (int t : targets) edges.emplace_back(r, t);
      for (int k = 0; k < own; ++k) edges.emplace_back(r, static_cast<int>(random() % ranks));
    }
  }
  return edges;
}

TEST(CommonNeighborhood, EveryWayIsProvenOnAnyGraph) {
  std::mt19937 random(11);
  int shared = 0, fours = 0, eights = 0;
  for (unsigned seed = 0; seed < test::random_cases(1000u); ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 40);
    const std::vector<GraphVariant> ways =
        plan_ways(vertices, 8, random() % 4 ? only_messages() : LogGP{});
    expect_proven_ways(vertices, ways, seed);
    if (HasFatalFailure()) return;
    shared += !ways.empty() && ways.front().variant() == "pairs";
    fours += ways.size() >= 2;
    eights += ways.size() >= 3;
  }
  EXPECT_GT(shared, test::random_cases(300));
  EXPECT_GT(fours, test::random_cases(200));
  EXPECT_GT(eights, test::random_cases(30));
}

TEST(CommonNeighborhood, EveryWayIsProvenOnClusteredGraphs) {
  std::mt19937 random(12);
  int fours = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const int size = 2 + static_cast<int>(random() % 7),
              ranks = size * (2 + static_cast<int>(random() % 5)) + static_cast<int>(random() % 3);
    const int common = std::min(ranks - size, 1 + static_cast<int>(random() % 16));
    std::vector<Vertex> vertices =
        make(ranks, clustered(ranks, size, common, static_cast<int>(random() % 3), random));
    disturb(vertices, random);
    const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
    expect_proven_ways(vertices, ways, seed);
    if (HasFatalFailure()) return;
    fours += ways.size() >= 2;
  }
  EXPECT_GT(fours, 60);
}

// Where it would switch itself off as well.
TEST(CommonNeighborhood, CopesWithNothing) {
  const std::vector<std::vector<Vertex>> graphs{make(1, {}),          make(1, {{0, 0}}),
                                                make(5, {}),          make(2, {{0, 1}}),
                                                make(2, complete(2)), make(6, star_in(6))};
  for (const std::vector<Vertex>& vertices : graphs)
    for (const LogGP& machine : {LogGP{}, only_messages()}) {
      const std::vector<GraphVariant> ways = plan_ways(vertices, 8, machine);
      ASSERT_EQ(ways.size(), 1u);
      expect_proven_ways(vertices, ways, 1);
      EXPECT_EQ(ways.front().variant(), "nobody shares");
    }
}

// A periodic grid of 12 x 12 where all within distance 2 are neighbors: 24 targets. Ranks side by
// side have 18 of them in common, and each other.
TEST(CommonNeighborhood, NeighborsOfAGridShare) {
  Edges edges;
  for (int r = 0; r < 144; ++r)
    for (int dy = 10; dy <= 14; ++dy)
      for (int dx = 10; dx <= 14; ++dx)
        if (dy != 12 || dx != 12)
          edges.emplace_back(r, (r / 12 + dy) % 12 * 12 + (r % 12 + dx) % 12);
  const std::vector<Vertex> vertices = make(144, edges);
  const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
  expect_proven_ways(vertices, ways, 1);
  EXPECT_EQ(ways.front().variant(), "pairs");
  const Traffic traffic = traffic_of(vertices, ways.front());
  EXPECT_EQ(traffic.most_out, 1 + 9 + 5);
  EXPECT_EQ(traffic.blocks, 144 * 24);
}

// All send to all: pairs send to half of the others and to each other; every level halves that and
// adds a message.
TEST(CommonNeighborhood, HalvesTheMessagesOfCompleteGraphs) {
  for (const int ranks : {16, 32, 64}) {
    const std::vector<Vertex> vertices = make(ranks, complete(ranks));
    const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
    ASSERT_GE(ways.size(), 2u);
    expect_proven_ways(vertices, ways, 1);
    std::int64_t expected = ranks - 1;
    for (std::size_t level = 0; level < 2; ++level) {
      const Traffic traffic = traffic_of(vertices, ways[level]);
      // Without the partner the targets are split in two; later partners stand with the same
      // halves, up to the one target that is missing in each.
      expected = level == 0 ? (ranks - 2 + 1) / 2 + 1 : 1 + 1 + (expected - 1) / 2 + 1;
      EXPECT_LE(traffic.most_out, expected) << ranks << ' ' << ways[level].variant();
      EXPECT_EQ(traffic.blocks, static_cast<std::int64_t>(ranks) * (ranks - 1))
          << "nobody gets a block that is not for it, and none twice";
      EXPECT_EQ(traffic.stages, static_cast<std::int64_t>(level) + 2);
    }
  }
}

// One of an odd number finds no partner at first; it is helped next.
TEST(CommonNeighborhood, TheOneLeftOverIsHelpedNext) {
  const std::vector<Vertex> vertices = make(31, complete(31));
  const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
  ASSERT_GE(ways.size(), 2u);
  expect_proven_ways(vertices, ways, 1);
  EXPECT_EQ(traffic_of(vertices, ways[0]).most_out, 30);
  EXPECT_LE(traffic_of(vertices, ways[1]).most_out, 17);
}

// Groups of 4 with 24 common targets: 24 messages, 12 + 1 in pairs, 6 + 2 in fours; 24 ranks
// receive from each group.
TEST(CommonNeighborhood, QuartersTheMessagesOfClusters) {
  std::mt19937 random(5);
  const std::vector<Vertex> vertices = make(80, clustered(80, 4, 24, 0, random));
  const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
  ASSERT_GE(ways.size(), 2u);
  expect_proven_ways(vertices, ways, 1);
  EXPECT_EQ(ways[0].variant(), "pairs");
  EXPECT_EQ(traffic_of(vertices, ways[0]).most_out, 13);
  EXPECT_EQ(traffic_of(vertices, ways[1]).most_out, 8);
  EXPECT_EQ(traffic_of(vertices, ways[0]).blocks, 80 * 24 + 80);  // and one between partners
}

// One rank sends to all, another to half of them: that one takes over until both have as many to
// send to.
TEST(CommonNeighborhood, TheBusyOneGivesMore) {
  Edges edges = star_out(34, 0);
  for (int t = 2; t < 18; ++t) edges.emplace_back(1, t);
  const std::vector<Vertex> vertices = make(34, edges);
  const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
  ASSERT_FALSE(ways.empty());
  expect_proven_ways(vertices, ways, 1);
  // 16 of its own and one to the helper, who has 16
  EXPECT_EQ(traffic_of(vertices, ways.front()).most_out, 17);
}

TEST(CommonNeighborhood, SharesOnlyWhereItPays) {
  const std::vector<Vertex> vertices = make(16, complete(16));
  EXPECT_EQ(plan_ways(vertices, 8, LogGP{}).front().variant(), "pairs");
  // the latency of every level counts
  EXPECT_LT(plan_ways(vertices, 8, LogGP{}).size(), plan_ways(vertices, 8, only_messages()).size());
  EXPECT_EQ(plan_ways(vertices, 1 << 20, LogGP{}).front().variant(), "nobody shares");
  const std::vector<Vertex> loose = make(16, {{0, 1}, {0, 2}, {0, 3}, {4, 3}, {4, 6}, {4, 7}});
  ASSERT_EQ(plan_ways(loose, 8, only_messages()).size(), 1u);
  EXPECT_EQ(plan_ways(loose, 8, only_messages()).front().variant(), "nobody shares");
  expect_proven_ways(loose, plan_ways(loose, 8, only_messages()), 1);

  LocalBspComm bsp(16);
  const GraphFacts facts = gather_facts(bsp, vertices);
  EXPECT_EQ(graph_common_neighborhood.pays(facts, {Collective::allgather, 8, {}}), "");
  EXPECT_NE(graph_common_neighborhood.pays(facts, {Collective::allgather, 1 << 20, {}}), "");
  EXPECT_NE(graph_common_neighborhood.applicable(facts, {Collective::alltoall, 8, {}}), "");
  EXPECT_NE(graph_common_neighborhood.pays({}, {Collective::allgather, 8, {}}), "");
}

TEST(CommonNeighborhood, DoesNotDependOnProcesses) {
  std::mt19937 random(21);
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    const GraphTask task{Collective::allgather, 8, only_messages()};
    expect_same_however_spread(graph_common_neighborhood, vertices, task, random);
  }
}

// Work stays near the number of edges, also where a target has very many sources.
TEST(CommonNeighborhood, TenThousandRanks) {
  std::mt19937 random(7);
  Edges edges = random_targets(10000, 24, random);
  for (int r = 0; r < 10000; ++r)
    for (int t = 0; t < 8; ++t) edges.emplace_back(r, t * 1250);  // eight whom all send to
  const std::vector<Vertex> vertices = make(10000, edges);
  const std::vector<GraphVariant> ways = plan_ways(vertices, 8, only_messages());
  ASSERT_FALSE(ways.empty());
  EXPECT_EQ(ways.front().variant(), "pairs");
  // half of those eight's messages, and who found no partner
  EXPECT_LE(traffic_of(vertices, ways.front()).most_in, 5500);
  EXPECT_LE(traffic_of(vertices, ways.front()).messages,
            traffic_of(vertices, linear_way(vertices)).messages * 29 / 32);
}

}  // namespace
}  // namespace tonari
