// SPDX-License-Identifier: BSD-3-Clause
// One random subdomain, stored as an array and in bricks, with the same cells; and stencils
// computed cell by cell from lists of points.
#pragma once

#include <tonari/stencil.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "stencil/brick_table.hpp"

namespace tonari::test {

inline std::int64_t between(std::mt19937& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

template <int D>
using Cell = std::array<std::int64_t, D>;

// f(cell) for all cells of a box.
template <int D, class F>
void over_cells(const tonari_box& box, const F& f) {
  Cell<D> x;
  std::copy_n(box.first, D, x.begin());
  for (int i = 0; i < D; ++i)
    if (box.first[i] >= box.end[i]) return;
  for (;;) {
    f(x);
    int i = D - 1;
    while (i >= 0 && ++x[static_cast<std::size_t>(i)] == box.end[i])
      x[static_cast<std::size_t>(i)] = box.first[i], --i;
    if (i < 0) return;
  }
}

template <int D>
tonari_box grown(tonari_box box, std::int64_t by) {
  for (int i = 0; i < D; ++i) box.first[i] -= by, box.end[i] += by;
  return box;
}

template <int D>
bool inside(const Cell<D>& x, const tonari_box& box) {
  for (int i = 0; i < D; ++i)
    if (x[static_cast<std::size_t>(i)] < box.first[i] ||
        x[static_cast<std::size_t>(i)] >= box.end[i])
      return false;
  return true;
}

// Points of a stencil and the coefficient of each.
template <int D>
using PointList = std::vector<std::pair<Cell<D>, int>>;

template <int D, int R>
PointList<D> points_of(Star<D, R>) {
  PointList<D> list{{Cell<D>{}, 0}};
  for (int k = 1; k <= R; ++k)
    for (std::size_t i = 0; i < D; ++i)
      for (int sign : {-1, 1}) {
        Cell<D> x{};
        x[i] = sign * k;
        list.emplace_back(x, k);
      }
  return list;
}

template <int D, int R>
PointList<D> points_of(StarByDimension<D, R>) {
  PointList<D> list = points_of(Star<D, R>{});
  for (auto& [x, c] : list)
    for (std::size_t i = 0; i < D; ++i)
      if (x[i]) c = 1 + (c - 1) * D + static_cast<int>(i);
  return list;
}

template <int D, int R>
PointList<D> points_of(BoxStencil<D, R>) {
  std::map<Cell<D>, int> classes;  // sorted, like the coefficients
  const auto key = [](Cell<D> x) {
    for (auto& k : x) k = std::abs(k);
    std::sort(x.begin(), x.end());
    return x;
  };
  const tonari_box all = grown<D>({{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}}, R);
  over_cells<D>(all, [&](const Cell<D>& x) { classes[key(x)] = 0; });
  int next = 0;
  for (auto& [x, number] : classes) number = next++;
  PointList<D> list;
  over_cells<D>(all, [&](const Cell<D>& x) { list.emplace_back(x, classes[key(x)]); });
  return list;
}

template <int D, int... X>
PointList<D> points_of(Points<D, X...>) {
  PointList<D> list;
  const std::array<int, sizeof...(X)> x{X...};
  for (std::size_t n = 0; n < x.size() / D; ++n) {
    list.emplace_back(Cell<D>{}, static_cast<int>(n));
    for (std::size_t i = 0; i < D; ++i) list.back().first[i] = x[n * D + i];
  }
  return list;
}

// One field of an array, with cells as they come.
template <class T, int D>
struct ArrayField {
  explicit ArrayField(const tonari_array& array, T value = 0)
      : layout(array), data(static_cast<std::size_t>(elements(array)), value) {}
  T& operator()(const Cell<D>& x) {
    return std::apply([&](auto... i) -> T& { return at(layout, data.data(), i...); }, x);
  }
  tonari_array layout;
  std::vector<T> data;
};

// One of several fields that are interleaved in bricks.
template <class T, int... E>
struct BrickField {
  static constexpr int D = sizeof...(E);
  BrickField(const BrickTable& where, T value = 0)
      : table(*where), data(static_cast<std::size_t>(where.elements()), value) {}
  T& operator()(const Cell<D>& x) {
    return std::apply([&](auto... i) -> T& { return at(bricks<E...>(table), base(), i...); }, x);
  }
  T* base() { return data.data(); }
  const tonari_bricks& table;
  std::vector<T> data;
};

}  // namespace tonari::test
