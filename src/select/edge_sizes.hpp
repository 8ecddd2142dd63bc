// SPDX-License-Identifier: BSD-3-Clause
// The blocks of one rank, where sizes differ between ranks.
#pragma once

#include <vector>

#include "base/checked.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// In the order of the vertex; 0 where an edge leads nowhere. An allgather has one block to send.
struct EdgeSizes {
  const Vertex* vertex;  // outlives this
  std::vector<Bytes> send, recv;
};

}  // namespace tonari
