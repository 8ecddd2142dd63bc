// SPDX-License-Identifier: BSD-3-Clause
#include "plain.hpp"

#include <algorithm>

namespace tonari::bench {
namespace {

// f(in, out) for all rows, pointing to the first own cells.
template <class F>
void over_rows(const tonari_array& array, const double* in, double* out, std::int64_t size,
               Tile tile, const F& f) {
  for (std::int64_t zz = 0; zz < size; zz += tile.planes)
    for (std::int64_t yy = 0; yy < size; yy += tile.rows)
      for (std::int64_t z = zz; z < std::min(zz + tile.planes, size); ++z)
        for (std::int64_t y = yy; y < std::min(yy + tile.rows, size); ++y) {
          const std::int64_t place = (z + array.lower[0]) * array.stride[0] +
                                     (y + array.lower[1]) * array.stride[1] + array.lower[2];
          f(in + place, out + place);
        }
}

}  // namespace

void plain_copy(const tonari_array& array, const double* in, double* out, std::int64_t size,
                Tile tile) {
  over_rows(array, in, out, size, tile,
            [size](const double* __restrict from, double* __restrict to) {
#pragma GCC unroll 4
              // no call of memcpy, which may not use plain stores
              for (std::int64_t x = 0; x < size; ++x) to[x] = 1.5 * from[x];
            });
}

void plain_seven(const double* c, const tonari_array& array, const double* in, double* out,
                 std::int64_t size, Tile tile) {
  const std::int64_t sz = array.stride[0], sy = array.stride[1];
  const double c0 = c[0], c1 = c[1];
  over_rows(array, in, out, size, tile, [=](const double* __restrict from, double* __restrict to) {
    for (std::int64_t x = 0; x < size; ++x)
      to[x] = c0 * from[x] + c1 * (from[x - 1] + from[x + 1] + from[x - sy] + from[x + sy] +
                                   from[x - sz] + from[x + sz]);
  });
}

// Cells of one class are added up first, as one would write it: 115 additions, 10 multiplications,
// 9 additions.
void plain_full(const double* c, const tonari_array& array, const double* in, double* out,
                std::int64_t size, Tile tile) {
  const std::int64_t sz = array.stride[0], sy = array.stride[1];
  over_rows(array, in, out, size, tile, [=](const double* __restrict from, double* __restrict to) {
    constexpr int classes[3][3][3] = {{{0, 1, 2}, {1, 3, 4}, {2, 4, 5}},
                                      {{1, 3, 4}, {3, 6, 7}, {4, 7, 8}},
                                      {{2, 4, 5}, {4, 7, 8}, {5, 8, 9}}};
    for (std::int64_t x = 0; x < size; ++x) {
      double sum[10] = {};
#pragma GCC unroll 5
      for (int dz = -2; dz <= 2; ++dz)
#pragma GCC unroll 5
        for (int dy = -2; dy <= 2; ++dy)
#pragma GCC unroll 5
          for (int dx = -2; dx <= 2; ++dx)
            sum[classes[dz < 0 ? -dz : dz][dy < 0 ? -dy : dy][dx < 0 ? -dx : dx]] +=
                from[x + dz * sz + dy * sy + dx];
      double total = 0;
#pragma GCC unroll 10
      for (int i = 0; i < 10; ++i) total += c[i] * sum[i];
      to[x] = total;
    }
  });
}

}  // namespace tonari::bench
