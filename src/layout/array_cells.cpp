// SPDX-License-Identifier: BSD-3-Clause
#include "layout/array_cells.hpp"

#include "base/checked.hpp"

namespace tonari {

Cells strides(const GridBox& box, ArrayOrder order) {
  Cells all{};
  std::int64_t stride = 1;
  for (int i = 0; i < box.dims; ++i) {
    const auto k = static_cast<std::size_t>(by_speed(i, box.dims, order));
    all[k] = stride;
    stride =
        checked_multiply(stride, box.lower[k] + box.own[k] + box.upper[k], "cells of an array");
  }
  return all;
}

Layout bytes_of_cells(const GridBox& box, ArrayOrder order, const CellBox& cells,
                      std::size_t element_bytes, std::ptrdiff_t base) {
  Layout layout;
  if (empty(cells, box.dims)) return layout;
  const auto element = static_cast<std::int64_t>(element_bytes);
  const Cells stride = strides(box, order);
  const auto at = [&](int i) { return static_cast<std::size_t>(by_speed(i, box.dims, order)); };
  const auto extent = [&](std::size_t k) { return cells.end[k] - cells.first[k]; };
  // Rows along the fastest dimension, as many at once as the next one has.
  const std::size_t rows = box.dims > 1 ? at(1) : 0;
  const auto length = static_cast<std::size_t>(extent(at(0)) * element);
  const auto count = static_cast<std::size_t>(box.dims > 1 ? extent(rows) : 1);
  const std::int64_t step = box.dims > 1 ? stride[rows] * element : 0;
  Cells x = cells.first;
  for (int i = 0; i < box.dims;) {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k)
      place += (x[k] + box.lower[k]) * stride[k];
    layout.add({base + static_cast<std::ptrdiff_t>(place * element), length, step, count});
    for (i = 2; i < box.dims && ++x[at(i)] == cells.end[at(i)]; ++i) x[at(i)] = cells.first[at(i)];
  }
  return layout;
}

}  // namespace tonari
