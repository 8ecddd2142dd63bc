// SPDX-License-Identifier: BSD-3-Clause
// What the dimension-wise algorithms (torus, torus-direct, additive-basis) share: the assembly of a
// routing from what each dimension does by itself.
#pragma once

#include <memory>
#include <vector>

#include "planners/offsets/axis.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {

// axes: one per dimension.
Routing route_by_dimension(const Neighborhood& near, const std::vector<Axis>& axes,
                           const std::vector<int>& order);

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
