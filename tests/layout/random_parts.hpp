// SPDX-License-Identifier: BSD-3-Clause
// Random grids cut into subdomains.
#pragma once

#include <array>
#include <random>

#include "layout/decomposition.hpp"

namespace tonari::test {

inline Decomposition random_parts(std::mt19937& random, int dims) {
  const auto between = [&](int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  std::array<int, most_surface_dims> sizes{};
  std::array<bool, most_surface_dims> periodic{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k)
    sizes[k] = between(1, dims < 4 ? 4 : 2), periodic[k] = between(0, 1) == 1;
  const auto d = static_cast<std::size_t>(dims);
  Decomposition parts{Grid(std::span(sizes).first(d), std::span(periodic).first(d))};
  for (std::size_t k = 0; k < d; ++k) {
    parts.per_rank[k] = between(1, dims < 4 ? 3 : 2);
    parts.lower[k] = between(0, 2), parts.upper[k] = between(0, 2);
    for (int i = 0; i < sizes[k] * parts.per_rank[k]; ++i) parts.cuts[k].push_back(between(4, 7));
  }
  return parts;
}

inline std::int64_t all_subdomains(const Decomposition& parts) {
  return std::int64_t{parts.ranks.ranks()} * parts.subdomains();
}

// Runs test(parts) on as many random grids of up to three dimensions as `repeats` says, and on two
// of each more.
template <class Test>
void for_random_parts(unsigned seed, int repeats, Test test) {
  std::mt19937 random(seed);
  for (int dims = 1; dims <= most_surface_dims; ++dims)
    for (int repeat = 0; repeat < (dims < 4 ? repeats : 2); ++repeat)
      test(random_parts(random, dims));
}

}  // namespace tonari::test
