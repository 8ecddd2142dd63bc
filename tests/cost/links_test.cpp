// SPDX-License-Identifier: BSD-3-Clause
// What messages cost by distance and where ranks share cores, computed by hand.
#include "cost/links.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cost/simulator.hpp"
#include "cost/variants.hpp"
#include "plan/builder.hpp"
#include "planners/graphs/graphs.hpp"
#include "select/offset_planner_registry.hpp"
#include "select/price.hpp"

namespace tonari {
namespace {

using namespace cost;

LogGP machine() {
  LogGP m;
  m.L = 100, m.o = 1, m.g = 3, m.G = 0.5, m.copy_block = 7, m.copy_byte = 0.25, m.typed_block = 11;
  m.eager = 64, m.rendezvous = 1000, m.shared_latency = 10, m.shared_overhead = 0.5;
  m.core_switch = 40;
  return m;
}

TEST(Links, OnANodeCostWhatIsKnownOfIt) {
  EXPECT_EQ(on_a_node(machine()).L, 100) << "nothing is known";
  LogGP m = machine();
  m.node_latency = 5, m.node_overhead = 2, m.node_gap = 4, m.node_byte = 0.125;
  m.node_eager = 32, m.node_rendezvous = 0;
  const LogGP node = on_a_node(m), network = between_nodes(m);
  EXPECT_EQ(node.L, 5);
  EXPECT_EQ(node.o, 2);
  EXPECT_EQ(node.g, 4);
  EXPECT_EQ(node.G, 0.125);
  EXPECT_EQ(node.eager, 32u);
  EXPECT_EQ(node.rendezvous, 0);
  EXPECT_EQ(network.L, 100);
  EXPECT_EQ(network.eager, 64u);
}

// Three ranks of a core: each works a third of the time, and waits for three turns.
TEST(Links, TakeTurnsOnACore) {
  LogGP m = machine();
  m.ranks_per_core = 3;
  const LogGP network = between_nodes(m), node = on_a_node(m);
  EXPECT_EQ(network.o, 3);
  EXPECT_EQ(network.copy_byte, 0.75);
  EXPECT_EQ(network.L, 100 + 3 * 40);
  EXPECT_EQ(network.G, 0.5) << "interfaces carry bytes between nodes";
  EXPECT_EQ(node.G, 1.5) << "processors carry them on a node";
  EXPECT_EQ(through_memory(m).machine.L, 10 + 3 * 40);
  EXPECT_EQ(through_memory(m).machine.o, 1.5);
  EXPECT_EQ(between_nodes(network).L, network.L) << "once";
}

// A receiver takes what is shared out of another core's cache.
TEST(Links, TakeBytesOutOfOtherCaches) {
  LogGP m = machine();
  EXPECT_EQ(through_memory(m).machine.G, 0) << "nothing is known";
  m.shared_byte = 0.125;
  EXPECT_EQ(through_memory(m).machine.G, 0.125);
  m.ranks_per_core = 3;
  EXPECT_EQ(through_memory(m).machine.G, 0.375);
}

// What all ranks of a core touch has to fit.
TEST(Links, CopyMoreSlowlyBeyondTheCache) {
  LogGP m = machine();
  m.copy_beyond = 1;
  EXPECT_EQ(touching(m, 1e9).copy_byte, 0.25) << "nobody knows what fits";
  m.cache = 1000;
  EXPECT_EQ(touching(m, 1000).copy_byte, 0.25);
  const LogGP beyond = touching(m, 1001);
  EXPECT_EQ(beyond.copy_byte, 1);
  EXPECT_EQ(on_a_node(beyond).G, 0.5 + 0.75) << "a message on a node is a copy";
  EXPECT_EQ(between_nodes(beyond).G, 0.5);
  EXPECT_EQ(touching(beyond, 1001).node_byte, beyond.node_byte) << "once";
  m.node_byte = 2;
  EXPECT_EQ(on_a_node(touching(m, 1001)).G, 2.75);
  m.ranks_per_core = 2;
  EXPECT_EQ(touching(m, 500).copy_byte, 0.25);
  EXPECT_EQ(touching(m, 501).copy_byte, 1);
  m.copy_beyond = 0.125;
  EXPECT_EQ(touching(m, 501).copy_byte, 0.25) << "it is never faster there";
}

// Rank 0 sends a block to rank 1.
std::vector<Plan> one_message() {
  Builder a(0, 1), b(1, 1);
  a.slice({Buffer::send, 0});
  a.send(1, 0);
  b.slice({Buffer::recv, 0});
  b.recv(0, 0);
  return {a.build(), b.build()};
}

TEST(Links, AreTakenByDistance) {
  const std::array<std::int32_t, 2> together{0, 0}, apart{0, 1};
  LogGP m = machine();
  m.node_latency = 5;
  LinkCosts links{{between_nodes(m), {}}, {on_a_node(m), {}}, together};
  const std::vector<Plan> plans = one_message();
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(9), links), 1 + 8 * 0.5 + 5 + 1);
  links.node_of = apart;
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(9), links), 1 + 8 * 0.5 + 100 + 1);
  links.node_of = {};
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(9), links), 1 + 8 * 0.5 + 100 + 1);
}

// Long messages ask first where their own link says so.
TEST(Links, HaveEagerLimitsOfTheirOwn) {
  const std::array<std::int32_t, 2> together{0, 0};
  LogGP m = machine();
  m.node_eager = 8, m.node_rendezvous = 300;
  const LinkCosts links{{between_nodes(m), {}}, {on_a_node(m), {}}, together};
  const std::vector<Plan> plans = one_message();
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(9), links), 1 + 300 + 8 * 0.5 + 100 + 1);
}

// What goes to another node does not wait for the interface that a message on the node takes.
TEST(Links, DoNotWaitForEachOther) {
  Builder a(0, 2), b(1, 1), c(2, 1);
  a.slice({Buffer::send, 0});
  a.send(1, 0);
  a.slice({Buffer::send, 1});
  a.send(2, 0);
  for (Builder* one : {&b, &c}) {
    one->slice({Buffer::recv, 0});
    one->recv(0, 0);
  }
  const std::vector<Plan> plans{a.build(), b.build(), c.build()};
  LogGP m = machine();
  m.L = 10;
  const std::array<std::int32_t, 3> two_nodes{0, 0, 1}, one_node{0, 0, 0};
  LinkCosts links{{between_nodes(m), {}}, {on_a_node(m), {}}, two_nodes};
  // the second send is ready after 2 o
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(61), links), 2 + 30 + 10 + 1);
  links.node_of = one_node;
  EXPECT_DOUBLE_EQ(simulate_by_distance(plans, blocks_of(61), links), 1 + 30 + 3 + 30 + 10 + 1);
}

// Rows of a torus are nodes: two of a rank's eight neighbors are on its own.
TEST(Links, EstimatesKnowWhichPartStaysOnANode) {
  const auto near = cost::near("moore:2:1", 4);
  std::vector<std::int32_t> node_of;
  for (std::int32_t rank = 0; rank < 16; ++rank) node_of.push_back(rank / 4);
  EXPECT_EQ(share_on_node(*near, node_of), 0.25);
  EXPECT_EQ(OffsetPlannerRegistry(near).share_on_node(node_of), 0.25);
  EXPECT_EQ(share_on_node(*near, std::vector<std::int32_t>(16)), 1);
  EXPECT_EQ(share_on_node(*near, {}), 0) << "nobody knows";
  LogGP m = machine();
  m.node_latency = 1, m.node_overhead = 0.1, m.node_gap = 0.1, m.node_byte = 0.01;
  const LinkCosts links = mpi_messages(m, {}, true, node_of);
  for (const OffsetVariant& variant : schedules(near, Collective::alltoall, 6)) {
    const Sizes average{{}, 8};  // without the sizes of blocks there is only an estimate
    EXPECT_DOUBLE_EQ(price(variant, average, links),
                     0.25 * price(variant, average, {links.node, links.node}) +
                         0.75 * price(variant, average, {links.network, links.network}));
  }
}

// Two nodes of four ranks, each of which sends to all of the other node: node-aware sends fewer
// messages between nodes, and what it adds on the node is cheap where that is known.
TEST(Links, PriceNodeAwarePlansByTheirNodes) {
  std::vector<std::pair<int, int>> edges;
  for (int from = 0; from < 8; ++from)
    for (int to = 0; to < 8; ++to)
      if (from / 4 != to / 4) edges.emplace_back(from, to);
  std::vector<Vertex> vertices = graphs::make(8, edges);
  std::vector<std::int32_t> node_of;
  for (Vertex& v : vertices) {
    v.node = v.rank / 4 * 4;
    v.node_ranks = {v.node, v.node + 1, v.node + 2, v.node + 3};
    node_of.push_back(v.node);
  }
  LocalBspComm bsp(8);
  const GraphFacts facts = gather_facts(bsp, vertices);
  const auto first = [&](const GraphPlanner& planner) {
    auto ways = planner.variants(bsp, vertices, facts, {Collective::alltoall, 8, machine()});
    ways.front().gather(bsp);
    return std::move(ways.front());
  };
  const GraphVariant linear = first(graph_linear), aware = first(graph_node_aware);
  EXPECT_EQ(linear.traffic().far_out, 4);
  EXPECT_EQ(linear.traffic().far_stages, 1);
  EXPECT_LT(aware.traffic().far_out, 4);
  EXPECT_GT(aware.traffic().most_out, aware.traffic().far_out);
  LogGP m = machine();
  m.node_latency = 1, m.node_overhead = 0.1, m.node_gap = 0.1, m.node_byte = 0.01;
  const LinkCosts by_distance = mpi_messages(m, {}, true, node_of), blind = alike(m, {});
  EXPECT_DOUBLE_EQ(price(linear, {{}, 8}, by_distance), price(linear, {{}, 8}, blind));
  EXPECT_LT(price(aware, {{}, 8}, by_distance), price(aware, {{}, 8}, blind) - 100)
      << "stages on the node do not wait for the network's latency";
}

}  // namespace
}  // namespace tonari
