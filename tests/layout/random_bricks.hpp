// SPDX-License-Identifier: BSD-3-Clause
// Random subdomains in bricks, small enough for tests that look at every cell.
#pragma once

#include <algorithm>
#include <random>

#include "layout/brick_layout.hpp"

namespace tonari::test {

class RandomBricks {
 public:
  explicit RandomBricks(unsigned seed) : random(seed) {}

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(random);
  }

  // Bricks, widths (both of all subdomains of a grid; often 0, often different on the two sides),
  // fields and unit.
  void draw(int dims) {
    box = {dims, {}, {}, {}};
    shape = {};
    for (std::size_t j = 0; j < static_cast<std::size_t>(dims); ++j) {
      shape.brick[j] = between(1, dims > 3 ? 2 : 3);
      box.lower[j] = shape.brick[j] * between(0, dims > 3 ? 1 : 2);
      box.upper[j] = shape.brick[j] * between(0, dims > 3 ? 1 : 2);
    }
    shape.element_bytes = 8;
    shape.fields = static_cast<int>(between(1, 3));
    shape.interleaved = between(0, 1) == 1;
    shape.unit = std::array<std::int64_t, 3>{1, 64, 4096}[static_cast<std::size_t>(between(0, 2))];
    order = surface_order(dims);
    if (between(0, 1) == 1) std::shuffle(order.regions.begin(), order.regions.end(), random);
  }

  // Own cells along a dimension, at times just lower + upper.
  std::int64_t extent(int j) {
    const auto at = static_cast<std::size_t>(j);
    return std::max(box.lower[at] + box.upper[at] + shape.brick[at] * between(0, 2),
                    shape.brick[at]);
  }

  // One subdomain of what was drawn.
  BrickLayout layout() {
    for (int j = 0; j < box.dims; ++j) box.own[static_cast<std::size_t>(j)] = extent(j);
    return {box, shape, order};
  }

  GridBox box;
  BrickShape shape;
  SurfaceOrder order{1, {}};
  std::mt19937 random;
};

// f(x) for all x of the box.
template <class F>
void for_cells(const CellBox& box, int dims, F f) {
  const std::int64_t cells = count(box, dims);
  for (std::int64_t i = 0; i < cells; ++i) {
    Cells x{};
    std::int64_t rest = i;
    for (auto j = static_cast<std::size_t>(dims); j-- > 0;) {
      const std::int64_t side = box.end[j] - box.first[j];
      x[j] = box.first[j] + rest % side;
      rest /= side;
    }
    f(x);
  }
}

inline CellBox whole(const GridBox& box) {
  CellBox all;
  for (std::size_t j = 0; j < static_cast<std::size_t>(box.dims); ++j) {
    all.first[j] = -box.lower[j];
    all.end[j] = box.own[j] + box.upper[j];
  }
  return all;
}

inline bool contains(const CellBox& box, const Cells& x, int dims) {
  for (std::size_t j = 0; j < static_cast<std::size_t>(dims); ++j)
    if (x[j] < box.first[j] || x[j] >= box.end[j]) return false;
  return true;
}

}  // namespace tonari::test
