// SPDX-License-Identifier: BSD-3-Clause
// Recognizes that a graph over a grid is an isomorphic neighborhood (Träff 2016, §2), so that the
// planners for grids can be used.
#pragma once

#include <vector>

#include "planners/graphs/bsp_comm.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// One rank's blocks in terms of the pattern. -1: the neighbor lies outside of the mesh.
struct Isomorphism {
  // C^0 .. C^{s-1}, the same on all ranks; each the shortest that reaches its rank
  std::vector<Vec> offsets;
  std::vector<std::int32_t> send_blocks;  // the number of the send block that goes to +C^i
  // the number of the receive block for what the neighbor at -C^i sends along C^i
  std::vector<std::int32_t> recv_blocks;
};

// Collective. vertices: with origins; grid: of all ranks of `bsp`. One result per rank here, or
// none at all on all ranks if there is no list of offsets such that each rank's destinations are R
// + C^0, R + C^1, ... in this order, without those outside of the mesh. Destinations of -1 may
// stand anywhere; sources may stand in any order. Patterns of more than 65,536 offsets are not
// looked for.
std::vector<Isomorphism> find_isomorphism(BspComm& bsp, const Grid& grid,
                                          std::span<const Vertex> vertices);

}  // namespace tonari
