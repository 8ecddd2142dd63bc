// SPDX-License-Identifier: BSD-3-Clause
// Where ranks know the bytes of each edge, trees, rounds and prices are made of these, not of the
// average.
#include "planners/graphs/volumes.hpp"

#include <gtest/gtest.h>

#include "analysis/compare.hpp"
#include "planners/graphs/coloring.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/graphs/spread.hpp"
#include "select/price.hpp"

namespace tonari {
namespace {

using namespace graphs;

LogGP network() {
  LogGP m;
  m.L = 1e-6, m.o = m.g = 1e-6, m.G = 1e-9, m.copy_byte = 1e-10;
  return m;
}

// bytes(from, to)
template <class Bytes>
std::vector<Vertex> sized(std::vector<Vertex> vertices, Bytes bytes) {
  for (Vertex& v : vertices)
    for (std::int32_t target : v.targets) v.bytes.push_back(target < 0 ? 0 : bytes(v.rank, target));
  return vertices;
}

std::vector<GraphVariant> variants_of(const GraphPlanner& planner, std::span<const Vertex> vertices,
                                      GraphTask task) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return planner.variants(bsp, vertices, gather_facts(bsp, vertices), task);
}

Volumes volumes(std::span<const Vertex> vertices, const GraphVariant& way, Collective collective) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return gather_volumes(bsp, vertices, collective, way.relays());
}

// Who passes a block on counts its bytes again.
TEST(Volumes, AreThoseOfEveryHop) {
  const auto bytes = [](int from, int to) { return 1000u * from + to; };
  std::vector<Vertex> vertices = sized(make(4, {{0, 1}, {0, 2}, {0, 3}, {2, 3}}), bytes);
  const GraphTask task{Collective::alltoall, 8, network()};
  const Volumes straight =
      volumes(vertices, variants_of(graph_linear, vertices, task).front(), task.collective);
  EXPECT_EQ(straight.total, 1 + 2 + 3 + 2003);
  EXPECT_EQ(straight.most_out, 2003);
  EXPECT_EQ(straight.most_in, 3 + 2003);
  std::vector<Relay> relays(4);  // the block for 3 goes over 1
  relays[0].out = {{0, 1, {0, 0}}, {0, 1, {0, 2}}, {0, 2, {0, 1}}};
  relays[1].in = {{0, 0, {0, 0}}, {0, 0, {0, 2}}};
  relays[1].out = {{1, 3, {0, 2}}};
  relays[2].out = {{0, 3, {2, 0}}};
  LocalBspComm bsp(4);
  const Volumes over = gather_volumes(bsp, vertices, Collective::alltoall, relays);
  EXPECT_EQ(over.total, 1 + 2 + 3 + 3 + 2003);
  EXPECT_EQ(over.most_in, 3 + 2003);
}

TEST(Volumes, DoNotDependOnProcesses) {
  std::mt19937 random(41);
  for (int k = 0; k < 20; ++k) {
    const std::vector<Vertex> vertices =
        sized(any_graph(random, 24), [](int from, int to) { return 7u * from + 3u * to % 50 + 1; });
    for (const GraphPlanner* planner : {&graph_tree, &graph_coloring})
      expect_same_however_spread(*planner, vertices, {Collective::alltoall, 40, network(), true},
                                 random);
  }
}

// A hot spot with a heavy block for every other rank, and light ones: on average they are too heavy
// to be passed on.
TEST(Volumes, ATreePassesOnTheLightBlocks) {
  const auto heavy = [](int to) { return to % 2 == 0; };
  const std::vector<Vertex> vertices =
      sized(make(64, star_out(64)), [&](int, int to) { return heavy(to) ? 1u << 20 : 8u; });
  const GraphTask task{Collective::alltoall, (1 << 19) + 4, network()};
  LocalBspComm bsp(64);
  const GraphFacts facts = gather_facts(bsp, vertices);
  EXPECT_EQ(objection(graph_tree, facts, task).reason(), "");
  GraphFacts alike = facts;
  alike.sized = false;
  EXPECT_NE(objection(graph_tree, alike, task).reason(), "");
  for (const GraphVariant& way : variants_of(graph_tree, vertices, task)) {
    EXPECT_LT(gather_traffic(bsp, way.relays()).most_out, 63) << way.variant();
    for (int r = 1; r < 64; ++r)
      for (const Hop& hop : way.relays()[r].out)
        EXPECT_FALSE(heavy(vertices[0].targets[hop.block.block])) << way.variant();
    EXPECT_LT(volumes(vertices, way, task.collective).total, 32 * (1 << 20) + 8 * 64 * 8);
  }
}

// Sum over the rounds of what the slowest edge of each takes.
std::uint64_t length(std::span<const Vertex> vertices, std::span<const Vertex> weights) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const Coloring coloring = color_edges(bsp, vertices);
  std::vector<std::uint64_t> most(static_cast<std::size_t>(coloring.colors), 0);
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Side& side = coloring.edges.senders[k];
    for (std::size_t i = 0; i < vertices[k].targets.size(); ++i) {
      const auto round = static_cast<std::size_t>(side.colors[side.edge(vertices[k].targets[i])]);
      most[round] = std::max(most[round], weights[k].bytes[i]);
    }
  }
  return std::accumulate(most.begin(), most.end(), std::uint64_t{0});
}

TEST(Volumes, HeavyEdgesShareRounds) {
  std::mt19937 random(42);
  std::uint64_t with = 0, without = 0;
  for (int k = 0; k < 30; ++k) {
    const std::vector<Vertex> plain = make(24, erdos_renyi(24, 0.4, random));
    const std::vector<Vertex> heavy =
        sized(plain, [&](int, int) { return random() % 4 == 0 ? 1u << 20 : 16u; });
    with += length(heavy, heavy), without += length(plain, heavy);
  }
  EXPECT_LT(static_cast<double>(with), 0.85 * static_cast<double>(without));
}

// One rank sends few blocks, which are long: the busiest by bytes is not the busiest by blocks.
TEST(Volumes, PricesCountTheBytesOfTheBusiest) {
  Edges edges{{1, 0}};
  for (int t = 2; t < 12; ++t) edges.emplace_back(0, t);
  const std::vector<Vertex> vertices =
      sized(make(12, edges), [](int from, int) { return from == 1 ? 10'000'000u : 8u; });
  LocalBspComm bsp(12);
  GraphVariant linear = std::move(
      variants_of(graph_linear, vertices, {Collective::alltoall, 909098, network()}).front());
  linear.gather(bsp);
  ASSERT_TRUE(linear.volumes());
  const double seconds = price(linear, {{}, 909098}, network(), {});
  EXPECT_GT(seconds, 0.010);
  EXPECT_LT(seconds, 0.0115);  // the average says 10 * 909,098 bytes at the other rank, and copies
}

// Where a message is copied at both ends, also the one that is a single block is.
TEST(Volumes, PricesCountTheCopiesOfSingleBlocks) {
  const std::vector<Vertex> vertices = make(2, {{0, 1}, {1, 0}});
  LocalBspComm bsp(2);
  GraphVariant linear = std::move(
      variants_of(graph_linear, vertices, {Collective::alltoall, 1e6, network()}).front());
  linear.gather(bsp);
  LogGP memory = network();
  memory.g = memory.G = 0, memory.copy_byte = 1e-9;
  const auto seconds = [&](double bytes, bool direct) {
    return price(linear, {{}, bytes}, memory, {false, 0, direct});
  };
  EXPECT_NEAR(seconds(2e6, false) - seconds(1e6, false), 2e-3, 1e-9);  // out and in
  EXPECT_NEAR(seconds(2e6, true) - seconds(1e6, true), 0, 1e-9);
}

// `tonari plan --graph --weights`: simulated with the bytes of each block, on its way, too.
TEST(Volumes, ComparisonsUseTheBytesOfEveryEdge) {
  const std::vector<std::int32_t> from{0, 0, 0, 1}, to{1, 2, 3, 0};
  const std::vector<std::uint64_t> bytes{8, 8, 8, 50'000'000};
  const GraphQuestion question = make_question(make_vertices(4, from, to, 1, bytes),
                                               Collective::alltoall, 64, network(), true);
  for (const AlgorithmRow& row : algorithms())
    if (row.graphs && row.graphs != &graph_common_neighborhood)
      for (const GraphAnswer& answer : analyze(question, *row.graphs)) {
        EXPECT_GE(answer.bytes, 50'000'000u) << answer.algorithm << " " << answer.variant;
        EXPECT_LT(answer.bytes, 50'000'100u) << answer.algorithm << " " << answer.variant;
        EXPECT_GT(answer.predicted, 0.05) << answer.algorithm << " " << answer.variant;
        EXPECT_TRUE(answer.proven);
      }
}

}  // namespace
}  // namespace tonari
