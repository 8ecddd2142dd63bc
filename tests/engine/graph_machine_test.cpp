// SPDX-License-Identifier: BSD-3-Clause
// These tests run the algorithms that pass blocks on, on real MPI. On a machine like the one at
// hand they seldom pay and refuse. So here the cache remembers of this machine a network with
// expensive messages.
#include <filesystem>

#include "engine/comm/calibrate.hpp"
#include "engine/comm/shared_comm.hpp"
#include "select/cache.hpp"
#include "support/graph_exchange.hpp"
#include "support/one_shot.hpp"
#include "support/tune_seconds.hpp"

namespace {

using namespace tonari::test;

class OnANetwork : public GraphExchange {
 protected:
  void SetUp() override {
    GraphExchange::SetUp();
    if (IsSkipped()) return;
    if (const char* set = std::getenv("TONARI_CACHE_DIR")) cache_ = set;
    char name[64] = "";
    if (world_rank() == 0) {
      const std::string pattern =
          (std::filesystem::temp_directory_path() / "tonari-network-XXXXXX").string();
      ASSERT_LT(pattern.size(), sizeof name);
      pattern.copy(name, pattern.size());
      ASSERT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    directory_ = name;
    setenv("TONARI_CACHE_DIR", name, 1);
    setenv("UCX_TONARI_TEST_NETWORK", "1",
           1);  // a variable that tunes an MPI: what was measured before does not hold
    tonari::LogGP network;
    network.L = 0.5e-6, network.o = 2e-6, network.g = 2e-6, network.G = 0.01e-9;
    const std::string key = tonari::machine_key(
        MPI_COMM_WORLD, tonari::SharedComm::of(MPI_COMM_WORLD)->nodes()->ranks_per_core);
    if (world_rank() == 0) {
      ASSERT_TRUE(
          tonari::CacheFile(tonari::cache_directory(), "machines").put(key, to_text(network)));
    }
  }
  void TearDown() override {
    if (directory_.empty()) return;
    unsetenv("UCX_TONARI_TEST_NETWORK");
    if (cache_)
      setenv("TONARI_CACHE_DIR", cache_->c_str(), 1);
    else
      unsetenv("TONARI_CACHE_DIR");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::filesystem::remove_all(directory_);
  }

 private:
  std::optional<std::string> cache_;
  std::string directory_;
};

TEST_F(OnANetwork, BlocksThatArePassedOnArrive) {
  constexpr const char* algorithms[] = {"tree", "common-neighborhood", "node-aware"};
  const int n = cases(world_size() < 3 ? 10 : 60) + 1;
  const auto first = 5u * static_cast<unsigned>(world_size());
  for (int k = 0; k < n; ++k)
    random_exchanges(first + 7919u * static_cast<unsigned>(k),
                     mpi_spins() && ranks_are_slow() ? 6 : 12, algorithms);
  if (world_size() < 5 || mpi_spins()) return;
  for (const char* algorithm : algorithms) EXPECT_GT(ran[algorithm], 0) << algorithm;
}

TEST_F(OnANetwork, HotSpot) {
  if (world_size() < 5) GTEST_SKIP() << "needs five ranks";
  Random common(1);
  Graph graph = make_graph(world_size(), star(world_size(), 1, true));
  graph.name = "hot spot";
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
  for (Operation op : {Operation::alltoallv, Operation::allgather})
    exchange(near, graph, op, {4, 3, gathers(op), !gathers(op), 8},
             {"tree", gathers(op) ? "p2p-packed" : "p2p-typed"}, Applies::always, common);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Blocks pass through a few ranks only, and their sizes are asked for before the contest; the
// winner's need not be asked for again, on any rank.
TEST_F(OnANetwork, MeasuredWhereSomeRanksPassBlocksOn) {
  if (world_size() < 5 || (mpi_spins() && ranks_are_slow()))
    GTEST_SKIP() << "needs five ranks that do not wait for long";
  const TuneSeconds little("0.01");
  Random common(3);
  Graph graph = make_graph(world_size(), star(world_size(), 1, true));
  graph.name = "hot spot";
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
  exchange(near, graph, Operation::alltoall, {4, 3, true, false, 8}, {"tree", "auto", "measure"},
           Applies::always, common);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Two ranks write to all, with more ranks also two hear from all, and the rest is a ring.
Edges hubs_and_ring() {
  Edges edges;
  const int ranks = world_size();
  for (int r = 0; r < ranks; ++r) {
    for (int hub : {0, 1})
      if (r != hub && hub < ranks) edges.emplace_back(hub, r);
    if (ranks < 8) continue;
    edges.emplace_back(r, (r + 1) % ranks);
    for (int sink : {2, 3})
      if (r > 1 && r != sink) edges.emplace_back(r, sink);
  }
  return edges;
}

// By planners for irregular patterns: requests, and calls at once.
TEST_F(OnANetwork, IrregularPattern) {
  Random common(2);
  Graph graph = make_graph(world_size(), hubs_and_ring());
  graph.name = "hubs";
  for (const char* algorithm :
       {"store-and-forward", "message-sharing/paper phase II",
        "message-sharing/levelled phase II in two steps", "message-sharing/whole pattern",
        "balanced/both ends", "balanced/whole pattern"}) {
    const bool mesh = std::string(algorithm) == "store-and-forward";
    const Applies applies = mesh && world_size() < 4 ? Applies::never : Applies::always;
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const Info info{{"tonari_algorithm", algorithm}};
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], info, &near));
    for (Operation op : {Operation::alltoallv, Operation::allgatherv}) {
      if (!exchange(near, graph, op, {4, 9, false, gathers(op), 8},
                    {algorithm, random_channel(common)}, applies, common))
        continue;
      Random random(common());
      Buffers b = make_buffers(random, graph, world_rank(), op, {4, 9, true, false, 8});
      b.prepare(world_rank(), 1);
      EXPECT_OK(call(op, b.out, b.in, near));
      EXPECT_EQ(b.wrong(graph, world_rank(), 1), "") << algorithm << ", " << name(op) << " at once";
      b.out.free_types(), b.in.free_types();
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// All candidates run against each other, native compared with ours, and the winner is remembered:
// every step is collective.
TEST_F(OnANetwork, Measured) {
  if (ranks_are_slow()) GTEST_SKIP() << "measuring takes long where ranks outnumber the cores";
  const TuneSeconds little("0.01");
  Random common(29);
  for (int k = 0; k < 6; ++k) {
    SCOPED_TRACE(k);
    Nodes::set(k % 2 ? "1,2" : "");
    Graph graph = random_graph(common, world_size());
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
    const Operation op = all_operations[k];
    for (const char* tune : {"measure", "auto"})
      exchange(near, graph, op, {4, 30, form(op) == 0, form(op) != 0, 8}, {"auto", "auto", tune},
               Applies::always, common);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

}  // namespace
