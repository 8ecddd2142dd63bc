// SPDX-License-Identifier: BSD-3-Clause
// One dimension by itself: the coordinates that occur along it, and the steps that add up to them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "topology/neighborhood.hpp"

namespace tonari {

// Coordinate value -> number of blocks that have it, for one dimension; zero is left out.
using Coordinates = std::map<std::int32_t, std::size_t>;
std::vector<Coordinates> coordinates_by_dimension(const Neighborhood& near);

// How one dimension moves its coordinates: step lengths in order and, for every coordinate that
// occurs, the steps that add up to it.
struct Axis {
  std::vector<std::int32_t> lengths;
  // coordinate -> ascending indices into lengths
  std::map<std::int32_t, std::vector<std::int32_t>> sums;
  std::size_t hops(const Coordinates& coordinates) const;
};

// A step for every coordinate, so every coordinate in one step.
Axis direct_axis(const Coordinates& coordinates);

}  // namespace tonari
