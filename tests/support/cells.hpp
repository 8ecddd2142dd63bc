// SPDX-License-Identifier: BSD-3-Clause
// Boxes of cells, and all cells of one.
#pragma once

#include <tonari/grid.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tonari::test {

inline constexpr int most_dims = TONARI_GRID_MAX_DIMS;
using Index = std::array<std::int64_t, most_dims>;

// f(x) for all x of the box in lexicographic order.
template <class F>
void for_cells(const tonari_box& box, int dims, F f) {
  Index x{};
  for (int k = 0; k < dims; ++k) {
    if (box.first[k] >= box.end[k]) return;
    x[k] = box.first[k];
  }
  for (int k = 0; k >= 0;) {
    f(x);
    for (k = dims - 1; k >= 0 && ++x[k] == box.end[k]; --k) x[k] = box.first[k];
  }
}

inline std::int64_t cells_in(const tonari_box& box, int dims) {
  std::int64_t cells = 1;
  for (int k = 0; k < dims; ++k) cells *= std::max<std::int64_t>(box.end[k] - box.first[k], 0);
  return cells;
}

}  // namespace tonari::test
