// SPDX-License-Identifier: BSD-3-Clause
// store-and-forward, message-sharing and balanced: the planners for irregular patterns.
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/graphs/spread.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "support/random_cases.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

using namespace graphs;

const GraphPlanner* const planners[] = {&graph_store_and_forward, &graph_message_sharing,
                                        &graph_balanced};

// Random ranks send to random ranks, both with a power law: rank i of a random order with weight (1
// + i)^-exponent.
Edges power_law(int ranks, double average, double out, double in, std::mt19937& random) {
  const auto weights = [&](double exponent) {
    std::vector<double> all(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) all[static_cast<std::size_t>(i)] = std::pow(1 + i, -exponent);
    std::shuffle(all.begin(), all.end(), random);
    return std::discrete_distribution<int>(all.begin(), all.end());
  };
  std::discrete_distribution<int> from = weights(out), to = weights(in);
  std::set<std::pair<int, int>> edges;
  while (edges.size() < static_cast<std::size_t>(average * ranks))
    if (const std::pair edge{from(random), to(random)}; edge.first != edge.second)
      edges.insert(edge);
  return {edges.begin(), edges.end()};
}

// All kinds on so many ranks, with repeated edges, self edges, silent ranks, hubs, holes and other
// orders of the lists.
std::vector<Vertex> irregular_graph(int ranks, unsigned kind, std::mt19937& random) {
  Edges edges;
  if (kind == 0) edges = erdos_renyi(ranks, 0.3, random);
  if (kind == 1) edges = random_targets(ranks, 6, random);
  if (kind == 2) edges = star_out(ranks, ranks / 2);
  if (kind == 3) edges = star_in(ranks, ranks / 3);
  if (kind == 4) edges = complete(ranks);
  if (kind == 5) edges = scale_free(ranks, 3, random);
  if (kind == 6)
    for (int hub : {0, ranks / 2, ranks - 1})
      for (int r = 0; r < ranks; ++r) edges.insert(edges.end(), {{hub, r}, {r, hub}});
  const int silent = static_cast<int>(random() % static_cast<unsigned>(2 * ranks));
  std::erase_if(edges,
                [&](const auto& edge) { return edge.first == silent || edge.second == silent; });
  for (std::size_t k = 0; k < 5 && !edges.empty(); ++k)
    edges.push_back(edges[random() % edges.size()]);
  edges.emplace_back(random() % static_cast<unsigned>(ranks),
                     random() % static_cast<unsigned>(ranks));
  std::vector<Vertex> all = make(ranks, edges);
  disturb(all, random);
  return all;
}

std::vector<GraphVariant> plan_ways(const GraphPlanner& algorithm,
                                    const std::vector<Vertex>& vertices, const GraphTask& task) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return algorithm.variants(bsp, vertices, gather_facts(bsp, vertices), task);
}

// Also where they would refuse because it does not pay.
TEST(Irregular, EveryWayIsProvenOnAnyGraph) {
  std::mt19937 random(7);
  int ways = 0;
  for (int ranks : {1, 2, 3, 5, 8, 16, 27, 64})
    for (unsigned seed = 0; seed < test::random_cases(ranks < 27 ? 42u : 28u); ++seed) {
      const std::vector<Vertex> vertices = irregular_graph(ranks, seed % 7, random);
      for (Collective collective : {Collective::alltoall, Collective::allgather})
        for (const GraphPlanner* algorithm : planners)
          for (const GraphVariant& way : plan_ways(*algorithm, vertices, {collective, 8, {}})) {
            const Proof proof = prove(plans(vertices, collective, way),
                                      expected_delivery(vertices, collective, odd_bytes), seed);
            ASSERT_TRUE(proof) << algorithm->name << ' ' << way.variant() << ' ' << name(collective)
                               << ", " << ranks << " ranks, seed " << seed << ": " << proof.what;
            ++ways;
          }
    }
  EXPECT_GT(ways, test::random_cases(3000));
}

TEST(Irregular, DoesNotDependOnProcesses) {
  std::mt19937 random(8);
  for (unsigned seed = 0; seed < test::random_cases(28u); ++seed) {
    const std::vector<Vertex> vertices =
        irregular_graph(4 + static_cast<int>(random() % 30), seed % 7, random);
    for (const GraphPlanner* algorithm : planners)
      expect_same_however_spread(*algorithm, vertices,
                                 {seed % 2 ? Collective::alltoall : Collective::allgather, 8, {}},
                                 random);
  }
}

TEST(Irregular, StoreAndForwardKeepsTheBoundsOfTheMesh) {
  std::mt19937 random(9);
  for (int ranks : {4, 7, 16, 27, 64, 101}) {
    const std::vector<Vertex> vertices =
        make(ranks, power_law(ranks, ranks / 3., 0.5, 0.5, random));
    std::vector<int> dimensions{2, 3, most_dimensions(ranks)};
    std::erase_if(dimensions, [&](int n) { return n > most_dimensions(ranks); });
    dimensions.erase(std::unique(dimensions.begin(), dimensions.end()), dimensions.end());
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const std::vector<GraphVariant> ways =
          plan_ways(graph_store_and_forward, vertices, {collective, 8, {}});
      ASSERT_EQ(ways.size(), dimensions.size());
      for (std::size_t w = 0; w < ways.size(); ++w) {
        LocalBspComm bsp(ranks);
        const Traffic traffic = gather_traffic(bsp, ways[w].relays());
        std::int64_t most = 0;
        for (int size : virtual_topology(ranks, dimensions[w])) most += size - 1;
        EXPECT_EQ(ways[w].variant(), std::to_string(dimensions[w]));
        EXPECT_LE(traffic.most_out, most) << ranks << ' ' << ways[w].variant();
        EXPECT_LE(traffic.most_in, 2 * most) << ranks << ' ' << ways[w].variant();
        EXPECT_LE(traffic.stages, dimensions[w]);
        EXPECT_LE(traffic.blocks, dimensions[w] * gather_facts(bsp, vertices).pairs);
      }
    }
  }
}

// In an allgather a block travels once per hop for all targets behind it: two for the first hop
// here, and so one message of one block.
TEST(Irregular, StoreAndForwardSendsABlockOncePerHop) {
  const std::vector<Vertex> vertices = make(9, {{0, 2}, {0, 5}, {0, 8}});  // 3 x 3: all by way of 2
  const std::vector<Relay> relays =
      plan_ways(graph_store_and_forward, vertices, {Collective::allgather, 8, {}}).front().relays();
  EXPECT_EQ(relays[0].out, (std::vector<Hop>{{0, 2, {0, 0}}}));
  EXPECT_EQ(relays[2].out, (std::vector<Hop>{{1, 5, {0, 0}}, {1, 8, {0, 0}}}));
}

const GraphVariant& find_way(const std::vector<GraphVariant>& ways, const std::string& variant) {
  const auto way = std::ranges::find(ways, variant, &GraphVariant::variant);
  if (way == ways.end()) throw std::invalid_argument("no variant " + variant);
  return *way;
}

struct Counts {
  // messages of the busiest sender; of the rank that sends and receives most
  std::int64_t most_out, most_both;
  double average;
};

Counts count_messages(const GraphVariant& way) {
  Counts counts{0, 0, 0};
  for (const Relay& relay : way.relays()) {
    std::set<std::pair<int, int>> out, in;
    for (const Hop& hop : relay.out) out.insert({hop.stage, hop.peer});
    for (const Hop& hop : relay.in) in.insert({hop.stage, hop.peer});
    counts.most_out = std::max(counts.most_out, static_cast<std::int64_t>(out.size()));
    counts.most_both =
        std::max(counts.most_both, static_cast<std::int64_t>(out.size() + in.size()));
    counts.average += static_cast<double>(out.size()) / static_cast<double>(way.relays().size());
  }
  return counts;
}

// The same messages for the busiest rank as the central algorithm, or nearly, though nobody knows
// the pattern.
TEST(Irregular, MessageSharingIsNearlyAsGoodAsFromAbove) {
  const struct {
    int ranks;
    double average, out, in;
    unsigned seeds;
  } patterns[] = {{64, 12, 0.8, 0.5, 4},
                  {64, 6, 0.4, 0.2, 4},
                  {512, 30, 0.7, 0.5, 2},
                  {512, 8, 0.3, 0.2, 2},
                  {4096, 10, 0.4, 0.2, 1}};
  for (const auto& p : patterns)
    for (unsigned seed = 1; seed <= p.seeds; ++seed) {
      std::mt19937 random(seed);
      const Edges edges = power_law(p.ranks, p.average, p.out, p.in, random);
      std::vector<Flow> flows;
      for (const auto& [from, to] : edges) flows.push_back({from, to, 1});
      const CommunicationMatrix matrix(p.ranks, flows);
      const MatrixStatistics before = matrix.statistics(),
                             central = second_hop_matrix(matrix, share_common_messages(matrix))
                                           .statistics();
      const std::vector<GraphVariant> ways =
          plan_ways(graph_message_sharing, make(p.ranks, edges), {Collective::alltoall, 8, {}});
      ASSERT_EQ(ways.front().variant(), "paper");
      const Counts paper = count_messages(ways.front());
      SCOPED_TRACE(testing::Message()
                   << p.ranks << " ranks, " << p.average << " messages on average, "
                   << before.most_sent << " at most, seed " << seed << ": " << paper.most_out
                   << " and " << paper.average << ", central " << central.most_sent << " and "
                   << central.average_sent);
      EXPECT_LT(paper.most_out, before.most_sent);
      EXPECT_LE(static_cast<double>(paper.most_out), 1.15 * central.most_sent);
      EXPECT_LE(paper.average, 1.25 * central.average_sent);
      const Counts moved = count_messages(find_way(ways, "paper phase II")),
                   twice = count_messages(find_way(ways, "paper phase II in two steps"));
      const Counts whole = count_messages(find_way(ways, "whole pattern"));
      SCOPED_TRACE(testing::Message()
                   << "Phase II: " << moved.most_out << ", in two steps " << twice.most_out
                   << " and " << twice.average << ", whole pattern " << whole.most_out);
      EXPECT_LT(moved.most_out, paper.most_out);
      EXPECT_LE(static_cast<double>(twice.most_out),
                std::max(2.2 * static_cast<double>(whole.most_out), 1.5 * paper.average + 1));
      EXPECT_LE(twice.average, 1.15 * paper.average)
          << "a message more for a helper, one less for each that it takes";
    }
}

// One rank sends to all: nothing in common, so Phase I finds nothing, and Phase II leaves about
// sqrt(P) messages to everybody, or P^(1/3) in two steps.
TEST(Irregular, SecondPhaseSpreadsAHub) {
  for (int ranks : {16, 64, 256}) {
    const std::vector<GraphVariant> ways = plan_ways(
        graph_message_sharing, make(ranks, star_out(ranks)), {Collective::alltoall, 8, {}});
    EXPECT_EQ(count_messages(find_way(ways, "paper")).most_out, ranks - 1);
    EXPECT_LE(static_cast<double>(count_messages(find_way(ways, "paper phase II")).most_out),
              2 * std::sqrt(ranks) + 1)
        << ranks;
    EXPECT_LE(
        static_cast<double>(count_messages(find_way(ways, "paper phase II in two steps")).most_out),
        2 * std::cbrt(ranks) + 2)
        << ranks;
  }
}

// What is beyond a root's limits is planned without one.
TEST(Irregular, OnlyPatternsThatFitAreGathered) {
  GraphFacts facts;
  facts.ranks = 64, facts.edges = most_root_blocks;
  EXPECT_TRUE(fits_a_root(facts));
  ++facts.edges;
  EXPECT_FALSE(fits_a_root(facts));
  facts.edges = 0, facts.ranks = most_root_ranks + 1;
  EXPECT_FALSE(fits_a_root(facts));
  const Edges once = complete(64);
  Edges often;
  // 133,056 blocks
  for (int k = 0; k < 33; ++k) often.insert(often.end(), once.begin(), once.end());
  const std::vector<Vertex> dense = make(64, often);
  for (const GraphPlanner* algorithm : {&graph_message_sharing, &graph_balanced})
    for (const GraphVariant& way : plan_ways(*algorithm, dense, {Collective::alltoall, 8, {}}))
      EXPECT_FALSE(way.variant().starts_with("whole")) << way.variant();
}

// From above an allgather's block is one for each target; it comes to every rank once all the same,
// and not at all to those that pass it on to nobody.
TEST(Irregular, PlanningRootsSendABlockOnce) {
  std::mt19937 random(12);
  for (unsigned seed = 0; seed < test::random_cases(20u); ++seed) {
    const int ranks = 16 + static_cast<int>(random() % 80);
    const std::vector<Vertex> vertices =
        make(ranks, power_law(ranks, ranks / 4., 0.6, 0.4, random));
    for (const GraphPlanner* algorithm : {&graph_message_sharing, &graph_balanced}) {
      const GraphVariant all =
          find_way(plan_ways(*algorithm, vertices, {Collective::alltoall, 8, {}}), "whole pattern");
      const GraphVariant gather = find_way(
          plan_ways(*algorithm, vertices, {Collective::allgather, 8, {}}), "whole pattern");
      for (int r = 0; r < ranks; ++r) {
        std::set<BlockId> came;
        for (const Hop& hop : gather.relays()[static_cast<std::size_t>(r)].in)
          EXPECT_TRUE(came.insert(hop.block).second);
        EXPECT_LE(gather.relays()[static_cast<std::size_t>(r)].in.size(),
                  all.relays()[static_cast<std::size_t>(r)].in.size());
        for (const Hop& hop : gather.relays()[static_cast<std::size_t>(r)].in) {
          const auto& out = gather.relays()[static_cast<std::size_t>(r)].out;
          const auto& sources = vertices[static_cast<std::size_t>(r)].sources;
          EXPECT_TRUE(
              std::ranges::any_of(out, [&](const Hop& h) { return h.block == hop.block; }) ||
              std::ranges::find(sources, hop.block.origin) != sources.end());
        }
      }
    }
  }
}

// What relieves one rank may not make another one busier than the busiest was, at either end.
TEST(Irregular, LeveledAndBalancedMakeNobodyTheBusiest) {
  std::mt19937 random(10);
  int better = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int ranks = 8 + static_cast<int>(random() % 120);
    const std::vector<Vertex> vertices =
        seed % 2 ? irregular_graph(ranks, seed % 7, random)
                 : make(ranks, power_law(ranks, ranks / 6. + 1, 0.5, 0.4, random));
    const GraphTask task{seed % 3 ? Collective::alltoall : Collective::allgather, 8, {}};
    const Counts direct = count_messages(plan_ways(graph_linear, vertices, task).front());
    const GraphVariant levelled =
        find_way(plan_ways(graph_message_sharing, vertices, task), "levelled");
    EXPECT_LE(count_messages(levelled).most_both, direct.most_both) << "seed " << seed;
    for (const GraphVariant& way : plan_ways(graph_balanced, vertices, task)) {
      const Counts counts = count_messages(way);
      EXPECT_LE(counts.most_both, direct.most_both) << way.variant() << ", seed " << seed;
      better += 3 * counts.most_both < 2 * direct.most_both;
    }
  }
  EXPECT_GT(better, 60);
}

// Fig. 4.1 of the paper in small: two ranks with four common targets send two each, and one to each
// other.
TEST(Irregular, TwoRanksShareTheirCommonTargets) {
  const std::vector<Vertex> vertices =
      make(6, {{0, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 2}, {1, 3}, {1, 4}, {1, 5}});
  const std::vector<Relay> relays =
      plan_ways(graph_message_sharing, vertices, {Collective::alltoall, 8, {}}).front().relays();
  for (int r : {0, 1}) {
    std::set<int> first, last;
    for (const Hop& hop : relays[r].out) (hop.stage == 0 ? first : last).insert(hop.peer);
    EXPECT_EQ(first, (std::set<int>{1 - r}));
    EXPECT_EQ(last.size(), 2u);
  }
}

TEST(Irregular, SwitchThemselvesOff) {
  const auto reason = [](const GraphPlanner& algorithm, const std::vector<Vertex>& vertices,
                         const GraphTask& task) {
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    return objection(algorithm, gather_facts(bsp, vertices), task).reason();
  };
  std::mt19937 random(11);
  const std::vector<Vertex> steep = make(64, power_law(64, 12, 0.8, 0.5, random));
  for (const GraphPlanner* algorithm : planners) {
    EXPECT_EQ(reason(*algorithm, steep, {Collective::alltoall, 8, {}}), "");
    EXPECT_EQ(reason(*algorithm, steep, {Collective::allgather, 1 << 12, {}}), "")
        << "a block travels once per hop";
    EXPECT_NE(reason(*algorithm, steep, {Collective::alltoall, 1 << 20, {}}), "");
    EXPECT_NE(reason(*algorithm, make(64, complete(64)), {Collective::alltoall, 8, {}}), "")
        << "regular";
    EXPECT_NE(reason(*algorithm, make(64, {}), {Collective::alltoall, 8, {}}), "");
    EXPECT_NE(reason(*algorithm, make(1, {{0, 0}}), {Collective::allgather, 8, {}}), "");
    EXPECT_NE(reason(*algorithm, make(12, {{0, 1}, {0, 2}, {3, 1}, {4, 5}}),
                     {Collective::alltoall, 8, {}}),
              "")
        << "a few messages";
  }
  EXPECT_NE(reason(graph_message_sharing, make(64, star_out(64)), {Collective::alltoall, 8, {}}),
            "")
      << "nothing in common";
  EXPECT_EQ(reason(graph_store_and_forward, make(64, star_out(64)), {Collective::alltoall, 8, {}}),
            "");
}

}  // namespace
}  // namespace tonari
