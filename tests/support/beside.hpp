// SPDX-License-Identifier: BSD-3-Clause
// An operation that runs together with something else, in a group.
#pragma once

#include "support/graph_exchange.hpp"

namespace tonari::test {

struct Beside {
  Graph graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Buffers b{};

  explicit Beside(Random& common) : graph(random_graph(common, world_size())) {
    const Lists& lists = graph.of[static_cast<std::size_t>(world_rank())];
    EXPECT_OK(create_adjacent(MPI_COMM_WORLD, lists, MPI_INFO_NULL, &near));
    Random own(common() + 977u * static_cast<unsigned>(world_rank()));
    b = make_buffers(own, graph, world_rank(), Operation::alltoall, {4, 25, true, false, 0});
  }
  ~Beside() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  // As part of a group.
  void collect() { EXPECT_OK(init(b.op, b.out, b.in, near, MPI_INFO_NULL, nullptr)); }
  std::string wrong(int round) const { return b.wrong(graph, world_rank(), round); }
};

}  // namespace tonari::test
