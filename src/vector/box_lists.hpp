// SPDX-License-Identifier: BSD-3-Clause
// Vectors of boxes of cells, one on each rank of a Cartesian grid of ranks: their nodes, which
// boxes that touch share (tonari_vector_create_box_nodes), or their cells, with those of others
// around them as ghosts (tonari_vector_create_box_cells).
#pragma once

#include <mpi.h>

#include "layout/grid_box.hpp"
#include "topology/grid.hpp"
#include "vector/lists.hpp"

namespace tonari {

// What must be the same on all ranks. Points are nodes or cells.
struct BoxKind {
  int overlap;  // points of a box, along a dimension, that its neighbor there has, too
  int width;    // points on each side of a box that have to do with neighbors
  int along;    // dimensions along which a neighbor may lie off; 0: all
};

class BoxLists : public VectorLists {
 public:
  void check(int ranks) const override;
  std::int64_t owned() const override;
  ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const override;

 protected:
  // A rank in some direction, and its points; a rank may be there in several.
  struct Neighbor {
    Region direction = 0;
    std::int32_t rank = 0;
    std::int64_t first = 0;  // index
    Cells points{};
  };

  // cells: of this rank, one number per dimension.
  BoxLists(MPI_Comm cart, Numbers cells, BoxKind kind) : cart_(cart), cells_(cells), kind_(kind) {}
  // The index of a point that the neighbor has; `at` counts from the first point of this box.
  std::int64_t index_at(const Neighbor& neighbor, const GridBox& mine, const Cells& at) const;

 private:
  virtual ListedNeeds needs_of(const GridBox& mine, std::int64_t first,
                               const std::vector<Neighbor>& neighbors) const = 0;
  GridBox box(const Grid& ranks) const;
  // In the order in which ghosts are appended.
  std::vector<Neighbor> neighbors_of(const Grid& ranks, std::int32_t rank) const;
  void introduce(BspComm& bsp, const GridBox& mine, std::int64_t first,
                 std::vector<Neighbor>& neighbors) const;
  void compare(std::int32_t rank, const GridBox& mine, const Neighbor& neighbor,
               const BoxKind& theirs) const;

  MPI_Comm cart_;
  Numbers cells_;
  BoxKind kind_;
};

class BoxNodes final : public BoxLists {
 public:
  BoxNodes(MPI_Comm cart, Numbers cells) : BoxLists(cart, cells, {1, 1, 0}) {}

 private:
  ListedNeeds needs_of(const GridBox& mine, std::int64_t first,
                       const std::vector<Neighbor>& neighbors) const override;
};

class BoxCells final : public BoxLists {
 public:
  BoxCells(MPI_Comm cart, Numbers cells, int width, int along)
      : BoxLists(cart, cells, {0, width, along}) {}

 private:
  ListedNeeds needs_of(const GridBox& mine, std::int64_t first,
                       const std::vector<Neighbor>& neighbors) const override;
};

}  // namespace tonari
