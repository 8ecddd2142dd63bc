// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/choose_graph.hpp"

#include "planners/patterns/list_graph.hpp"
#include "planners/patterns/row_graph.hpp"

namespace tonari {

std::unique_ptr<StagedGraph> make_staged_graph(const CommunicationMatrix& pattern, int stages,
                                               std::size_t edges) {
  constexpr int few_stages = 4;
  constexpr std::size_t many_edges = 128;  // of a rank
  if (stages <= few_stages || edges > many_edges * static_cast<std::size_t>(pattern.ranks()))
    return std::make_unique<RowGraph>(pattern, stages);
  return std::make_unique<ListGraph>(pattern, stages);
}

}  // namespace tonari
