// SPDX-License-Identifier: BSD-3-Clause
// What planning costs: messages, steps, and what a rank gets to read, counted and not timed, on
// graphs of the sizes that the planners are meant for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "planners/graphs/counted_bsp_comm.hpp"
#include "planners/graphs/graphs.hpp"

namespace tonari {
namespace {

using namespace graphs;

// Counts reductions and words, too.
class CountingWorld final : public CountedBspComm {
 public:
  explicit CountingWorld(int ranks) : CountedBspComm(ranks), at_once_(ranks, 0) {}
  using CountedBspComm::max, CountedBspComm::send, CountedBspComm::sum;

  void exchange() override {
    CountedBspComm::exchange();
    for (std::size_t k : receivers()) {
      std::size_t words = 0;
      for (const BspMessage& message : inbox(k)) words += message.words.size();
      at_once_[k] = std::max(at_once_[k], words);
      words_ += words;
    }
  }
  void sum(std::span<Word>) override { ++reductions_; }
  void max(std::span<Word>) override { ++reductions_; }

  std::size_t steps() const { return exchanges() + reductions_; }
  std::size_t words() const { return words_; }  // that all ranks got
  // the most that an exchange brought to this one: until the next one it must hold them
  std::size_t at_once(int rank) const { return at_once_[rank]; }

 private:
  std::vector<std::size_t> at_once_;
  std::size_t words_ = 0, reductions_ = 0;
};

LogGP infiniband_prices() {
  LogGP m;
  m.L = 1.3e-6, m.o = 0.35e-6, m.g = 0.1e-6, m.G = 0.3e-9;
  return m;
}

// Those where most of what the algorithms look for pays: a network of expensive messages.
LogGP expensive_messages() {
  LogGP m;
  m.L = 0.1e-6, m.o = 2e-6, m.g = 2e-6, m.G = 0.01e-9, m.copy_block = m.copy_byte = 0;
  return m;
}

std::vector<int> nodes_of(int ranks, int size) { return std::vector<int>(ranks / size + 1, size); }

struct Cost {
  std::size_t messages, steps;
};

Cost cost(const GraphPlanner& algorithm, const std::vector<Vertex>& vertices,
          const GraphTask& task) {
  CountingWorld bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  EXPECT_EQ(objection(algorithm, facts, task).reason(), "") << algorithm.name;
  EXPECT_FALSE(algorithm.variants(bsp, vertices, facts, task).empty()) << algorithm.name;
  return {bsp.messages(), bsp.steps()};
}

// Every rank may plan for 100 ms: some thousand steps of a network, where a reduction over as many
// ranks takes some 20 us. That bounds every algorithm; those listed here take less.
TEST(Planning, AThousandRanksOfDegreeThirtyTwoTakeFewMessagesAndSteps) {
  std::mt19937 random(3);
  const Edges edges = erdos_renyi(1024, 32 / 1024., random);
  const std::vector<Vertex> vertices = make(1024, edges, nodes_of(1024, 32));
  const std::map<const GraphPlanner*, Cost> tighter{{&graph_linear, {1, 3}},
                                                    {&graph_coloring, {8, 400}},
                                                    {&graph_tree, {40, 4000}},
                                                    {&graph_node_aware, {10, 20}},
                                                    {&graph_common_neighborhood, {30, 300}},
                                                    {&graph_store_and_forward, {40, 40}},
                                                    {&graph_message_sharing, {100, 2000}}};
  for (const auto& [algorithm, bound] : tighter)
    ASSERT_EQ(&find_graph_planner(algorithm->name), algorithm) << "no longer in the table?";
  for (const AlgorithmRow& row : algorithms())
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const GraphPlanner* algorithm = row.graphs;
      if (!algorithm) continue;
      if (algorithm == &graph_common_neighborhood && collective == Collective::alltoall) continue;
      const auto bound = tighter.find(algorithm);
      const auto [messages_per_edge, steps] =
          bound == tighter.end() ? Cost{200, 4000} : bound->second;
      const Cost now = cost(*algorithm, vertices, {collective, 8, expensive_messages()});
      EXPECT_LE(now.messages, messages_per_edge * edges.size())
          << algorithm->name << " " << name(collective);
      EXPECT_LE(now.steps, steps) << algorithm->name << " " << name(collective);
    }
}

// Sixteen ranks each, no neighbors in number, that send to the same eight.
Edges common_targets(int ranks, std::mt19937& random) {
  Edges edges;
  const int groups = ranks / 16;
  for (int group = 0; group < groups; ++group)
    for (int t = 0; t < 8; ++t)
      for (int member = 0, to = static_cast<int>(random() % ranks); member < 16; ++member)
        edges.emplace_back(member * groups + group, to);
  return edges;
}

void expect_few_messages_per_edge(int ranks) {
  std::mt19937 random(4);
  const Edges edges = common_targets(ranks, random);
  const std::vector<Vertex> vertices = make(ranks, edges, nodes_of(ranks, 40));
  for (const GraphPlanner* algorithm : {&graph_node_aware, &graph_common_neighborhood}) {
    const Cost now = cost(*algorithm, vertices, {Collective::allgather, 8, expensive_messages()});
    EXPECT_LE(now.messages, 30 * edges.size()) << algorithm->name;
    EXPECT_LE(now.steps, 300u) << algorithm->name;
  }
}

TEST(Planning, TenThousandRanksTakeAsManyMessagesPerEdge) { expect_few_messages_per_edge(10'000); }
TEST(Planning, AHundredThousandRanksTakeAsManyMessagesPerEdge) {
  expect_few_messages_per_edge(100'000);
}

// What the leaves of a star get to read while one plans.
struct Reading {
  std::vector<std::size_t> at_once;  // of each leaf, the least first
  // the most of a leaf beyond four words for each block that it passes on, which it must know
  std::size_t beyond = 0;
  std::size_t per_rank = 0;  // words in all exchanges together
};

Reading reading(const GraphPlanner& algorithm, int ranks, Collective collective) {
  const std::vector<Vertex> vertices = make(ranks, star_out(ranks));
  CountingWorld bsp(ranks);
  const GraphFacts facts = gather_facts(bsp, vertices);
  const GraphTask task{collective, 8, infiniband_prices()};
  EXPECT_EQ(objection(algorithm, facts, task).reason(), "") << algorithm.name;
  const std::vector<GraphVariant> ways = algorithm.variants(bsp, vertices, facts, task);
  Reading leaves;
  for (int r = 1; r < ranks; ++r) {
    std::size_t passed_on = 0;
    for (const GraphVariant& way : ways)
      passed_on = std::max(passed_on, way.relays()[r].out.size());
    leaves.at_once.push_back(bsp.at_once(r));
    leaves.beyond =
        std::max(leaves.beyond, bsp.at_once(r) - std::min(bsp.at_once(r), 4 * passed_on));
  }
  std::sort(leaves.at_once.begin(), leaves.at_once.end());
  leaves.per_rank = bsp.words() / static_cast<std::size_t>(ranks);
  return leaves;
}

// Memory grows with a rank's own degree, and that of leaves is one, however large their hub.
TEST(Planning, LeavesOfAHubReadNextToNothing) {
  for (int ranks : {2000, 20000})
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      SCOPED_TRACE(testing::Message() << name(collective) << " on " << ranks << " ranks");
      EXPECT_LE(reading(graph_coloring, ranks, collective).at_once.back(), 8u);
      const Reading tree = reading(graph_tree, ranks, collective);
      EXPECT_LE(tree.at_once[tree.at_once.size() * 3 / 4], 16u);
      EXPECT_LE(tree.per_rank, 200u);
      // there one sends the block once for all that a helper's helpers pass it on to
      if (collective == Collective::allgather) continue;
      EXPECT_LE(tree.beyond, 16u);
    }
}

}  // namespace
}  // namespace tonari
