// SPDX-License-Identifier: BSD-3-Clause
// A stencil on both storages: what the tests of stencils instantiate.
#pragma once

#include <cstring>
#include <functional>
#include <random>

#include "stencil/subdomain.hpp"

namespace tonari::test {

// A stencil of Ts, on bricks <E...> and on an array with the same cells.
template <class T, class S, int... E>
struct Case {
  static constexpr int D = S::dims;
  static constexpr std::array<std::int64_t, D> extents{E...};
  static constexpr T nowhere = std::numeric_limits<T>::quiet_NaN();
  static constexpr T untouched = -77;

  explicit Case(std::mt19937& random) : random(random) {
    for (std::size_t i = 0; i < D; ++i)
      brick[i] = extents[i], lower[i] = upper[i] = 1, own[i] = between(random, 1, D < 4 ? 3 : 2);
  }

  // A box that leaves room for the stencil's reach in the ghosts: anything from the whole down to
  // one cell.
  tonari_box random_box() {
    tonari_box box{};
    for (std::size_t i = 0; i < D; ++i) {
      const std::int64_t least = -brick[i] + S::radius, most = (own[i] + 1) * brick[i] - S::radius;
      box.first[i] = between(random, least, most - 1);
      box.end[i] = between(random, box.first[i] + 1, most);
    }
    return box;
  }

  tonari_array array() const {
    Extents l{}, o{}, u{};
    for (std::size_t i = 0; i < D; ++i) l[i] = u[i] = brick[i], o[i] = own[i] * brick[i];
    return packed_array(D, l, o, u);
  }

  // With cells that the box does not need unknown.
  void compare(bool exact, const tonari_box& box, bool clipped, const std::function<T()>& value) {
    const BrickTable table(D, brick, lower, own, upper, &random);
    ArrayField<T, D> in(array(), nowhere), out(array(), untouched);
    BrickField<T, E...> brick_in(table, nowhere), brick_out(table, untouched);
    over_cells<D>(grown<D>(box, S::radius),
                  [&](const Cell<D>& x) { in(x) = brick_in(x) = value(); });
    std::array<T, S::coefficients()> c;
    for (T& factor : c) factor = value();

    apply(S{}, c, in.layout, in.data.data(), out.data.data(), box);
    const std::vector<std::int32_t> numbers = bricks_in(*table, box);
    if (clipped)
      apply(S{}, c, bricks<E...>(*table), brick_in.base(), brick_out.base(), numbers, box);
    else
      apply(S{}, c, bricks<E...>(*table), brick_in.base(), brick_out.base(), numbers);

    const PointList<D> points = points_of(S{});
    over_cells<D>(box, [&](const Cell<D>& x) {
      T expected = 0;
      for (const auto& [offset, factor] : points) {
        Cell<D> from = x;
        for (std::size_t i = 0; i < D; ++i) from[i] += offset[i];
        expected += c[static_cast<std::size_t>(factor)] * in(from);
      }
      if (exact)
        ASSERT_EQ(out(x), expected);
      else
        ASSERT_NEAR(out(x), expected, 1e4 * std::numeric_limits<T>::epsilon());
      ASSERT_EQ(std::memcmp(&out(x), &brick_out(x), sizeof(T)), 0) << out(x) << " " << brick_out(x);
    });
    const auto written = [&](auto& data) {
      return std::count_if(data.begin(), data.end(), [](T y) { return y != untouched; });
    };
    std::int64_t cells = 1;
    for (std::size_t i = 0; i < D; ++i) cells *= box.end[i] - box.first[i];
    EXPECT_LE(written(out.data), cells);
    EXPECT_LE(written(brick_out.data), cells);
  }

  tonari_box own_box() const {
    tonari_box box{};
    for (std::size_t i = 0; i < D; ++i) box.end[i] = own[i] * brick[i];
    return box;
  }

  // Small whole numbers are added without rounding, in any order: the sum over points exactly.
  // Others: equal bits on array and bricks.
  static void compare_rounds(bool exact, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<T> real(-1, 1);
    const std::function<T()> value = [&] {
      return exact ? static_cast<T>(between(random, -4, 4)) : real(random);
    };
    for (int round = 0; round < 6; ++round) {
      Case here(random);
      here.compare(exact, here.random_box(), true, value);
      here.compare(exact, here.own_box(), false, value);
    }
  }

  std::mt19937& random;
  Extents brick{}, lower{}, own{}, upper{};
};

}  // namespace tonari::test
