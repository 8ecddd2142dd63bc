// SPDX-License-Identifier: BSD-3-Clause
// Points on the front of balanced, by name: all six operations, on ranks.
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

const char* const points[] = {"balanced/2 stages",         "balanced/3 stages",
                              "balanced/4 stages price 5", "balanced/5 stages price 2.5 words 1.5",
                              "balanced/6 stages",         "balanced/7 stages words 2",
                              "balanced/8 stages",         "message-sharing/whole pattern phase I"};

class NamedBalance : public GraphExchange {};

TEST_F(NamedBalance, RunsAllOperations) {
  Random common(41);
  for (const Graph& graph : {hubs(), random_graph(common, world_size())})
    for (const char* point : points) {
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
      for (Operation op : all_operations)
        EXPECT_TRUE(exchange(near, graph, op, random_sizes(common, op, true),
                             {point, random_channel(common)}, Applies::always, common));
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
}

}  // namespace
