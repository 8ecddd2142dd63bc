// SPDX-License-Identifier: BSD-3-Clause
// Cells near a row of a brick: rows of the brick and its neighbors, and vectors that reach over the
// ends of a row.
#pragma once

#include <array>
#include <cstddef>

#include <tonari/stencil/bricks.hpp>
#include <tonari/stencil/vector.hpp>

namespace tonari {
inline namespace api0 {
namespace detail {

// One row of bricks' cells as vectors; j is the number of a vector in the row.
//
//      before[0]          before[1]          before[2]
//   | .. .. .. aa | bb cc dd ee | ff .. .. .. |
//
// at<-1>() of vector 0 is  aa bb : joined from two aligned vectors.
template <class T, int Lanes, int Extent, int j>
struct BrickRow {
  const T* const* before;  // where the bricks before, around and after the row begin
  std::ptrdiff_t row;      // where the row is within them

  template <int vector>
  TONARI_INLINE Vector<T, Lanes> part() const {
    constexpr int start = vector * Lanes, brick = floor_div(start, Extent);
    static_assert(brick >= -1 && brick <= 1, "tonari: the stencil reaches further than one brick");
    return load<T, Lanes>(before[brick + 1] + row + (start - brick * Extent));
  }

  template <int k>
  TONARI_INLINE Vector<T, Lanes> at() const {
    constexpr int start = j * Lanes + k, vector = floor_div(start, Lanes),
                  skip = start - vector * Lanes;
    if constexpr (skip == 0)
      return part<vector>();
    else
      return joined<T, Lanes, skip>(part<vector>(), part<vector + 1>());
  }
};

// The row with these coordinates along all dimensions but the last, from one brick below to one
// beyond.
template <int j, int Lanes, class T, int... E>
TONARI_INLINE auto brick_row(const Bases<T, E...>& bases, const auto& coordinate) {
  using B = Bricks<E...>;
  int direction = 0;
  std::ptrdiff_t row = 0;
  unrolled<B::dims - 1>([&](auto i) TONARI_INLINED {
    constexpr int extent = B::extents[i];
    const int x = coordinate[i], side = x < 0 ? 0 : x < extent ? 1 : 2;
    direction = 3 * direction + side;
    row = row * extent + (x - (side - 1) * extent);
  });
  return BrickRow<T, Lanes, B::row, j>{bases.of + 3 * direction, row * B::row};
}

// What a star or a list of points sees from vector j of a row inside the brick.
template <int j, int Lanes, class T, int... E>
struct NearBrick {
  using B = Bricks<E...>;
  const Bases<T, E...>* bases;
  Array<int, B::dims> row;  // the last coordinate is not used

  template <int... k>
  TONARI_INLINE Vector<T, Lanes> at() const {
    constexpr Array<int, B::dims> offset{k...};
    int direction = 0;
    std::ptrdiff_t place = 0;
    unrolled<B::dims - 1>([&](auto i) TONARI_INLINED {
      constexpr int extent = B::extents[i], step = offset[i];
      static_assert(step >= -extent && step <= extent,
                    "tonari: the stencil reaches further than one brick");
      const int x = row[i] + step;
      int side = 1;  // only where the offset can lead
      if constexpr (step < 0) side = x < 0 ? 0 : 1;
      if constexpr (step > 0) side = x < extent ? 1 : 2;
      direction = 3 * direction + side;
      place = place * extent + (x - (side - 1) * extent);
    });
    return BrickRow<T, Lanes, B::row, j>{bases->of + 3 * direction, place * B::row}
        .template at<offset[B::dims - 1]>();
  }
};

// Vector j of a row: the cells that count.
template <class T, int Lanes, class Cells>
TONARI_INLINE void store_row(T* row, int j, const Vector<T, Lanes>& vector, const Cells& cells,
                             int last) {
  if constexpr (Cells::whole) return store<T, Lanes>(row + j * Lanes, vector);
  const int first = cells.first(last) - j * Lanes, end = cells.end(last) - j * Lanes;
  if (first <= 0 && end >= Lanes)
    store<T, Lanes>(row + j * Lanes, vector);
  else
    store_some<T, Lanes>(row + j * Lanes, vector, first > 0 ? first : 0, end < Lanes ? end : Lanes);
}

}  // namespace detail
}  // namespace api0
}  // namespace tonari
