// SPDX-License-Identifier: BSD-3-Clause
// What every routing must be.
#pragma once

#include "base/error.hpp"
#include "planners/offsets/routing.hpp"

namespace tonari::test {

inline void check_path(const Routing& routing, std::size_t i) {
  const Grid& grid = routing.near().grid;
  const Vec& offset = routing.near().offsets[i];
  Vec sum;
  std::int32_t last = -1;
  for (std::int32_t step : routing.path(i)) {
    if (step <= last) fail(Errc::internal, "routing: the steps of block ", i, " are not ascending");
    last = step;
    const Vec& b = routing.steps()[step];
    sum = sum + b;
    for (int j = 0; j < grid.dimensions(); ++j)
      if (!grid.periodic(j) && b[j] != 0 && (b[j] > 0) != (offset[j] > 0))
        fail(Errc::internal, "routing: block ", i, " turns back along the non-periodic dimension ",
             j);
  }
  if (grid.reachable(offset) && !grid.shortest(sum - offset).is_zero())
    fail(Errc::internal, "routing: the path of block ", i, " does not end at its target");
}

// Throws Errc::internal if the two conditions in routing.hpp do not hold.
inline void check(const Routing& routing) {
  const Neighborhood& near = routing.near();
  if (routing.blocks() != near.offsets.size())
    fail(Errc::internal, "routing: ", routing.blocks(), " paths for ", near.offsets.size(),
         " blocks");
  for (std::size_t i = 0; i < routing.blocks(); ++i) check_path(routing, i);
  for (const Vec& step : routing.steps())
    if (near.grid.shortest(step).is_zero()) fail(Errc::internal, "routing: a step goes nowhere");
}

}  // namespace tonari::test
