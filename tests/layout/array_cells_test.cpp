// SPDX-License-Identifier: BSD-3-Clause
// Bytes of boxes in arrays, against counting them one by one.
#include "layout/array_cells.hpp"
#include "support/zu.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tonari {
namespace {

// The offsets of the cells in traveling order: the fastest index first.
std::vector<std::ptrdiff_t> one_by_one(const GridBox& box, ArrayOrder order, const CellBox& cells) {
  std::vector<std::ptrdiff_t> all;
  if (empty(cells, box.dims)) return all;
  Cells x = cells.first;
  for (bool more = true; more;) {
    std::int64_t at = 0;
    for (int i = 0; i < box.dims; ++i) {
      const auto k = zu(order == ArrayOrder::c ? i : box.dims - 1 - i);  // slowest first
      at = at * (box.lower[k] + box.own[k] + box.upper[k]) + x[k] + box.lower[k];
    }
    all.push_back(at);
    more = false;
    for (int i = 0; i < box.dims && !more; ++i) {
      const auto k = zu(order == ArrayOrder::c ? box.dims - 1 - i : i);
      more = ++x[k] < cells.end[k];
      if (!more) x[k] = cells.first[k];
    }
  }
  return all;
}

TEST(ArrayCells, LieAndTravelInTheirOrder) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int repeat = 0; repeat < 400; ++repeat) {
    GridBox box{pick(1, 5)};
    CellBox cells;
    for (std::size_t k = 0; k < zu(box.dims); ++k) {
      box.lower[k] = pick(0, 2), box.own[k] = pick(1, 4), box.upper[k] = pick(0, 2);
      cells.first[k] = pick(static_cast<int>(-box.lower[k]), static_cast<int>(box.own[k]));
      cells.end[k] = pick(static_cast<int>(cells.first[k]) - (repeat % 20 == 0),
                          static_cast<int>(box.own[k] + box.upper[k]));
    }
    for (const ArrayOrder order : {ArrayOrder::c, ArrayOrder::fortran}) {
      constexpr std::size_t element = 3;
      const Layout layout = bytes_of_cells(box, order, cells, element, 100);
      Layout want;
      for (const std::ptrdiff_t at : one_by_one(box, order, cells))
        want.add(100 + at * static_cast<std::ptrdiff_t>(element), element);
      std::vector<std::ptrdiff_t> got_bytes, want_bytes;
      for (const auto& [from, to] : {std::pair(&layout, &got_bytes), {&want, &want_bytes}})
        for (const tonari::Run& run : from->runs())
          for (std::size_t p = 0; p < run.count; ++p)
            for (std::size_t b = 0; b < run.length; ++b)
              to->push_back(run.offset + static_cast<std::ptrdiff_t>(p) * run.stride +
                            static_cast<std::ptrdiff_t>(b));
      EXPECT_EQ(got_bytes, want_bytes);
    }
  }
}

TEST(ArrayCells, StridesGrowFromTheFastestIndex) {
  const GridBox box{3, {4, 5, 6}, {1, 0, 2}, {0, 2, 1}};
  EXPECT_EQ(strides(box, ArrayOrder::c), (Cells{63, 9, 1, 0, 0}));
  EXPECT_EQ(strides(box, ArrayOrder::fortran), (Cells{1, 5, 35, 0, 0}));
}

}  // namespace
}  // namespace tonari
