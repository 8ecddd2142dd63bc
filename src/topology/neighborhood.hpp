// SPDX-License-Identifier: BSD-3-Clause
// An isomorphic neighborhood (Träff 2016, §2): every rank R of a grid sends block i to R + C^i and
// receives block i from R - C^i.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/grid.hpp"

namespace tonari {

// Each neighbor gets a block of its own, or all get the same block.
enum class Collective : std::uint8_t { alltoall, allgather };
const char* name(Collective collective);

struct Neighborhood {
  Grid grid;
  // C^0 .. C^{s-1}; duplicates, zero vectors and offsets longer than the grid are allowed
  std::vector<Vec> offsets;

  // -1: none
  int target(int rank, std::size_t i) const {
    return grid.rank_at(grid.coordinates(rank) + offsets[i]);
  }
  // -1: none
  int source(int rank, std::size_t i) const {
    return grid.rank_at(grid.coordinates(rank) - offsets[i]);
  }
  std::uint64_t fingerprint() const;  // equal for equal grids and lists
};

// What target() and source() return for all i, found in O(d) additions each.
struct NeighborRanks {
  std::vector<std::int32_t> targets, sources;
};
NeighborRanks neighbor_ranks(const Neighborhood& near, int rank);

}  // namespace tonari
