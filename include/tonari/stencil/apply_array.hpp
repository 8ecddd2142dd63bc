// SPDX-License-Identifier: BSD-3-Clause
// Stencils on arrays with ghosts: the cells of a box.
//
//   tonari::apply(tonari::star<3, 1>(), {0.4, 0.1}, array, in, out, box);
//
// in and out are bases of fields (their first ghost cells) and must not overlap. The cells around
// the box that the stencil needs must be in the array.
#pragma once

#include <tonari/grid_layout.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <tonari/stencil/box_sweep.hpp>
#include <tonari/stencil/bricks.hpp>

namespace tonari {
inline namespace api0 {
namespace detail {

// Vectors at a place in an array. A narrow box has fewer cells in a row than a vector has lanes:
// then only so many are read and written.
template <class T, int Lanes, bool Narrow>
struct ArrayPlace {
  using V = Vector<T, Lanes>;
  std::int64_t count;  // of cells, if narrow

  TONARI_INLINE V load_at(const T* from) const {
    if constexpr (Narrow)
      return load_some<T, Lanes>(from, static_cast<int>(count));
    else
      return load<T, Lanes>(from);
  }
  TONARI_INLINE void store_at(T* to, const V& vector) const {
    if constexpr (Narrow)
      store_some<T, Lanes>(to, vector, 0, static_cast<int>(count));
    else
      store<T, Lanes>(to, vector);
  }
};

template <int D, class Place, class T>
struct NearArray {
  const T* cell;
  const std::int64_t* stride;
  Place place;

  template <int... k>
  TONARI_INLINE auto at() const {
    constexpr Array<int, D> offset{k...};
    std::ptrdiff_t to = offset[D - 1];
    unrolled<D - 1>([&](auto i) TONARI_INLINED {
      if constexpr (offset[i] != 0) to += offset[i] * stride[i];
    });
    return place.load_at(cell + to);
  }
};

template <class Place, class T>
struct ArrayRow {
  const T* cell;
  Place place;
  template <int k>
  TONARI_INLINE auto at() const {
    return place.load_at(cell + k);
  }
};

// f(place, x) for vectors that cover a row of `count` cells. The last vector is moved back to end
// with the row: some cells are computed twice, alike.
template <class T, class F>
TONARI_INLINE void over_vectors(std::int64_t count, const F& f) {
  constexpr int lanes = native_lanes<T>;
  if (count < lanes) return f(ArrayPlace<T, lanes, true>{count}, std::int64_t{0});
  const ArrayPlace<T, lanes, false> wide{lanes};
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) f(wide, x);
  if (x < count) f(wide, count - lanes);
}

// A box in an array, as sizes and the place of its first cell.
template <int D>
struct ArrayBox {
  Array<std::int64_t, D> count, stride;
  std::int64_t first = 0;

  ArrayBox(const tonari_array& array, const tonari_box& box, int radius) {
    if (array.dims != D)
      throw std::invalid_argument("tonari::apply: a stencil of " + std::to_string(D) +
                                  " dimensions on an array of " + std::to_string(array.dims));
    check_order(array, "tonari::apply");
    const bool empty = is_empty(box);
    for (int i = 0; i < D; ++i) {
      const auto at = static_cast<std::size_t>(i);
      count[at] = empty ? 0 : box.end[i] - box.first[i];
      stride[at] = array.stride[i];
      first += (box.first[i] + array.lower[i]) * array.stride[i];
      if (!empty && (box.first[i] - radius < -array.lower[i] ||
                     box.end[i] + radius > array.own[i] + array.upper[i]))
        throw std::invalid_argument(
            "tonari::apply: cells " + std::to_string(box.first[i]) + " to " +
            std::to_string(box.end[i] - 1) + " along dimension " + std::to_string(i) +
            " with a stencil of radius " + std::to_string(radius) +
            " reach out of the array, which has cells " + std::to_string(-array.lower[i]) + " to " +
            std::to_string(array.own[i] + array.upper[i] - 1) +
            "; make the box smaller or the halo wider");
    }
  }
  static bool is_empty(const tonari_box& box) {
    for (int i = 0; i < D; ++i)
      if (box.first[i] >= box.end[i]) return true;
    return false;
  }
};

// Stars and lists of points: row by row.
template <class S, class T, int D>
void apply_to_array(S stencil, const T* c, const T* in, T* out, const ArrayBox<D>& box,
                    Threads threads) {
  std::int64_t rows = 1;
  for (int i = 0; i < D - 1; ++i) rows *= box.count[static_cast<std::size_t>(i)];
  for_each_number(box.count[D - 1] == 0 ? 0 : rows, threads, [&](std::int64_t row) {
    std::int64_t to = box.first;
    for (std::size_t i = D - 1; i-- > 0; row /= box.count[i])
      to += row % box.count[i] * box.stride[i];
    const auto stride = box.stride;
    const T* __restrict from = in + to;
    T* __restrict result = out + to;
    over_vectors<T>(box.count[D - 1], [&](auto place, std::int64_t x) TONARI_INLINED {
      place.store_at(
          result + x,
          value<Vector<T, native_lanes<T>>>(
              stencil, c, NearArray<D, decltype(place), T>{from + x, stride.data(), place}));
    });
  });
}

// Boxes: in tiles of planes and rows, so that what planes and rows share is found in the cache.
template <int D, int R, class T>
void apply_to_array(BoxStencil<D, R>, const T* c, const T* in, T* out, const ArrayBox<D>& box,
                    Threads threads) {
  using Plan = BoxPlan<D, R>;
  constexpr int tile_planes = 32, tile_rows = 8, before = Plan::before;
  const auto count = [&](int i) { return i < 0 ? 1 : box.count[static_cast<std::size_t>(i)]; };
  const auto stride = [&](int i) { return i < 0 ? 0 : box.stride[static_cast<std::size_t>(i)]; };
  const std::int64_t plane_tiles = (count(D - 3) + tile_planes - 1) / tile_planes,
                     row_tiles = (count(D - 2) + tile_rows - 1) / tile_rows;
  std::int64_t tiles = plane_tiles * row_tiles;
  for (int i = 0; i < before; ++i) tiles *= count(i);
  for_each_number(box.count[D - 1] == 0 ? 0 : tiles, threads, [&](std::int64_t tile) {
    const std::int64_t row = tile % row_tiles * tile_rows,
                       plane = tile / row_tiles % plane_tiles * tile_planes;
    const std::int64_t row_stride = stride(D - 2), plane_stride = stride(D - 3);
    std::int64_t to = box.first + row * row_stride + plane * plane_stride;
    tile /= row_tiles * plane_tiles;
    for (int i = before; i-- > 0; tile /= count(i)) to += tile % count(i) * stride(i);
    const int planes = static_cast<int>(std::min<std::int64_t>(tile_planes, count(D - 3) - plane)),
              rows = static_cast<int>(std::min<std::int64_t>(tile_rows, count(D - 2) - row));
    over_vectors<T>(box.count[D - 1], [&](auto place, std::int64_t x) {
      BoxSweep<Vector<T, native_lanes<T>>, D, R, tile_rows> sweep(c);
      sweep.run(
          0, planes, 0, rows,
          [&](auto n, int p, int r) TONARI_INLINED {
            constexpr auto shift = Plan::offset(n);
            const T* cell = in + to + x + p * plane_stride + r * row_stride;
            for (int i = 0; i < before; ++i) cell += shift[static_cast<std::size_t>(i)] * stride(i);
            return ArrayRow<decltype(place), T>{cell, place};
          },
          [&](int p, int r, const auto& sum) TONARI_INLINED {
            place.store_at(out + to + x + p * plane_stride + r * row_stride, sum);
          });
    });
  });
}

}  // namespace detail

template <class S, class T>
void apply(S stencil,
           const std::type_identity_t<std::array<T, static_cast<std::size_t>(S::coefficients())>>&
               coefficients,
           const tonari_array& array, std::type_identity_t<const T*> in, T* out,
           const tonari_box& box, Threads threads = Threads::all) {
  const detail::ArrayBox<S::dims> cells(array, box, S::radius);
  const auto c = coefficients;  // no T* can point to it
  detail::apply_to_array(stencil, c.data(), in, out, cells, threads);
}

}  // namespace api0
}  // namespace tonari
