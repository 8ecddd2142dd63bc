// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/staged_graph.hpp"

#include <algorithm>

namespace tonari {

void StagedGraph::cut_loops(std::vector<StagedEdge>& path) {
  std::size_t kept = 0;
  for (const StagedEdge& edge : std::vector<StagedEdge>(path)) {
    const auto again = std::find_if(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(kept),
                                    [&](const StagedEdge& e) { return e.from == edge.from; });
    kept = static_cast<std::size_t>(again - path.begin());
    path[kept++] = edge;
  }
  const auto arrived = std::find_if(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(kept),
                                    [&](const StagedEdge& e) { return e.to == path[kept - 1].to; });
  path.erase(arrived + 1, path.end());
}

}  // namespace tonari
