// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls on a neighborhood of a graph, whose blocks are looked at.
#pragma once

#include "support/connect_after.hpp"
#include "support/graph_exchange.hpp"
#include "support/one_shot.hpp"

namespace tonari::test {

class GraphOneShots {
 protected:
  // after: so many calls ranks connect.
  void make_on(const Graph& of_all, const char* after) {
    graph = of_all;
    const ConnectAfter calls(after);
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[rank], MPI_INFO_NULL, &near));
  }
  Buffers random(Random& common, Operation op, const Sizes& sizes) const {
    Random mine(common() + 977u * static_cast<unsigned>(rank));
    return make_buffers(mine, graph, rank, op, sizes);
  }
  void blocking(Buffers& b, int round) {
    b.prepare(rank, round);
    EXPECT_OK(call(b.op, b.out, b.in, near));
    EXPECT_EQ(b.wrong(graph, rank, round), "") << name(b.op) << " round " << round;
  }
  tonari_request begin(Buffers& b, int round) {
    tonari_request request = TONARI_REQUEST_NULL;
    b.prepare(rank, round);
    EXPECT_OK(icall(b.op, b.out, b.in, near, &request));
    return request;
  }
  void finish(Buffers& b, tonari_request& request, int round, bool by_test) {
    EXPECT_OK(complete(request, by_test));
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_EQ(b.wrong(graph, rank, round), "") << name(b.op) << " round " << round;
  }

  int rank = world_rank(), ranks = world_size();
  Graph graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

}  // namespace tonari::test
