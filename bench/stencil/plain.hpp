// SPDX-License-Identifier: BSD-3-Clause
// What programs without a library do: loops over arrays, in tiles, vectorized by the compiler.
#pragma once

#include <tonari/grid_layout.h>

#include <cstdint>
#include <functional>

namespace tonari::bench {

struct Tile {
  std::int64_t planes, rows;
};
using Plain =
    std::function<void(const tonari_array&, const double*, double*, std::int64_t size, Tile)>;

void plain_copy(const tonari_array& array, const double* in, double* out, std::int64_t size,
                Tile tile);
void plain_seven(const double* c, const tonari_array& array, const double* in, double* out,
                 std::int64_t size, Tile tile);
// 125 points, 10 coefficients
void plain_full(const double* c, const tonari_array& array, const double* in, double* out,
                std::int64_t size, Tile tile);

}  // namespace tonari::bench
