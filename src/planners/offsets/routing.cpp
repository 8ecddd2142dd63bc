// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/routing.hpp"

namespace tonari {

std::int32_t Routing::add_step(const Vec& step) {
  steps_.push_back(step);
  return static_cast<std::int32_t>(steps_.size() - 1);
}

std::vector<Vec> routable_offsets(const Neighborhood& near) {
  std::vector<Vec> offsets;
  offsets.reserve(near.offsets.size());
  for (const Vec& offset : near.offsets)
    offsets.push_back(near.grid.reachable(offset) ? near.grid.shortest(offset) : Vec{});
  return offsets;
}

}  // namespace tonari
