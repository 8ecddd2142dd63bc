// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/axis.hpp"

#include <algorithm>

#include "planners/offsets/routing.hpp"

namespace tonari {

std::vector<Coordinates> coordinates_by_dimension(const Neighborhood& near) {
  const int d = near.grid.dimensions();
  std::vector<std::vector<std::int32_t>> values(d);
  for (const Vec& offset : routable_offsets(near))
    for (int j = 0; j < d; ++j)
      if (offset[j] != 0) values[j].push_back(offset[j]);
  std::vector<Coordinates> all(d);
  for (int j = 0; j < d; ++j) {
    std::sort(values[j].begin(), values[j].end());
    for (auto from = values[j].begin(); from != values[j].end();) {
      const auto to = std::upper_bound(from, values[j].end(), *from);
      all[j].emplace_hint(all[j].end(), *from, to - from);
      from = to;
    }
  }
  return all;
}

std::size_t Axis::hops(const Coordinates& coordinates) const {
  std::size_t hops = 0;
  for (const auto& [c, blocks] : coordinates) hops += sums.at(c).size() * blocks;
  return hops;
}

Axis direct_axis(const Coordinates& coordinates) {
  Axis axis;
  for (const auto& [c, blocks] : coordinates) {
    axis.sums[c] = {static_cast<std::int32_t>(axis.lengths.size())};
    axis.lengths.push_back(c);
  }
  return axis;
}

}  // namespace tonari
