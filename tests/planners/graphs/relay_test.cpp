// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/relay.hpp"

#include "base/error.hpp"
#include "planners/graphs/graphs.hpp"

namespace tonari {
namespace {

using namespace graphs;

TEST(Relay, LinearIsProvenOnAnyGraph) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::vector<Vertex> vertices = any_graph(random);
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      expect_proven(graph_linear, vertices, {collective, 8, {}}, seed);
  }
}

// 0 -> 1 -> 2: rank 1 passes on what it also keeps.
TEST(Relay, ForwardersOfAnAllgatherSendFromTheReceiveBlock) {
  const std::vector<Vertex> vertices = make(3, {{0, 1}, {0, 2}});
  const GraphVariant way(
      graph_linear, "", vertices, {Collective::allgather, 8, {}},
      {{{{0, 1, {0, 0}}}, {}}, {{{1, 2, {0, 0}}}, {{0, 0, {0, 0}}}}, {{}, {{1, 1, {0, 0}}}}});
  const std::vector<Plan> all = plans(vertices, Collective::allgather, way);
  EXPECT_TRUE(all[1].scratch_like().empty());
  const Proof proof = prove(all, expected_delivery(vertices, Collective::allgather, odd_bytes));
  EXPECT_TRUE(proof) << proof.what;
}

TEST(Relay, ForwardersOfAnAlltoallLearnSizes) {
  const std::vector<Vertex> vertices = make(3, {{0, 1}, {0, 2}, {0, 2}});
  const GraphVariant way(graph_linear, "", vertices, {Collective::alltoall, 8, {}},
                         {{{{0, 1, {0, 0}}, {0, 1, {0, 1}}, {0, 2, {0, 2}}}, {}},
                          {{{1, 2, {0, 1}}}, {{0, 0, {0, 0}}, {0, 0, {0, 1}}}},
                          {{}, {{0, 0, {0, 2}}, {1, 1, {0, 1}}}}});
  const std::vector<Plan> all = plans(vertices, Collective::alltoall, way);
  ASSERT_EQ(all[1].scratch_like().size(), 1u);
  EXPECT_EQ(all[1].scratch_like()[0], foreign);
  const Proof proof = prove(all, expected_delivery(vertices, Collective::alltoall, odd_bytes));
  EXPECT_TRUE(proof) << proof.what;
}

TEST(Relay, WhatCannotBeIsRefused) {
  const std::vector<Vertex> vertices = make(3, {{0, 2}});
  // passes on what it does not have
  EXPECT_THROW(emit(vertices[1], Collective::alltoall, {{{0, 2, {0, 0}}}, {}}), Error);
  // never arrives
  EXPECT_THROW(emit(vertices[2], Collective::alltoall, {}), Error);
  // arrives twice
  EXPECT_THROW(emit(vertices[2], Collective::alltoall, {{}, {{0, 0, {0, 0}}, {1, 1, {0, 0}}}}),
               Error);
}

TEST(LocalBspComm, MessagesArriveInOrder) {
  LocalBspComm bsp(3);
  bsp.send(2, 0, {5});
  bsp.send(1, 0, {7, 8});
  bsp.send(2, 0, {6});
  bsp.send(1, 1, {});
  bsp.exchange();
  ASSERT_EQ(bsp.receivers().size(), 2u);
  const auto inbox = bsp.inbox(0);
  ASSERT_EQ(inbox.size(), 3u);
  EXPECT_EQ(inbox[0].from, 1);
  EXPECT_EQ(inbox[0].words[1], 8);
  EXPECT_EQ(inbox[1].words[0], 5);
  EXPECT_EQ(inbox[2].words[0], 6);
  EXPECT_EQ(bsp.inbox(1).size(), 1u);
  EXPECT_TRUE(bsp.inbox(2).empty());
  bsp.exchange();
  EXPECT_TRUE(bsp.receivers().empty());
  EXPECT_TRUE(bsp.inbox(0).empty());
}

TEST(GraphFacts, CountDistinctOthers) {
  LocalBspComm bsp(4);
  const GraphFacts facts =
      gather_facts(bsp, make(4, {{0, 1}, {0, 1}, {0, 0}, {0, 2}, {3, 2}}, {3, 1}));
  EXPECT_EQ(facts.edges, 4);
  EXPECT_EQ(facts.pairs, 3);
  EXPECT_EQ(facts.most_out, 2);
  EXPECT_EQ(facts.most_in, 2);
  EXPECT_EQ(facts.nodes, 2);
  EXPECT_EQ(facts.most_node_ranks, 3);
}

TEST(Traffic, CountsMessagesAndBlocks) {
  const std::vector<Vertex> vertices = make(3, {{0, 1}, {0, 1}, {0, 2}, {1, 2}});
  LocalBspComm bsp(3);
  const GraphTask task;
  const Traffic traffic = gather_traffic(
      bsp,
      graph_linear.variants(bsp, vertices, gather_facts(bsp, vertices), task).front().relays());
  EXPECT_EQ(traffic.most_out, 2);
  EXPECT_EQ(traffic.most_in, 2);
  EXPECT_EQ(traffic.messages, 3);
  EXPECT_EQ(traffic.blocks, 4);
  EXPECT_EQ(traffic.most_blocks_out, 3);
  EXPECT_EQ(traffic.stages, 1);
}

}  // namespace
}  // namespace tonari
