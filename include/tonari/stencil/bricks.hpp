// SPDX-License-Identifier: BSD-3-Clause
// Subdomains in bricks and lists of them: what kernels go over. The table is grid_layout.h's; the
// extents of a brick are template arguments, so that a brick's rows and their places are constants
// in kernels.
#pragma once

#include <tonari/grid_layout.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <tonari/stencil/vector.hpp>

namespace tonari {
inline namespace api0 {

// The threads that a kernel runs on: the calling one or, in programs compiled with OpenMP, all that
// OpenMP has.
enum class Threads { one, all };

template <int... E>
class Bricks {
 public:
  static constexpr int dims = static_cast<int>(sizeof...(E));
  static constexpr std::array<int, sizeof...(E)> extents{E...};
  static constexpr int cells = (E * ...);
  static constexpr int directions = detail::power(3, dims);
  static constexpr int row = extents[dims - 1];  // cells
  static_assert(dims >= 1 && dims <= TONARI_GRID_MAX_DIMS && ((E > 0) && ...));

  // Refers to the table, which must outlive it.
  explicit Bricks(const tonari_bricks& table) : table_(&table) {
    bool same = table.dims == dims;
    for (int i = 0; same && i < dims; ++i)
      same = table.brick[i] == extents[static_cast<std::size_t>(i)];
    if (!same)
      throw std::invalid_argument("tonari::bricks<" + list(extents.data(), dims) +
                                  ">: the table has bricks of " + list(table.brick, table.dims) +
                                  " cells");
  }
  const tonari_bricks& table() const { return *table_; }

  // The first cell of a brick, along dimension i.
  std::int64_t cell(std::int32_t number, int i) const {
    return static_cast<std::int64_t>(
               table_->position[static_cast<std::int64_t>(number) * dims + i]) *
           extents[static_cast<std::size_t>(i)];
  }

 private:
  static std::string list(const auto* numbers, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(numbers[i]);
    return text;
  }
  const tonari_bricks* table_;
};

template <int... E>
Bricks<E...> bricks(const tonari_bricks& table) {
  return Bricks<E...>(table);
}

// Which bricks: first to end - 1, or those of a list.
class BrickList {
 public:
  BrickList(std::int32_t first, std::int32_t end)
      : first_(first), size_(std::max<std::int64_t>(0, static_cast<std::int64_t>(end) - first)) {}
  BrickList(std::span<const std::int32_t> numbers)
      : list_(numbers.data()), size_(static_cast<std::int64_t>(numbers.size())) {}
  template <class List>
    requires std::is_convertible_v<const List&, std::span<const std::int32_t>>
  BrickList(const List& numbers) : BrickList(std::span<const std::int32_t>(numbers)) {}

  std::int64_t size() const { return size_; }
  std::int32_t operator[](std::int64_t i) const {
    return list_ ? list_[i] : first_ + static_cast<std::int32_t>(i);
  }

 private:
  const std::int32_t* list_ = nullptr;
  std::int32_t first_ = 0;
  std::int64_t size_ = 0;
};

// Access outside of kernels: cell (i...) of a field, ghosts included, cells numbered from the first
// own one.
template <int... E, class T, class... Index>
T& at(Bricks<E...> where, T* base, Index... index) {
  static_assert(sizeof...(Index) == sizeof...(E), "tonari::at: one index per dimension");
  const tonari_bricks& table = where.table();
  const std::int64_t cell[]{static_cast<std::int64_t>(index)...};
  std::int64_t number = 0, inside = 0;
  detail::unrolled<Bricks<E...>::dims>([&](auto i) {
    constexpr int extent = Bricks<E...>::extents[i];
    const auto from_ghosts = static_cast<std::uint64_t>(cell[i] + table.lower[i] * extent);
    number = number * (table.lower[i] + table.own[i] + table.upper[i]) +
             static_cast<std::int64_t>(from_ghosts / extent);
    inside = inside * extent + static_cast<std::int64_t>(from_ghosts % extent);
  });
  return base[table.place[table.number[number]] + inside];
}

template <class T, class... Index>
T& at(const tonari_array& array, T* base, Index... index) {
  const std::int64_t cell[]{static_cast<std::int64_t>(index)...};
  std::int64_t place = 0;
  for (std::size_t i = 0; i < sizeof...(Index); ++i)
    place += (cell[i] + array.lower[i]) * array.stride[i];
  return base[place];
}

namespace detail {

// Kernels walk along rows of contiguous cells.
inline void check_order(const tonari_array& array, const char* who) {
  if (array.dims > 0 && array.stride[array.dims - 1] > 1)
    throw std::invalid_argument(std::string(who) +
                                ": the array is in Fortran order; kernels take order C");
}

template <class F>
void for_each_number(std::int64_t count, [[maybe_unused]] Threads threads, const F& f) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (threads == Threads::all)
#endif
  for (std::int64_t i = 0; i < count; ++i) f(i);
}

// The cells of a block on which a kernel works, relative to the block's first cell: all of them,
template <int... E>
struct Whole {
  static constexpr bool whole = true;
  static constexpr std::array<int, sizeof...(E)> extents{E...};
  static constexpr int first(int) { return 0; }
  static constexpr int end(int i) { return extents[static_cast<std::size_t>(i)]; }
};
// or those inside a box.
template <int D>
struct Part {
  static constexpr bool whole = false;
  Array<int, D> firsts, ends;
  int first(int i) const { return firsts[static_cast<std::size_t>(i)]; }
  int end(int i) const { return ends[static_cast<std::size_t>(i)]; }
  bool empty() const {
    for (int i = 0; i < D; ++i)
      if (first(i) >= end(i)) return true;
    return false;
  }
};

// f(number, cells) for the bricks of a list; with a box only for those that have cells inside.
template <int... E, class F>
void over_bricks(const BrickList& numbers, Threads threads, const F& f) {
  for_each_number(numbers.size(), threads, [&](std::int64_t i) { f(numbers[i], Whole<E...>{}); });
}
template <int... E, class F>
void over_bricks(Bricks<E...> bricks, const BrickList& numbers, const tonari_box& clip,
                 Threads threads, const F& f) {
  constexpr int dims = Bricks<E...>::dims;
  for_each_number(numbers.size(), threads, [&](std::int64_t i) {
    Part<dims> part;
    bool all = true;
    for (int d = 0; d < dims; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const std::int64_t begin = bricks.cell(numbers[i], d), extent = Bricks<E...>::extents[at];
      part.firsts[at] =
          static_cast<int>(std::clamp<std::int64_t>(clip.first[d] - begin, 0, extent));
      part.ends[at] = static_cast<int>(std::clamp<std::int64_t>(clip.end[d] - begin, 0, extent));
      all = all && part.firsts[at] == 0 && part.ends[at] == extent;
    }
    if (all)
      f(numbers[i], Whole<E...>{});
    else if (!part.empty())
      f(numbers[i], part);
  });
}

// Where a brick's neighbors begin, in every direction or in those of its faces and its own.
template <class T, int... E>
struct Bases {
  using B = Bricks<E...>;
  const T* of[B::directions];

  TONARI_INLINE Bases(const tonari_bricks& table, const T* base, std::int32_t number,
                      bool faces_only) {
    const std::int32_t* to = table.neighbors + static_cast<std::int64_t>(number) * B::directions;
    const auto resolve = [&](int direction)
                             TONARI_INLINED { of[direction] = base + table.place[to[direction]]; };
    constexpr int own = B::directions / 2;
    if (!faces_only) {
      for (int direction = 0; direction < B::directions; ++direction) resolve(direction);
      return;
    }
    resolve(own);
    for (int step = 1; step < B::directions; step *= 3) {
      resolve(own - step);
      resolve(own + step);
    }
  }
};

}  // namespace detail
}  // namespace api0
}  // namespace tonari
