// SPDX-License-Identifier: BSD-3-Clause
// Stencils on bricks.
//
//   // numbers: a list, or {first, end}
//   tonari::apply(tonari::star<3, 1>(), {0.4, 0.1}, tonari::bricks<8, 8, 8>(table), in, out,
//                 numbers);
//   // only the cells inside the box
//   tonari::apply(tonari::star<3, 1>(), {0.4, 0.1}, tonari::bricks<8, 8, 8>(table), in, out,
//                 numbers, box);
//
// in and out are bases of fields and must not overlap in the bricks that are read or written.
// Neighbors of the bricks are read, also those beyond the ghosts, whose values do not matter as
// long as the cells that need them are outside of the box. A stencil must not reach further than
// one brick.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tonari/stencil/box_sweep.hpp>
#include <tonari/stencil/near_brick.hpp>

namespace tonari {
inline namespace api0 {
namespace detail {

// f(index) for all places of the cells in the first Count dimensions, odometer-wise.
template <int Count, class Index, class Cells, class F>
TONARI_INLINE void over_first(Index& index, const Cells& cells, const F& f) {
  if constexpr (Count == 0)
    f();
  else
    over_first<Count - 1>(index, cells, [&]() TONARI_INLINED {
      for (index[Count - 1] = cells.first(Count - 1); index[Count - 1] < cells.end(Count - 1);
           ++index[Count - 1])
        f();
    });
}

// The rows of a plane: unrolled where all are wanted, so that which neighbor a row is in is known
// when compiling.
template <int D, class Index, class Cells, class F>
TONARI_INLINE void over_rows(Index& index, const Cells& cells, const F& f) {
  constexpr int most_unrolled = 16;
  if constexpr (D < 2)
    f(index);
  else if constexpr (Cells::whole) {
    if constexpr (Cells::end(D - 2) <= most_unrolled)
      return unrolled<Cells::end(D - 2)>([&](auto row) TONARI_INLINED {
        Index here = index;
        here[D - 2] = row;
        f(here);
      });
  }
  if constexpr (D >= 2)
    for (index[D - 2] = cells.first(D - 2); index[D - 2] < cells.end(D - 2); ++index[D - 2])
      f(index);
}

template <int... E>
constexpr std::ptrdiff_t row_place(const auto& index) {
  std::ptrdiff_t place = 0;
  for (std::size_t i = 0; i + 1 < sizeof...(E); ++i)
    place = place * Bricks<E...>::extents[i] + index[i];
  return place * Bricks<E...>::row;
}

// Stars and lists of points in one brick.
template <class S, class T, int... E, class Cells>
void apply_to_brick(S stencil, const T* c, const Bases<T, E...>& bases, T* __restrict out,
                    const Cells& cells) {
  constexpr int dims = S::dims, lanes = lanes_of_row<T>(Bricks<E...>::row);
  Array<int, dims> index{};
  over_first<(dims > 2 ? dims - 2 : 0)>(index, cells, [&]() TONARI_INLINED {
    over_rows<dims>(index, cells, [&](const auto& row) TONARI_INLINED {
      T* to = out + row_place<E...>(row);
      unrolled<Bricks<E...>::row / lanes>([&](auto j) TONARI_INLINED {
        store_row<T, lanes>(
            to, j, value<Vector<T, lanes>>(stencil, c, NearBrick<j, lanes, T, E...>{&bases, row}),
            cells, dims - 1);
      });
    });
  });
}

// Boxes in one brick.
template <int D, int R, class T, int... E, class Cells>
void apply_to_brick(BoxStencil<D, R>, const T* c, const Bases<T, E...>& bases, T* __restrict out,
                    const Cells& cells) {
  using B = Bricks<E...>;
  constexpr int lanes = lanes_of_row<T>(B::row), before = BoxPlan<D, R>::before;
  constexpr int rows = D >= 2 ? B::extents[D >= 2 ? D - 2 : 0] : 1;
  // dimensions that are not there have one place
  const auto from = [&](int i) TONARI_INLINED { return i < 0 ? 0 : cells.first(i); };
  const auto to = [&](int i) TONARI_INLINED { return i < 0 ? 1 : cells.end(i); };
  BoxSweep<Vector<T, lanes>, D, R, rows> sweep(c);
  Array<int, D> index{};
  const auto place = [&](int plane, int row, auto shift) TONARI_INLINED {
    Array<int, D> at = index;
    for (int i = 0; i < before; ++i)
      at[static_cast<std::size_t>(i)] += shift[static_cast<std::size_t>(i)];
    if constexpr (D >= 3) at[D - 3] = plane;
    if constexpr (D >= 2) at[D - 2] = row;
    return at;
  };
  over_first<before>(index, cells, [&]() TONARI_INLINED {
    unrolled<B::row / lanes>([&](auto j) TONARI_INLINED {
      sweep.run(
          from(D - 3), to(D - 3), from(D - 2), to(D - 2),
          [&](auto n, int plane, int row) TONARI_INLINED {
            return brick_row<j, lanes>(bases, place(plane, row, BoxPlan<D, R>::offset(n)));
          },
          [&](int plane, int row, const Vector<T, lanes>& sum) TONARI_INLINED {
            store_row<T, lanes>(
                out + row_place<E...>(place(plane, row, typename BoxPlan<D, R>::Before{})), j, sum,
                cells, D - 1);
          });
    });
  });
}

template <class S, int... E>
constexpr void check_reach() {
  static_assert(S::dims == static_cast<int>(sizeof...(E)),
                "tonari::apply: a stencil and bricks of different dimensions");
  static_assert(((S::radius <= E) && ...),
                "tonari::apply: the stencil reaches further than one brick; take larger bricks");
}

}  // namespace detail

template <class S, int... E, class T>
void apply(S stencil,
           const std::type_identity_t<std::array<T, static_cast<std::size_t>(S::coefficients())>>&
               coefficients,
           Bricks<E...> bricks, std::type_identity_t<const T*> in, T* out, const BrickList& numbers,
           Threads threads = Threads::all) {
  detail::check_reach<S, E...>();
  const tonari_bricks& table = bricks.table();
  detail::over_bricks<E...>(
      numbers, threads, [&, c = coefficients](std::int32_t number, const auto& cells) {
        detail::apply_to_brick(stencil, c.data(),
                               detail::Bases<T, E...>(table, in, number, S::faces_only),
                               out + table.place[number], cells);
      });
}

template <class S, int... E, class T>
void apply(S stencil,
           const std::type_identity_t<std::array<T, static_cast<std::size_t>(S::coefficients())>>&
               coefficients,
           Bricks<E...> bricks, std::type_identity_t<const T*> in, T* out, const BrickList& numbers,
           const tonari_box& clip, Threads threads = Threads::all) {
  detail::check_reach<S, E...>();
  const tonari_bricks& table = bricks.table();
  detail::over_bricks(bricks, numbers, clip, threads,
                      [&, c = coefficients](std::int32_t number, const auto& cells) {
                        detail::apply_to_brick(
                            stencil, c.data(),
                            detail::Bases<T, E...>(table, in, number, S::faces_only),
                            out + table.place[number], cells);
                      });
}

}  // namespace api0
}  // namespace tonari
