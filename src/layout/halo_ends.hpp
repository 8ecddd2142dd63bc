// SPDX-License-Identifier: BSD-3-Clause
// The bytes that a halo exchange moves, and the plan that moves them. Pure: every rank can compute
// those of all others.
#pragma once

#include <span>
#include <vector>

#include "layout/brick_layout.hpp"
#include "layout/halo_links.hpp"
#include "plan/plan.hpp"

namespace tonari {

struct HaloMethod {
  // On bricks it has all ghosts of a side or none, and a shift has all.
  Reach reach = Reach::all;
  bool shift = false;    // dimension by dimension; what earlier steps brought travels on
  bool regions = false;  // bricks: every region by itself (Zhao 2021, Basic)
  bool packed = false;   // bricks: without padding, in pieces of any lengths
};

// The bytes that a link moves at this end, in the order in which they travel.
struct HaloEnd {
  HaloLink link;
  CellBox cells = {};  // of an array
  // of bricks: of the same lengths at both ends, unless they are packed
  std::vector<BrickPiece> pieces = {};
};
struct HaloEnds {
  std::vector<HaloEnd> send, receive;  // in the order of their keys
};

// The ends of the steps, one after the other, without links that move nothing. `bricks` belong to
// the rank's subdomains; empty if they are arrays.
std::vector<HaloEnds> halo_ends(const Decomposition& parts, int rank,
                                std::span<const BrickLayout* const> bricks, HaloMethod method);

// A block per end, or, piecewise, per piece; each is a message. Blocks are numbered in the order of
// steps and ends, on either side. What stays on this rank is copied.
Plan make_halo_plan(int rank, std::span<const HaloEnds> steps, bool piecewise);

}  // namespace tonari
