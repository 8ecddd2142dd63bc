// SPDX-License-Identifier: BSD-3-Clause
// What a stencil is, in one line, for every storage, element type and number of dimensions:
//
//   // 7 points: 2 coefficients, center and distance 1
//   constexpr auto seven = tonari::star<3, 1>();
//   // 25 points: 5 coefficients, one per distance
//   constexpr auto wave = tonari::star<3, 4>();
//   // 7 points: 4 coefficients, center and one per dimension
//   constexpr auto stretched = tonari::star_by_dimension<3, 1>();
//   // 125 points: 10 coefficients
//   constexpr auto full = tonari::box<3, 2>();
//   // any points, here (0, 0), (-1, 0), (0, -1) in 2-d: one coefficient each
//   constexpr auto upwind = tonari::points<2, 0, 0, -1, 0, 0, -1>();
//
// Coefficients are given when a stencil is applied, as a std::array<T, s.coefficients()>:
//   star               c[0] of the center, c[k] of the 2 d points at distance k
//   star_by_dimension  c[0] of the center, c[1 + (k - 1) d + i] of the 2 points at distance k along
//                      dimension i
//   box                one per class of offsets that are equal up to signs and order: |offset| in
//                      ascending order, classes in lexicographic order. Radius 2 in 3-d:
//                      000 001 002 011 012 022 111 112 122 222
//   points             as listed
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

namespace tonari {
inline namespace api0 {
namespace detail {

// The next of all x with first <= x < first + count in every dimension, the last dimension fastest;
// false after the last one.
template <class I, std::size_t D>
constexpr bool next_offset(std::array<I, D>& x, I first, I end) {
  for (std::size_t i = D; i-- > 0;) {
    if (++x[i] < end) return true;
    x[i] = first;
  }
  return false;
}

constexpr bool ascends(const auto& x) {
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i - 1] > x[i]) return false;
  return true;
}

// How many ascending x with 0 <= x_i <= radius come before this one in lexicographic order; all of
// them if none is asked for.
template <std::size_t D>
constexpr int ascending_before(int radius, const std::array<int, D>* asked) {
  std::array<int, D> x{};
  int count = 0;
  do {
    if (asked && x == *asked) break;
    count += ascends(x);
  } while (next_offset(x, 0, radius + 1));
  return count;
}

// The class of an offset: which of the coefficients of a box it has.
template <std::size_t D>
constexpr int class_of(std::array<int, D> offset, int radius) {
  for (int& x : offset) x = x < 0 ? -x : x;
  for (std::size_t i = 1; i < D; ++i)  // insertion sort
    for (std::size_t j = i; j > 0 && offset[j - 1] > offset[j]; --j) {
      const int low = offset[j];
      offset[j] = offset[j - 1];
      offset[j - 1] = low;
    }
  return ascending_before(radius, &offset);
}

template <int D>
constexpr int class_count(int radius) {
  return ascending_before<static_cast<std::size_t>(D)>(radius, nullptr);
}

template <int D, int R>
struct Shape {
  static_assert(D >= 1 && D <= 5 && R >= 0);
  static constexpr int dims = D;
  static constexpr int radius = R;  // how far it reaches, the largest over all dimensions
};

// Of coordinates.
constexpr int reach_of(std::initializer_list<int> offsets) {
  int reach = 0;
  for (int x : offsets) reach = std::max({reach, x, -x});
  return reach;
}

}  // namespace detail

template <int D, int R>
struct Star : detail::Shape<D, R> {
  static constexpr bool faces_only = true;  // no point has two coordinates that are not 0
  static constexpr int coefficients() { return 1 + R; }
};

template <int D, int R>
struct StarByDimension : detail::Shape<D, R> {
  static constexpr bool faces_only = true;
  static constexpr int coefficients() { return 1 + D * R; }
};

template <int D, int R>
struct BoxStencil : detail::Shape<D, R> {
  static_assert(R == 1 || R == 2, "tonari::box: 3 or 5 points per dimension");
  static constexpr bool faces_only = false;
  static constexpr int coefficients() { return detail::class_count<D>(R); }
};

// Coordinates point after point. (Not std::arrays: GCC 12 takes {0, 1, 0} and {0, 0, 1} for the
// same template argument if they were computed.)
template <int D, int... X>
struct Points : detail::Shape<D, detail::reach_of({X...})> {
  static_assert(sizeof...(X) > 0 && sizeof...(X) % D == 0,
                "tonari::points: as many coordinates per point as there are dimensions");
  static constexpr bool faces_only = false;
  static constexpr std::array<int, sizeof...(X)> coordinates{X...};
  static constexpr int coefficients() { return static_cast<int>(sizeof...(X)) / D; }
};

template <int D, int R>
constexpr Star<D, R> star() {
  return {};
}
template <int D, int R>
constexpr StarByDimension<D, R> star_by_dimension() {
  return {};
}
template <int D, int R>
constexpr BoxStencil<D, R> box() {
  return {};
}
template <int D, int... X>
constexpr Points<D, X...> points() {
  return {};
}

}  // namespace api0
}  // namespace tonari
