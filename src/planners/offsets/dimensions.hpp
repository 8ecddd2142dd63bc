// SPDX-License-Identifier: BSD-3-Clause
// What the dimension-wise algorithms (torus, torus-direct, additive-basis) share: the coordinates
// that occur along each dimension, and the assembly of a routing from what each dimension does by
// itself.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planners/offsets/offset_planner.hpp"

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

// axes: one per dimension.
Routing route_by_dimension(const Neighborhood& near, const std::vector<Axis>& axes,
                           const std::vector<int>& order);

// A step for every coordinate, so every coordinate in one step.
Axis direct_axis(const Coordinates& coordinates);

// This returns the schedule of that routing. The variant is as OffsetVariant has it: empty stands
// for none, "rounds" for their number.
OffsetVariant variant_by_dimension(const char* algorithm, const char* variant,
                                   const std::vector<Coordinates>& coordinates,
                                   std::vector<Axis> axes, std::shared_ptr<const Neighborhood> near,
                                   Collective collective);
// The same, with the axis that `axis` makes of each dimension's coordinates.
OffsetVariant variant_by_dimension(const char* algorithm, Axis (*axis)(const Coordinates&),
                                   std::shared_ptr<const Neighborhood> near, Collective collective);

}  // namespace tonari
