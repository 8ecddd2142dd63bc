// SPDX-License-Identifier: BSD-3-Clause
// Grids that are periodic in all dimensions, or in none.
#pragma once

#include <array>
#include <span>

#include "topology/grid.hpp"

namespace tonari::test {

inline Grid uniform(std::span<const int> sizes, bool periodic) {
  std::array<bool, max_dimensions + 1> flags;  // one more: what has too many is refused
  flags.fill(periodic);
  return Grid(sizes, std::span<const bool>(flags).first(std::min(sizes.size(), flags.size())));
}

inline Grid torus(std::initializer_list<int> sizes) {
  return uniform({sizes.begin(), sizes.size()}, true);
}
inline Grid mesh(std::initializer_list<int> sizes) {
  return uniform({sizes.begin(), sizes.size()}, false);
}

}  // namespace tonari::test
