// SPDX-License-Identifier: BSD-3-Clause
// Which of two kinds of a staged graph. One has rows of bits (row_graph.hpp), for few stages, in
// which ranks have many edges each. The other one has lists (list_graph.hpp), for many stages with
// few.
#pragma once

#include <cstddef>
#include <memory>

#include "planners/patterns/communication_matrix.hpp"
#include "planners/patterns/staged_graph.hpp"

namespace tonari {

// Of the pattern's ranks, without edges; of the kind that is fast with so many stages, and edges to
// begin with.
std::unique_ptr<StagedGraph> make_staged_graph(const CommunicationMatrix& pattern, int stages,
                                               std::size_t edges);

}  // namespace tonari
