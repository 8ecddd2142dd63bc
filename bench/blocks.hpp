// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of one exchange lie: pure arithmetic on bytes, no MPI.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/patterns.hpp"
#include "operation.hpp"
#include "topology/vertex.hpp"

namespace bench {

// Elements of `element` bytes at offset + i_0 * steps[0].stride + i_1 * steps[1].stride + ..., the
// last index fastest.
struct Strided {
  struct Step {
    std::size_t count;
    std::size_t stride;  // bytes
  };
  std::size_t offset = 0;   // bytes from the start of the buffer
  std::size_t element = 0;  // bytes
  std::vector<Step> steps;  // empty: one contiguous element

  bool contiguous() const { return steps.empty(); }
  std::size_t bytes() const;
  std::vector<std::size_t> offsets() const;  // of every byte, in the order of the type map
};

struct Blocks {
  std::vector<Strided> send;  // one for allgather
  std::vector<Strided> recv;
  std::size_t send_bytes = 0;  // extent of the buffers
  std::size_t recv_bytes = 0;
  bool one_array = false;  // both are the same array (halo)
};

// bytes: of every block in the regular forms and allgather. In alltoallv and alltoallw a block
// shrinks with the number z of non-zero coordinates of its offset, to bytes^((d - z) / (d - 1)):
// faces get `bytes`, edges less, corners 1. That is the m^(d - |C|) of Träff 2016, Figure 3, with
// m = bytes^(1 / (d - 1)), the side of a face. Throws tonari::Error if the layout cannot be had for
// the pattern.
Blocks place_blocks(const tonari::Pattern& pattern, Operation operation, Layout layout,
                    std::size_t bytes);

// The same for one rank of a graph. In alltoallv and alltoallw an edge's block has between a
// quarter of `bytes` and all of them. Only contiguous.
Blocks place_graph_blocks(const std::vector<tonari::Vertex>& graph, int rank, Operation operation,
                          Layout layout, std::size_t bytes);

}  // namespace bench
