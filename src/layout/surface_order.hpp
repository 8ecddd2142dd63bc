// SPDX-License-Identifier: BSD-3-Clause
// The surface of a grid in regions, and the order in which to store them (Zhao et al. 2021,
// section 3).
//
// In d dimensions the cells near the border fall into 3^d - 1 regions, one per sign vector that is
// not zero: +0- is near the upper border of dimension 0, near neither border of dimension 1 and
// near the lower one of dimension 2. The neighbor in direction v needs the regions that have the
// signs of v wherever v is not zero:
//
//      -+ | 0+ | ++
//      ---+----+---      neighbor 0+ needs -+, 0+ and ++
//      -0 |    | +0      neighbor ++ needs ++
//      ---+----+---
//      -- | 0- | +-
//
// Regions are stored one after the other. Consecutive regions that a neighbor needs travel to it in
// one message, without packing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tonari {

constexpr int most_surface_dims = 5;

// A sign vector, also the direction of a neighbor: a number of d digits in base 3, those of -, 0
// and + being 0, 1 and 2, that of dimension 0 first. So regions are in the row order of the offsets
// of moore:d:1. The number in the middle is the zero vector: the grid itself, neither region nor
// neighbor.
using Region = std::int32_t;

Region center(int dims);
std::string to_text(Region region, int dims);  // "+0-"
Region parse_region(std::string_view text);    // throws Errc::argument

bool needs(Region neighbor, Region region, int dims);

// In how many dimensions a and b have the same sign, not zero. Exactly 2^this - 1 neighbors need
// both.
int shared_signs(Region a, Region b, int dims);

struct SurfaceOrder {
  int dims;
  std::vector<Region> regions;  // each once
};

// Consecutive regions of an order: order.regions[first] and the `count` - 1 after it.
struct SurfaceRun {
  int first;
  int count;
  friend bool operator==(const SurfaceRun&, const SurfaceRun&) = default;
};

// as few and as long as can be, ascending: the messages to this neighbor
std::vector<SurfaceRun> runs(const SurfaceOrder& order, Region neighbor);
int messages(const SurfaceOrder& order);  // to all neighbors

int neighbors(int dims);       // Eq. 2: 3^d - 1, as many as there are regions
int basic_messages(int dims);  // Eq. 3: 5^d - 3^d, every region by itself to each neighbor
int least_messages(int dims);  // Eq. 1: no order has fewer

// The best order known, which has the least number of messages. For 1 to 5 dimensions; else throws
// Errc::argument. The table behind it is written by tools/surface_orders.py, which asks
// surface_search.hpp.
SurfaceOrder surface_order(int dims);

// Throws Errc::argument unless 1 <= dims <= 5.
void check_surface_dims(int dims);

}  // namespace tonari
