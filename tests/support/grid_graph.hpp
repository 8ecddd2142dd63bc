// SPDX-License-Identifier: BSD-3-Clause
// The neighbors of a grid as a graph.
#pragma once

#include "support/graph_oracle.hpp"
#include "support/oracle.hpp"

namespace tonari::test {

inline Graph graph_of(const Topology& t) {
  Graph graph{std::vector<Lists>(static_cast<std::size_t>(world_size())), t.name};
  for (int r = 0; r < world_size(); ++r)
    for (int i = 0; i < t.count(); ++i) {
      Lists& lists = graph.of[static_cast<std::size_t>(r)];
      lists.targets.push_back(t.target(r, i)), lists.sources.push_back(t.source(r, i));
      lists.origins.push_back(i);
    }
  return graph;
}

}  // namespace tonari::test
