// One rank of a directed graph: the ranks it sends to and receives from, and which ranks share its
// node. No rank knows more of a graph than this.
#pragma once

#include <cstdint>
#include <vector>

namespace tonari {

struct Vertex {
  std::int32_t rank = 0;
  // send block i goes to targets[i]; -1: nowhere (MPI_PROC_NULL). Repeats and the rank itself are
  // allowed
  std::vector<std::int32_t> targets;
  // receive block j comes from sources[j]; -1: it is left alone
  std::vector<std::int32_t> sources;
  // receive block j is send block origins[j] of sources[j] (the k-th edge from there is its k-th to
  // here)
  std::vector<std::uint32_t> origins;
  std::int32_t node = 0;                 // the lowest rank of this rank's node
  std::vector<std::int32_t> node_ranks;  // all ranks of that node, ascending
};

}  // namespace tonari
