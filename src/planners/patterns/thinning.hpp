// SPDX-License-Identifier: BSD-3-Clause
// Two stages of edges, thinned out as long as every block keeps a way.
//
//   stage 0    a ───▶ x
//   stage 1           x ───▶ t
//
// A block from a to t goes by way of x while both edges are there. x = t is the edge of its own in
// stage 0, x = a the one in stage 1.
//
// The busiest rank is next, by messages sent or received times the square root of what it has in
// the pattern. So ranks with much to do get far while the others still offer ways round. It deletes
// those of its edges that could serve the fewest pairs of the pattern. Blocks with many words on
// them count against an edge, so that hubs remain. What cannot be deleted now never can, as ways
// only become fewer: every edge is tried once. Ways round lead over the ranks that have the fewest
// words to send so far. Time: about (edges + blocks) * (degree or ranks / 64).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "planners/patterns/communication_matrix.hpp"
#include "planners/patterns/edge_index.hpp"

namespace tonari {

struct ThinningLimits {
  double price;  // most words that a deletion may add
  double words;  // most words of all blocks together, each counted on every hop
  // gives up once some rank has to send or receive more messages
  int most = std::numeric_limits<int>::max();
};

struct Thinned {
  std::vector<std::int32_t> via;  // by block: x; empty if it gave up
  std::uint64_t steps = 0;        // looks at a block: what took the time
};

// Every block must have a way.
Thinned thin(const CommunicationMatrix& matrix, const TwoStages& edges,
             const ThinningLimits& limits);

}  // namespace tonari
