// SPDX-License-Identifier: BSD-3-Clause
// Variants to be priced: of patterns by name, and of random offsets.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/patterns.hpp"
#include "cost/effort.hpp"
#include "planners/registry.hpp"
#include "support/grids.hpp"

namespace tonari::cost {

inline BlockBytes blocks_of(std::uint64_t size) {
  return [size](Slice) { return size; };
}

inline Grid cube(int dimensions, int size, bool periodic) {
  return test::uniform(std::vector<int>(static_cast<std::size_t>(dimensions), size), periodic);
}

inline std::shared_ptr<const Neighborhood> near(const std::string& name, int size,
                                                bool periodic = true) {
  const Pattern pattern = parse_pattern(name);
  return std::make_shared<const Neighborhood>(
      Neighborhood{cube(pattern.dimensions, size, periodic), pattern.offsets});
}

// The first few variants of every algorithm that can be used.
inline std::vector<OffsetVariant> schedules(std::shared_ptr<const Neighborhood> where,
                                            Collective collective, std::size_t most = 3) {
  std::vector<OffsetVariant> all;
  for (const AlgorithmRow& row : algorithms()) {
    if (!row.offsets || !row.offsets->applicable(*where, collective).empty()) continue;
    std::vector<OffsetVariant> variants = row.offsets->variants(where, collective);
    for (std::size_t k = 0; k < std::min(most, variants.size()); ++k)
      all.push_back(std::move(variants[k]));
  }
  return all;
}

inline constexpr Collective both[] = {Collective::alltoall, Collective::allgather};

// Other ranks of a torus, each once, in any order.
inline std::shared_ptr<const Neighborhood> random_near(std::mt19937& random) {
  const auto below = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  const int dimensions = 1 + below(3), radius = 1 + below(3);
  std::vector<Vec> offsets;
  for (int tries = 1 + below(40); tries > 0 || offsets.empty(); --tries) {
    Vec offset;
    for (int j = 0; j < dimensions; ++j) offset[j] = below(2 * radius + 1) - radius;
    if (!offset.is_zero() && std::ranges::find(offsets, offset) == offsets.end())
      offsets.push_back(offset);
  }
  return std::make_shared<const Neighborhood>(Neighborhood{cube(dimensions, 9, true), offsets});
}

}  // namespace tonari::cost
