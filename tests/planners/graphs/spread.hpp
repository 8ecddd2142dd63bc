// SPDX-License-Identifier: BSD-3-Clause
// A planner's result must not depend on how the ranks are spread over processes.
#pragma once

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/split_bsp_comm.hpp"

namespace tonari::graphs {

// Deals `ranks` ranks to a few processes at random. what: called in each, with its communicator.
template <class What>
void run_spread(std::size_t ranks, std::mt19937& random, What what) {
  const int processes = 1 + static_cast<int>(random() % 5);
  std::vector<int> process_of(ranks);
  for (int& p : process_of) p = static_cast<int>(random() % processes);
  run_split(processes, process_of, what);
}

inline std::vector<Vertex> own_vertices(const BspComm& bsp, const std::vector<Vertex>& vertices) {
  std::vector<Vertex> own;
  for (std::int32_t rank : bsp.here()) own.push_back(vertices[rank]);
  return own;
}

// Plans once with all ranks together and once with the ranks dealt to a few processes at random:
// the same hops in the same order.
inline void expect_same_however_spread(const GraphPlanner& algorithm,
                                       const std::vector<Vertex>& vertices, const GraphTask& task,
                                       std::mt19937& random) {
  LocalBspComm all(static_cast<int>(vertices.size()));
  const std::vector<GraphVariant> together =
      algorithm.variants(all, vertices, gather_facts(all, vertices), task);
  run_spread(vertices.size(), random, [&](BspComm& bsp) {
    const std::vector<Vertex> own = own_vertices(bsp, vertices);
    const std::vector<GraphVariant> ways =
        algorithm.variants(bsp, own, gather_facts(bsp, own), task);
    ASSERT_EQ(ways.size(), together.size());
    for (std::size_t w = 0; w < ways.size(); ++w)
      for (std::size_t k = 0; k < own.size(); ++k) {
        EXPECT_EQ(ways[w].relays()[k].out, together[w].relays()[own[k].rank].out)
            << ways[w].variant();
        EXPECT_EQ(ways[w].relays()[k].in, together[w].relays()[own[k].rank].in)
            << ways[w].variant();
      }
  });
}

}  // namespace tonari::graphs
