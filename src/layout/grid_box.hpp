// SPDX-License-Identifier: BSD-3-Clause
// One subdomain of a grid: its own cells and the ghost cells around them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "layout/surface_order.hpp"

namespace tonari {

// one number per dimension, dimension 0 first; entries beyond the grid's dimensions are 0
using Cells = std::array<std::int64_t, most_surface_dims>;

// Own cells are 0 to own - 1 in each dimension, ghosts -lower to -1 and own to own + upper - 1. The
// last dimension is contiguous in arrays.
struct GridBox {
  int dims = 1;
  Cells own{}, lower{}, upper{};
};

// first <= x < end; empty if first >= end in some dimension.
struct CellBox {
  Cells first{}, end{};
  friend bool operator==(const CellBox&, const CellBox&) = default;
};
bool empty(const CellBox& box, int dims);
std::int64_t count(const CellBox& box, int dims);  // cells; 0 if empty

// Throws Errc::argument with what to change: dims not 1 to 5, own < 1, a negative width, a domain
// smaller than its halo (own < lower or own < upper: a neighbor would need cells that this
// subdomain does not have), or more than 2^62 cells (2^60 along a dimension).
void check(const GridBox& box);

// The ghosts that the neighbor in this direction fills: width lower where the sign is -, upper
// where it is +, all own cells where it is 0. May be empty.
CellBox ghost_box(const GridBox& box, Region direction);
// The own cells that the neighbor in this direction needs for its ghosts. It has the same widths:
// what lies on the upper side is `lower` wide there.
CellBox send_box(const GridBox& box, Region direction);
// The own cells of one surface region (of the center: those that no neighbor needs): near the lower
// border (`upper` wide) where the sign is -, near the upper one (`lower` wide) where it is +,
// between where it is 0. Disjoint for different regions if own >= lower + upper.
CellBox region_box(const GridBox& box, Region region);

// For each dimension, whether there is no neighbor below and above: a border of a grid that is not
// periodic there.
using Sides = std::array<std::array<bool, 2>, most_surface_dims>;

// The same for exchanges dimension by dimension ("shift"; Palmer and Nieplocha 2002, Ding and He
// 2001): in the step of dimension k towards side sign (-1 or 1) with ghosts of earlier dimensions
// already there and traveling on, none of later ones. Ghosts on open sides have no owner and do
// not travel.
CellBox shift_send_box(const GridBox& box, int k, int sign, const Sides& open = {});
CellBox shift_ghost_box(const GridBox& box, int k, int sign, const Sides& open = {});

Region opposite(Region direction, int dims);
int sign(Region direction, int k, int dims);  // -1, 0 or 1 in dimension k
std::vector<Region> directions(int dims);     // all 3^d - 1, ascending
bool is_face(Region direction, int dims);     // exactly one sign that is not 0

}  // namespace tonari
