// SPDX-License-Identifier: BSD-3-Clause
// Where the cells of a box lie in an array with ghosts, in C's order or in Fortran's.
#pragma once

#include "copy/moves.hpp"
#include "layout/grid_box.hpp"

namespace tonari {

// c: the last index runs fastest; fortran: the first one.
enum class ArrayOrder : std::uint8_t { c, fortran };

// Of the k-th dimension in the order in which they vary, the fastest first.
inline int by_speed(int k, int dims, ArrayOrder order) {
  return order == ArrayOrder::c ? dims - 1 - k : k;
}

// In cells, of an array of the box and its ghosts. Throws Errc::overflow.
Cells strides(const GridBox& box, ArrayOrder order);

// The bytes of these cells, whose array begins at `base`; they travel as the array has them.
Layout bytes_of_cells(const GridBox& box, ArrayOrder order, const CellBox& cells,
                      std::size_t element_bytes, std::ptrdiff_t base);

}  // namespace tonari
