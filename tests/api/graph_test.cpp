// SPDX-License-Identifier: BSD-3-Clause
// Every operation, algorithm and channel on random graphs, sizes and datatypes; the oracle is
// arithmetic on the lists.
#include "planners/registry.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// "torus" is for offsets only, which none of these graphs is.
std::vector<const char*> every_graph_algorithm() {
  std::vector<const char*> names;
  for (const tonari::AlgorithmRow& row : tonari::algorithms())
    if (row.graphs) names.push_back(row.name);
  names.insert(names.end(), {"native", "irecv", "auto", "torus"});
  return names;
}

class RandomGraphs : public GraphExchange {};

TEST_F(RandomGraphs, DeliverEveryBlockToItsSlot) {
  const int n = cases(world_size() == 2 ? 60 : 150);
  const auto first = 31u * static_cast<unsigned>(world_size());
  for (int k = 0; k < n; ++k)
    random_exchanges(first + 104729u * static_cast<unsigned>(k), ranks_are_slow() ? 6 : 16,
                     every_graph_algorithm());
  if (n < 10 || world_size() < 3) return;
  EXPECT_EQ(ran["torus"], 0);
  // What passes blocks on pays on other machines: tests/engine/graph_machine_test.cpp.
  for (const char* algorithm : {"linear", "coloring", "node-aware", "native", "irecv", "auto"})
    EXPECT_GT(ran[algorithm], 0) << algorithm;
}

// Where it applies for certain, so that it is not left out by chance.
class CertainGraphs : public GraphExchange {
 protected:
  void run_all(const Graph& graph, const char* split, std::initializer_list<const char*> algorithms,
               std::initializer_list<Operation> operations) {
    Random common(17);
    Nodes::set(split);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
    for (const char* algorithm : algorithms)
      for (Operation op : operations) {
        const Way way{algorithm, random_channel(common)};
        exchange(near, graph, op, {4, 2, form(op) == 0, form(op) != 0, 9}, way, Applies::always,
                 common);
      }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
};

TEST_F(CertainGraphs, NodeAwareOnNodesOfOneAndThreeRanks) {
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  Graph graph = make_graph(world_size(), all_pairs(world_size()));
  graph.name = "complete";
  run_all(graph, "1,3", {"node-aware", "coloring"}, {Operation::allgather});
  run_all(graph, "2", {"node-aware"}, {Operation::alltoallv});
  if (mpi_spins() && ranks_are_slow()) return;
  run_all(graph, "2,1", {"node-aware", "linear"},
          {Operation::alltoall, Operation::alltoallw, Operation::allgatherv});
}

// A block on its way to several ranks goes through the same ones as others of other sizes.
TEST_F(CertainGraphs, AllgatherOfSizesThatDifferByRank) {
  Graph graph = make_graph(world_size(), all_pairs(world_size()));
  graph.name = "complete";
  Random common(3);
  Nodes::set("2,1");
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
  for (const char* algorithm : {"tree", "node-aware", "common-neighborhood"})
    for (const char* channel : channel_names) {
      if (mpi_spins() && ranks_are_slow() && common() % 2) continue;
      exchange(near, graph, Operation::allgatherw, {4, 500, false, true, 21}, {algorithm, channel},
               Applies::always, common);
    }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// What programs and scripts may have written down; only where all ranks are neighbors of all, so
// that rounds pay.
TEST(EarlierNames, AreAccepted) {
  const auto algorithm_of = [](const char* name) -> std::string {
    const int ranks = world_size();
    std::vector<int> all(static_cast<std::size_t>(ranks)), in(all), out(all);
    std::iota(all.begin(), all.end(), 0);
    const Info info{{"tonari_algorithm", name}, {"tonari_tune", "off"}};
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    tonari_request request = TONARI_REQUEST_NULL;
    tonari_request_info about{};
    EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, ranks, all.data(), MPI_UNWEIGHTED,
                                                  ranks, all.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                  &near));
    EXPECT_OK(
        tonari_alltoall_init(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, near, info, &request));
    EXPECT_OK(tonari_request_get_info(request, &about));
    const std::string algorithm = about.algorithm;
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_OK(tonari_neighborhood_free(&near));
    return algorithm;
  };
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  EXPECT_EQ(algorithm_of("colouring"), "coloring");
  EXPECT_EQ(algorithm_of("colouring/order"), "coloring");
}

}  // namespace
