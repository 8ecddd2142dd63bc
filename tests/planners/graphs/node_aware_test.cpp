// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/spread.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace graphs;

// node_of[r]: any number; equal ones are one node.
void put_on_nodes(std::vector<Vertex>& all, const std::vector<int>& node_of) {
  std::map<int, std::vector<std::int32_t>> ranks;
  for (const Vertex& v : all) ranks[node_of[v.rank]].push_back(v.rank);
  for (Vertex& v : all) {
    v.node_ranks = ranks[node_of[v.rank]];
    v.node = v.node_ranks.front();
  }
}

// Nodes of very different sizes; ranks of a node anywhere.
std::vector<int> scattered_nodes(std::size_t ranks, std::mt19937& random) {
  const unsigned nodes = 1 + random() % 6;
  const bool one_is_large = random() % 2;
  std::vector<int> node_of(ranks);
  for (int& node : node_of)
    node = one_is_large && random() % 2 ? 0 : static_cast<int>(random() % nodes);
  return node_of;
}

std::vector<int> blocked_nodes(int ranks, int size) {
  std::vector<int> node_of(ranks);
  for (int r = 0; r < ranks; ++r) node_of[r] = r / size;
  return node_of;
}

struct Result {
  std::vector<Vertex> vertices;
  std::vector<GraphVariant> ways;
  std::vector<GraphVariant> linear;
};

Result plan_ways(std::vector<Vertex> vertices, Collective collective) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  const GraphTask task{collective, 8, {}};
  Result result{std::move(vertices), {}, {}};
  result.linear = graph_linear.variants(bsp, result.vertices, facts, task);
  // also where it would switch itself off
  result.ways = graph_node_aware.variants(bsp, result.vertices, facts, task);
  return result;
}

struct Network {
  std::int64_t messages = 0, blocks = 0, most_messages = 0;   // most: of one sender
  std::map<std::pair<int, int>, int> messages_of_pair;        // of nodes
  std::map<std::pair<BlockId, int>, int> crossings_of_block;  // to a node
};

Network count_crossings(std::span<const Vertex> vertices, const GraphVariant& way) {
  Network all;
  for (std::size_t r = 0; r < vertices.size(); ++r) {
    std::set<std::pair<int, int>> messages;
    for (const Hop& hop : way.relays()[r].out) {
      const int to = vertices[hop.peer].node;
      if (to == vertices[r].node) continue;
      ++all.blocks;
      ++all.crossings_of_block[{hop.block, to}];
      if (messages.insert({hop.stage, hop.peer}).second)
        ++all.messages_of_pair[{vertices[r].node, to}];
    }
    all.messages += static_cast<std::int64_t>(messages.size());
    all.most_messages = std::max(all.most_messages, static_cast<std::int64_t>(messages.size()));
  }
  return all;
}

// On every graph and for every way: proven; linear's pairs of nodes and no more messages than
// linear; blocks cross once.
void expect_economical(const Result& result, Collective collective, unsigned seed) {
  const Network direct = count_crossings(result.vertices, result.linear.front());
  for (const GraphVariant& way : result.ways) {
    const Proof proof = prove(plans(result.vertices, collective, way),
                              expected_delivery(result.vertices, collective, odd_bytes), seed);
    ASSERT_TRUE(proof) << way.variant() << ' ' << name(collective) << ", seed " << seed << ": "
                       << proof.what;
    const Network crossing = count_crossings(result.vertices, way);
    ASSERT_LE(crossing.messages, direct.messages) << way.variant() << ", seed " << seed;
    ASSERT_EQ(crossing.messages_of_pair.size(), direct.messages_of_pair.size());
    const bool gathered = way.variant() == "three steps";
    for (const auto& [pair, messages] : crossing.messages_of_pair)
      ASSERT_LE(messages,
                gathered ? 1 : static_cast<int>(result.vertices[pair.first].node_ranks.size()))
          << way.variant() << ", seed " << seed;
    ASSERT_EQ(crossing.crossings_of_block.size(), direct.crossings_of_block.size());
    for (const auto& [block, times] : crossing.crossings_of_block)
      ASSERT_EQ(times, 1) << way.variant() << ", seed " << seed;
  }
}

TEST(NodeAware, EveryWayIsProvenOnAnyGraphAndAnyNodes) {
  std::mt19937 random(3);
  int three = 0, two = 0;
  for (unsigned seed = 0; seed < test::random_cases(1200u); ++seed) {
    std::vector<Vertex> vertices = any_graph(random, 28);
    if (random() % 4) put_on_nodes(vertices, scattered_nodes(vertices.size(), random));
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const Result result = plan_ways(vertices, collective);
      expect_economical(result, collective, seed);
      if (HasFatalFailure()) return;
      three += count_crossings(result.vertices, result.ways.front()).messages <
               count_crossings(result.vertices, result.linear.front()).messages;
      two += result.ways.size() == 2;
    }
  }
  EXPECT_GT(three, test::random_cases(600));
  EXPECT_GT(two, test::random_cases(400));
}

// A grid of 2 dimensions in blocks of rows, periodic.
Edges grid_edges(int rows, int columns) {
  Edges edges;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int dr = -1; dr <= 1; ++dr)
        for (int dc = -1; dc <= 1; ++dc)
          if (dr || dc)
            edges.emplace_back(r * columns + c,
                               (r + dr + rows) % rows * columns + (c + dc + columns) % columns);
  return edges;
}

TEST(NodeAware, OneMessageBetweenRowsOfAGrid) {
  std::vector<Vertex> vertices = make(48, grid_edges(6, 8));
  put_on_nodes(vertices, blocked_nodes(48, 8));
  for (Collective collective : {Collective::alltoall, Collective::allgather}) {
    const Result result = plan_ways(vertices, collective);
    ASSERT_EQ(result.ways.size(), 2u);
    expect_economical(result, collective, 1);
    EXPECT_EQ(count_crossings(vertices, result.linear.front()).messages, 6 * 2 * 24);
    EXPECT_EQ(count_crossings(vertices, result.ways[0]).messages, 6 * 2);
    EXPECT_EQ(count_crossings(vertices, result.ways[1]).messages, 6 * 2 * 8);
    EXPECT_EQ(count_crossings(vertices, result.ways[0]).blocks,
              collective == Collective::alltoall ? 6 * 2 * 24 : 6 * 2 * 8);
  }
}

TEST(NodeAware, PairsOfNodesAreSpreadOverTheRanks) {
  for (const int size : {4, 8}) {
    std::vector<Vertex> vertices = make(9 * size, complete(9 * size));
    put_on_nodes(vertices, blocked_nodes(9 * size, size));
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const Result result = plan_ways(vertices, collective);
      ASSERT_EQ(result.ways.size(), 2u);
      // each node sends to 8 others
      EXPECT_EQ(count_crossings(vertices, result.ways[0]).most_messages, 8 / size);
      EXPECT_EQ(count_crossings(vertices, result.ways[1]).most_messages, 8);
      std::vector<int> arrivals(vertices.size(), 0);
      for (std::size_t r = 0; r < vertices.size(); ++r)
        for (const GraphVariant& way : result.ways) {
          std::set<int> senders;
          for (const Hop& hop : way.relays()[r].in)
            if (vertices[hop.peer].node != vertices[r].node) senders.insert(hop.peer);
          EXPECT_EQ(senders.size(), way.variant() == "three steps" ? 8u / size : 8u)
              << way.variant();
        }
    }
  }
}

// One rank alone and seven together, and the like: the sender is who has most to send, and nobody
// else moves.
TEST(NodeAware, UnevenNodes) {
  std::vector<Vertex> vertices =
      make(8, {{0, 1}, {0, 2}, {0, 3}, {0, 3}, {4, 0}, {5, 0}, {5, 0}, {6, 0}});
  put_on_nodes(vertices, {0, 1, 1, 1, 1, 1, 1, 1});
  const Result result = plan_ways(vertices, Collective::alltoall);
  ASSERT_EQ(result.ways.front().variant(), "three steps");
  expect_economical(result, Collective::alltoall, 2);
  const std::vector<Relay>& relays = result.ways.front().relays();
  for (const Hop& hop : relays[0].out) EXPECT_EQ(hop.peer, 3);
  for (const Hop& hop : relays[0].in) EXPECT_EQ(hop.peer, 5);
  EXPECT_EQ(relays[4].out, (std::vector<Hop>{{0, 5, {4, 0}}}));
}

// The first rank of each of 5 nodes has more to send than the other three, and gets more: still
// each stands for one other node.
TEST(NodeAware, NobodyGetsMoreThanAFairShare) {
  Edges edges;
  for (int a = 0; a < 20; ++a)
    for (int b = 0; b < 20; b += 4)
      for (int k = 0; k < (a % 4 == 0 ? 4 : 1); ++k)
        if (a / 4 != b / 4) edges.emplace_back(a, b + (k + a) % 4);
  std::vector<Vertex> vertices = make(20, edges);
  put_on_nodes(vertices, blocked_nodes(20, 4));
  for (Collective collective : {Collective::alltoall, Collective::allgather}) {
    const Result result = plan_ways(vertices, collective);
    expect_economical(result, collective, 1);
    EXPECT_EQ(count_crossings(vertices, result.ways.front()).most_messages, 1);
  }
}

// Nothing can be gathered if only one rank of each node sends; two steps would be the same then.
TEST(NodeAware, WaysThatAreTheSameAreNotRepeated) {
  std::vector<Vertex> vertices = make(12, star_out(12));
  put_on_nodes(vertices, blocked_nodes(12, 4));
  const Result out = plan_ways(vertices, Collective::allgather);
  ASSERT_EQ(out.ways.size(), 1u);
  EXPECT_EQ(count_crossings(vertices, out.ways[0]).messages, 2);
  vertices = make(12, star_in(12));
  put_on_nodes(vertices, blocked_nodes(12, 4));
  // two steps would be linear
  EXPECT_EQ(plan_ways(vertices, Collective::alltoall).ways.size(), 1u);
}

TEST(NodeAware, CopesWithNothing) {
  for (const std::vector<Vertex>& vertices : {make(1, {}), make(1, {{0, 0}}), make(5, {}, {2, 3}),
                                              make(2, {{0, 1}}), make(3, complete(3), {3})})
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const Result result = plan_ways(vertices, collective);
      ASSERT_EQ(result.ways.size(), 1u);
      expect_economical(result, collective, 1);
    }
}

TEST(NodeAware, SwitchesItselfOff) {
  const GraphTask task{Collective::alltoall, 8, {}};
  const auto reason = [](const std::vector<Vertex>& vertices, const GraphTask& t) {
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    return graph_node_aware.pays(gather_facts(bsp, vertices), t);
  };
  EXPECT_EQ(reason(make(6, complete(6), {2, 4}), task), "");
  EXPECT_NE(reason(make(6, complete(6), {6}), task), "");
  EXPECT_NE(reason(make(6, complete(6)), task), "");
  EXPECT_NE(reason(make(6, {}, {2, 4}), task), "");
  EXPECT_NE(reason(make(6, {{0, 3}, {1, 4}}, {3, 3}), task), "");
  EXPECT_NE(reason(make(1, {{0, 0}}), task), "");
  EXPECT_NE(reason(make(6, complete(6), {2, 4}), {Collective::alltoall, 1 << 20, {}}), "");
  EXPECT_EQ(reason(make(6, complete(6), {2, 4}), {Collective::allgather, 1 << 20, {}}), "");
}

TEST(NodeAware, DoesNotDependOnProcesses) {
  std::mt19937 random(21);
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    const GraphTask task{random() % 2 ? Collective::alltoall : Collective::allgather, 8, {}};
    expect_same_however_spread(graph_node_aware, vertices, task, random);
  }
}

TEST(NodeAware, TenThousandRanks) {
  std::mt19937 random(7);
  std::vector<Vertex> vertices = make(10000, random_targets(10000, 32, random));
  put_on_nodes(vertices, blocked_nodes(10000, 50));
  const Result result = plan_ways(vertices, Collective::alltoall);
  ASSERT_FALSE(result.ways.empty());
  const Network crossing = count_crossings(vertices, result.ways[0]);
  EXPECT_EQ(crossing.messages, static_cast<std::int64_t>(crossing.messages_of_pair.size()));
  // a fair share of the 199 other nodes are 4; some have few to choose from
  EXPECT_LE(crossing.most_messages, 4 + 1);
}

}  // namespace
}  // namespace tonari
