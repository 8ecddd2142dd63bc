// SPDX-License-Identifier: BSD-3-Clause
// One rank of a directed graph: the ranks it sends to and receives from, and those on its node. A
// rank needs to know no more of a graph than this.
#pragma once

#include <cstdint>
#include <vector>

namespace tonari {

struct Vertex {
  std::int32_t rank = 0;
  // Send block i goes to targets[i], or nowhere if that is -1 (MPI_PROC_NULL). Ranks may repeat,
  // and the rank itself may occur.
  std::vector<std::int32_t> targets;
  // Receive block j comes from sources[j]; if that is -1, it is left alone.
  std::vector<std::int32_t> sources;
  // Receive block j is send block origins[j] of sources[j]: the k-th edge from there is its k-th
  // edge to here.
  std::vector<std::uint32_t> origins;
  std::int32_t node = 0;                 // the lowest rank of this rank's node
  std::vector<std::int32_t> node_ranks;  // all ranks of that node, ascending
  // The bytes of each send block, where they are known with the graph (weights); empty: nothing is
  // known of them, or there are none.
  std::vector<std::uint64_t> bytes = {};
};

}  // namespace tonari
