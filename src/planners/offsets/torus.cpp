// SPDX-License-Identifier: BSD-3-Clause
// torus (Träff 2016, Algorithm 1, §3.1): only hops of length one along the dimensions; D = sum of
// the largest positive and negative coordinates, V = sum of the norms; round- and volume-optimal if
// only direct neighbors on a torus can talk.
#include <algorithm>
#include <cmath>

#include "planners/offsets/dimensions.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_hops = 50'000'000;

// Hop h away from home goes out in both directions side by side: +1, -1, +1, -1, ... until one
// direction is done.
Axis axis(const Coordinates& coordinates) {
  Axis axis;
  if (coordinates.empty()) return axis;
  const std::int32_t ahead = std::max(0, coordinates.rbegin()->first),
                     back = std::max(0, -coordinates.begin()->first);
  std::vector<std::int32_t> plus, minus;
  for (std::int32_t h = 0; h < std::max(ahead, back); ++h) {
    if (h < ahead)
      plus.push_back(static_cast<std::int32_t>(axis.lengths.size())), axis.lengths.push_back(1);
    if (h < back)
      minus.push_back(static_cast<std::int32_t>(axis.lengths.size())), axis.lengths.push_back(-1);
  }
  for (const auto& [c, blocks] : coordinates) {
    const std::vector<std::int32_t>& way = c > 0 ? plus : minus;
    axis.sums[c].assign(way.begin(), way.begin() + std::abs(c));
  }
  return axis;
}

std::string applicable(const Neighborhood& near, Collective) {
  std::size_t hops = 0;
  for (const Vec& offset : routable_offsets(near)) hops += offset.norm();
  return hops <= most_hops ? "" : "its blocks would travel more than 50,000,000 hops per rank";
}

std::vector<OffsetVariant> variants(std::shared_ptr<const Neighborhood> near,
                                    Collective collective) {
  return {variant_by_dimension("torus", axis, std::move(near), collective)};
}

}  // namespace

const OffsetPlanner offset_torus{"torus", applicable, variants};

}  // namespace tonari
