// SPDX-License-Identifier: BSD-3-Clause
// An algorithm that is named runs wherever it is possible; its request says that it is not expected
// to pay.
#include "planners/registry.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

constexpr const char* warning = "is not expected to pay here: ";

class Forced : public GraphExchange {
 protected:
  // The paper's star: one rank sends to all others. Its blocks are so long that no detour pays.
  void SetUp() override {
    graph = make_graph(world_size(), star(world_size(), 0, true));
    graph.name = "star";
  }

  // Exchanges once; what the request says of itself.
  std::string described(const std::string& algorithm, Operation op) {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
    const Info info{{"tonari_algorithm", algorithm}, {"tonari_tune", "off"}};
    Random random(17u + static_cast<unsigned>(world_rank()));
    Buffers b = make_buffers(random, graph, world_rank(), op, {4, 1 << 14, true, true, 0});
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(op, b.out, b.in, near, info, &request)) << algorithm;
    b.out.free_types(), b.in.free_types();
    std::string text;
    if (request != TONARI_REQUEST_NULL) {
      b.prepare(world_rank(), 3);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(b.wrong(graph, world_rank(), 3), "") << algorithm;
      text = tonari_request_describe(request);
    }
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_OK(tonari_neighborhood_free(&near));
    return text;
  }

  Graph graph;
};

TEST_F(Forced, ATreeOnThePapersStarSaysThatItDoesNotPay) {
  for (const char* algorithm : {"tree", "tree/paper", "tree/balanced"})
    EXPECT_NE(described(algorithm, Operation::alltoall).find(std::string("tree ") + warning),
              std::string::npos);
}

TEST_F(Forced, WhatMayPayIsNotDoubted) {
  for (const char* algorithm : {"auto", "linear", "irecv"})
    EXPECT_EQ(described(algorithm, Operation::alltoall).find(warning), std::string::npos);
}

TEST_F(Forced, EveryAlgorithmForGraphsRuns) {
  for (const tonari::AlgorithmRow& row : tonari::algorithms()) {
    if (!row.graphs) continue;
    for (Operation op : {Operation::alltoall, Operation::allgatherv})
      if (applies(graph, op, row.name) == Applies::always) {
        EXPECT_NE(described(row.name, op).find(row.name), std::string::npos);
      }
  }
}

}  // namespace
