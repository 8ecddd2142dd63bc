// SPDX-License-Identifier: BSD-3-Clause
// Kernels of one's own, written once for bricks and arrays. A kernel gets a block: a brick, or a
// tile of an array as large as one.
//
//   const auto kernel = [&](const auto& block) {
//     // Cells of a field, indices from the block's first cell; on bricks from -E to 2 E - 1:
//     // neighbors in all directions.
//     const auto u = block(in);
//     const auto v = block.writes(out);    // the block's own cells
//     for (int y = block.first(0); y < block.end(0); ++y)
//       for (int x = block.first(1); x < block.end(1); ++x) v(y, x) = u(y, x) + u(y - 1, x + 1);
//   };
//   // or (.., numbers, box, kernel): the cells inside a box
//   tonari::for_each_brick(tonari::bricks<8, 8>(table), numbers, kernel);
//   tonari::for_each_tile<8, 8>(array, box, kernel);
//
// u(y, x) looks for the right brick at each access. Faster: `const auto u = block.template
// gather<1>(in);` copies the block with a halo of 1 into a small array, on which the compiler
// vectorizes plain loops. Sums that a program writes itself may be contracted differently on
// different storages; with -ffp-contract=off they are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include <tonari/stencil/bricks.hpp>

namespace tonari {
inline namespace api0 {

// A copy of a block with a halo of R cells: u(z, y, x) with -R <= index < E + R.
template <class T, int R, int... E>
class Gathered {
  static constexpr int dims = static_cast<int>(sizeof...(E));
  static constexpr std::array<int, sizeof...(E)> sizes{(E + 2 * R)...};

 public:
  template <class... Index>
  TONARI_INLINE const T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == sizeof...(E));
    return cells_[place({static_cast<int>(index)...})];
  }
  static constexpr int place(const std::array<int, sizeof...(E)>& index) {
    int at = 0;
    for (std::size_t i = 0; i < sizeof...(E); ++i) at = at * sizes[i] + index[i] + R;
    return at;
  }
  T* row(const std::array<int, sizeof...(E)>& first) { return cells_ + place(first); }

 private:
  alignas(64) T cells_[((E + 2 * R) * ...)];
};

namespace detail {

// f(index) for the first cell of every row from -R to E + R - 1 in all dimensions but the last.
template <int R, int D, class F>
void over_rows_with_halo(const Array<int, D>& first, const Array<int, D>& end, const F& f) {
  Array<int, D> index{};
  for (std::size_t i = 0; i + 1 < D; ++i) index[i] = first[i] - R;
  index[D - 1] = first[D - 1];
  for (;;) {
    f(index);
    int i = D - 2;
    for (; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      if (++index[at] < end[at] + R) break;
      index[at] = first[at] - R;
    }
    if (i < 0) return;
  }
}

template <class T>
TONARI_INLINE void copy_cells(T* to, const T* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

}  // namespace detail

// A brick, as kernels see it: the cells to compute are first(i) to end(i) - 1 along dimension i.
template <class Cells, int... E>
class BrickBlock {
  using B = Bricks<E...>;

  template <class T>
  struct Near {  // a field, neighbors included
    detail::Bases<T, E...> bases;
    template <class... Index>
    TONARI_INLINE const T& operator()(Index... index) const {
      static_assert(sizeof...(Index) == sizeof...(E));
      const detail::Array<int, B::dims> at{static_cast<int>(index)...};
      int direction = 0, place = 0;
      detail::unrolled<B::dims>([&](auto i) TONARI_INLINED {
        constexpr int extent = B::extents[i];
        const int side = at[i] < 0 ? 0 : at[i] < extent ? 1 : 2;
        direction = 3 * direction + side;
        place = place * extent + at[i] - (side - 1) * extent;
      });
      return bases.of[direction][place];
    }
  };

  template <class T>
  struct Own {
    T* cells;
    template <class... Index>
    TONARI_INLINE T& operator()(Index... index) const {
      static_assert(sizeof...(Index) == sizeof...(E));
      int place = 0;
      ((place = place * E + static_cast<int>(index)), ...);
      return cells[place];
    }
  };

 public:
  BrickBlock(const tonari_bricks& table, std::int32_t number, const Cells& cells)
      : table_(&table), number_(number), cells_(cells) {}

  int first(int i) const { return cells_.first(i); }
  int end(int i) const { return cells_.end(i); }
  // of the subdomain: index 0 along dimension i
  std::int64_t cell(int i) const { return B(*table_).cell(number_, i); }
  std::int32_t number() const { return number_; }

  template <class T>
  Near<T> operator()(const T* base) const {
    return {{*table_, base, number_, false}};
  }
  template <class T>
  Own<T> writes(T* base) const {
    return {base + table_->place[number_]};
  }

  template <int R, class T>
  Gathered<T, R, E...> gather(const T* base) const {
    static_assert(((R <= E) && ...), "tonari: a halo wider than a brick");
    Gathered<T, R, E...> copy;
    const detail::Bases<T, E...> bases(*table_, base, number_, false);
    constexpr detail::Array<int, B::dims> none{};
    detail::over_rows_with_halo<R, B::dims>(
        none, B::extents, [&](const detail::Array<int, B::dims>& index) {
          int direction = 0, place = 0;
          for (std::size_t i = 0; i + 1 < B::extents.size(); ++i) {
            const int side = index[i] < 0 ? 0 : index[i] < B::extents[i] ? 1 : 2;
            direction = 3 * direction + side;
            place = place * B::extents[i] + index[i] - (side - 1) * B::extents[i];
          }
          T* to = copy.row(index);
          const T* const* row = bases.of + 3 * direction;
          detail::copy_cells(to - R, row[0] + place * B::row + B::row - R, R);
          detail::copy_cells(to, row[1] + place * B::row, B::row);
          detail::copy_cells(to + B::row, row[2] + place * B::row, R);
        });
    return copy;
  }

 private:
  const tonari_bricks* table_;
  std::int32_t number_;
  Cells cells_;
};

// A tile of an array with the same interface. At the end of a box it has fewer cells.
template <int... E>
class TileBlock {
  static constexpr int dims = static_cast<int>(sizeof...(E));

  template <class T>
  struct Cells {
    T* first;
    detail::Array<std::int64_t, dims> stride;
    template <class... Index>
    TONARI_INLINE T& operator()(Index... index) const {
      static_assert(sizeof...(Index) == sizeof...(E));
      const detail::Array<std::int64_t, dims> at{static_cast<std::int64_t>(index)...};
      std::int64_t place = at[dims - 1];
      for (std::size_t i = 0; i + 1 < at.size(); ++i) place += at[i] * stride[i];
      return first[place];
    }
  };

 public:
  TileBlock(const tonari_array& array, const detail::Array<std::int64_t, dims>& cell,
            const detail::Part<dims>& part)
      : array_(&array), cell_(cell), part_(part) {}

  int first(int) const { return 0; }
  int end(int i) const { return part_.end(i); }
  std::int64_t cell(int i) const { return cell_[static_cast<std::size_t>(i)]; }

  template <class T>
  Cells<const T> operator()(const T* base) const {
    return cells(base);
  }
  template <class T>
  Cells<T> writes(T* base) const {
    return cells(base);
  }

  // Cells beyond the tile's halo are not set.
  template <int R, class T>
  Gathered<T, R, E...> gather(const T* base) const {
    Gathered<T, R, E...> copy;
    const Cells<const T> from = cells(base);
    detail::over_rows_with_halo<R, dims>(
        part_.firsts, part_.ends, [&](const detail::Array<int, dims>& index) {
          const T* row = std::apply([&](auto... x) { return &from(x...); }, index);
          detail::copy_cells(copy.row(index) - R, row - R, part_.end(dims - 1) + 2 * R);
        });
    return copy;
  }

 private:
  template <class T>
  Cells<T> cells(T* base) const {
    Cells<T> cells{base, {}};
    for (int i = 0; i < dims; ++i) {
      cells.stride[static_cast<std::size_t>(i)] = array_->stride[i];
      cells.first += (cell(i) + array_->lower[i]) * array_->stride[i];
    }
    return cells;
  }
  const tonari_array* array_;
  detail::Array<std::int64_t, dims> cell_;
  detail::Part<dims> part_;
};

template <int... E, class Kernel>
void for_each_brick(Bricks<E...> bricks, const BrickList& numbers, const Kernel& kernel,
                    Threads threads = Threads::all) {
  detail::over_bricks<E...>(numbers, threads, [&](std::int32_t number, const auto& cells) {
    kernel(BrickBlock<std::remove_cvref_t<decltype(cells)>, E...>(bricks.table(), number, cells));
  });
}

// Only the cells inside the box. The kernel is compiled twice, for whole bricks and for others.
template <int... E, class Kernel>
void for_each_brick(Bricks<E...> bricks, const BrickList& numbers, const tonari_box& clip,
                    const Kernel& kernel, Threads threads = Threads::all) {
  detail::over_bricks(bricks, numbers, clip, threads, [&](std::int32_t number, const auto& cells) {
    kernel(BrickBlock<std::remove_cvref_t<decltype(cells)>, E...>(bricks.table(), number, cells));
  });
}

template <int... E, class Kernel>
void for_each_tile(const tonari_array& array, const tonari_box& box, const Kernel& kernel,
                   Threads threads = Threads::all) {
  constexpr int dims = static_cast<int>(sizeof...(E));
  constexpr std::array<int, sizeof...(E)> extents{E...};
  if (array.dims != dims)
    throw std::invalid_argument("tonari::for_each_tile: tiles of " + std::to_string(dims) +
                                " dimensions on an array of " + std::to_string(array.dims));
  detail::check_order(array, "tonari::for_each_tile");
  detail::Array<std::int64_t, dims> tiles{};
  std::int64_t all = 1;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    all *= tiles[i] =
        (std::max<std::int64_t>(0, box.end[i] - box.first[i]) + extents[i] - 1) / extents[i];
  detail::for_each_number(all, threads, [&](std::int64_t tile) {
    detail::Array<std::int64_t, dims> cell{};
    detail::Part<dims> part{};
    for (std::size_t i = tiles.size(); i-- > 0; tile /= tiles[i]) {
      cell[i] = box.first[i] + tile % tiles[i] * extents[i];
      part.ends[i] = static_cast<int>(std::min<std::int64_t>(extents[i], box.end[i] - cell[i]));
    }
    kernel(TileBlock<E...>(array, cell, part));
  });
}

}  // namespace api0
}  // namespace tonari
