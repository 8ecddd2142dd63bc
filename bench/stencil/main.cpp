// SPDX-License-Identifier: BSD-3-Clause
// tonari_stencil_bench [--size N]... [--seconds S]: stencils on bricks and arrays on one core,
// against plain loops that the compiler vectorizes and against the speed of memory, all in one run.
// Per size (own cells per dimension, doubles, halo 8) a table of nanoseconds per thousand cells,
// best of several turns, and ratios. Results are compared with the plain loops'.
//
// Roofline: "copy" reads one array and writes another with plain stores, the traffic of a stencil
// whose neighbors are found in the cache: 16 bytes per cell, and 8 more that the processor reads
// before it writes a line, for both alike.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "field.hpp"
#include "plain.hpp"
#include "stencil/brick_table.hpp"
#include "timer.hpp"
#include "tonari/stencil.hpp"

namespace tonari::bench {
namespace {

constexpr int halo = 8;
constexpr std::array<double, 2> seven{0.4, 0.1};
constexpr std::array<double, 10> full{0.2,   0.05,  0.02,  0.01,  0.007,
                                      0.005, 0.003, 0.002, 0.001, 0.0005};

struct Fields {  // one cube with halo, in and out
  explicit Fields(std::int64_t size)
      : array(test::packed_array(3, {halo, halo, halo}, {size, size, size}, {halo, halo, halo})),
        in(test::elements(array)),
        out(test::elements(array)) {}
  tonari_array array;
  Field in, out;
};

struct BrickFields {
  explicit BrickFields(std::int64_t size)
      : table(3, {8, 8, 8}, {1, 1, 1}, {size / 8, size / 8, size / 8}, {1, 1, 1}),
        in(table.elements()),
        out(table.elements()) {}
  test::BrickTable table;
  Field in, out;
};

tonari_box whole(std::int64_t size) { return {{0, 0, 0}, {size, size, size}}; }

double value_at(std::int64_t z, std::int64_t y, std::int64_t x) {
  return static_cast<double>((z * 7 + y * 13 + x * 29) % 101) / 97;
}

void fill(const Fields& fields, const BrickFields& in_bricks, std::int64_t size) {
  for (std::int64_t z = -halo; z < size + halo; ++z)
    for (std::int64_t y = -halo; y < size + halo; ++y)
      for (std::int64_t x = -halo; x < size + halo; ++x)
        at(bricks<8, 8, 8>(*in_bricks.table), in_bricks.in.data(), z, y, x) =
            at(fields.array, fields.in.data(), z, y, x) = value_at(z, y, x);
}

// The largest difference, relative to values of about 1: rounding only, since the plain loops add
// in another order.
double difference(const Fields& fields, const BrickFields& in_bricks, std::int64_t size,
                  const std::vector<double>& expected) {
  double most = 0;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < size; ++z)
    for (std::int64_t y = 0; y < size; ++y)
      for (std::int64_t x = 0; x < size; ++x, ++i)
        for (double got : {at(fields.array, fields.out.data(), z, y, x),
                           at(bricks<8, 8, 8>(*in_bricks.table), in_bricks.out.data(), z, y, x)})
          most = std::max(most, std::abs(got - expected[i]));
  return most;
}

std::vector<double> own_cells(const Fields& fields, std::int64_t size) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(size * size * size));
  for (std::int64_t z = 0; z < size; ++z)
    for (std::int64_t y = 0; y < size; ++y)
      for (std::int64_t x = 0; x < size; ++x)
        values.push_back(at(fields.array, fields.out.data(), z, y, x));
  return values;
}

Tile best_tile(const Fields& fields, std::int64_t size, const Plain& plain, double seconds) {
  Tile best{size, size};
  double least = std::numeric_limits<double>::max();
  for (Tile tile : {Tile{size, size}, Tile{size, 8}, Tile{size, 16}, Tile{size, 32}, Tile{size, 64},
                    Tile{8, 8}, Tile{16, 16}, Tile{32, 32}, Tile{64, 64}, Tile{16, 64}}) {
    if (tile.planes > size || tile.rows > size) continue;
    const double time =
        measure({[&] { plain(fields.array, fields.in.data(), fields.out.data(), size, tile); }},
                seconds / 10)[0];
    if (time < least) least = time, best = tile;
  }
  return best;
}

// One stencil, one size.
template <class S, class C>
void compare(const char* name, S stencil, const C& coefficients, std::int64_t size,
             const Plain& plain, const Plain& copy, double seconds) {
  const Fields fields(size);
  const BrickFields in_bricks(size);
  fill(fields, in_bricks, size);
  plain(fields.array, fields.in.data(), fields.out.data(), size, {size, size});
  const std::vector<double> expected = own_cells(fields, size);

  const Tile tile = best_tile(fields, size, plain, seconds);
  const std::vector<std::int32_t> numbers = bricks_in(*in_bricks.table, whole(size));
  const auto on_bricks = [&] {
    apply(stencil, coefficients, bricks<8, 8, 8>(*in_bricks.table), in_bricks.in.data(),
          in_bricks.out.data(), numbers);
  };
  const auto on_array = [&] {
    apply(stencil, coefficients, fields.array, fields.in.data(), fields.out.data(), whole(size));
  };
  const std::vector<double> times = measure(
      {[&] { copy(fields.array, fields.in.data(), fields.out.data(), size, {size, size}); },
       [&] { plain(fields.array, fields.in.data(), fields.out.data(), size, {size, size}); },
       [&] { plain(fields.array, fields.in.data(), fields.out.data(), size, tile); }, on_array,
       on_bricks},
      seconds);
  on_array();
  on_bricks();
  const double wrong = difference(fields, in_bricks, size, expected);
  const double scale = 1e12 / static_cast<double>(size * size * size);
  std::printf("%-4s %5lld %8.1f %8.1f %8.1f (%lld,%lld) %8.1f %8.1f   %5.2f %5.2f %5.2f   %.0e%s\n",
              name, static_cast<long long>(size), times[0] * scale, times[1] * scale,
              times[2] * scale, static_cast<long long>(tile.planes),
              static_cast<long long>(tile.rows), times[3] * scale, times[4] * scale,
              times[1] / times[4], times[2] / times[4], times[0] / times[4], wrong,
              wrong < 1e-12 ? "" : "  WRONG");
  if (!(wrong < 1e-12)) std::exit(1);
}

}  // namespace
}  // namespace tonari::bench

int main(int count, char** words) {
  using namespace tonari::bench;
  std::vector<std::int64_t> sizes;
  double seconds = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!std::strcmp(words[i], "--size")) sizes.push_back(std::atoll(words[i + 1]) / 8 * 8);
    if (!std::strcmp(words[i], "--seconds")) seconds = std::atof(words[i + 1]);
  }
  if (sizes.empty()) sizes = {64, 128, 256};
  std::printf(
      "ns per 1000 cells                                                     bricks are faster "
      "by\n");
  std::printf(
      "pts   size     copy    plain    tiled (tile)    array   bricks   plain tiled  copy   "
      "difference\n");
  for (std::int64_t size : sizes) {
    const Plain copy = plain_copy;
    compare(
        "7", tonari::star<3, 1>(), seven, size,
        [](auto&&... a) { plain_seven(seven.data(), a...); }, copy, seconds);
    compare(
        "125", tonari::box<3, 2>(), full, size, [](auto&&... a) { plain_full(full.data(), a...); },
        copy, seconds);
  }
}
