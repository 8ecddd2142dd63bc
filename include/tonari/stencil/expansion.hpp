// SPDX-License-Identifier: BSD-3-Clause
// Ghost cell expansion (Ding and He 2001; Zhao et al. 2021, section 2): with a halo k times as wide
// as the stencil's radius, ghosts are exchanged every k steps only; the steps between compute,
// redundantly, the ghost cells that later steps need.
//
//   step 0 of 3:   | g g g g g g | own .. | g g g g g g |
//   step 1:            | g g g g | own .. | g g g g |
//   step 2:                | g g | own .. | g g |
//
// Step 0 computes own cells and 2 r ghosts on each side with a neighbor, step 1 r ghosts, step 2
// the own cells alone. Now it needs an exchange.
#pragma once

#include <tonari/grid_layout.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {

class Expansion {
 public:
  // Own cells and the widths of the ghosts that exchanges fill, per dimension in cells; 0 where a
  // side has no neighbor: nothing is computed there.
  Expansion(std::span<const std::int64_t> own, std::span<const std::int64_t> lower,
            std::span<const std::int64_t> upper, int radius)
      : dims_(static_cast<int>(own.size())), radius_(radius) {
    if (dims_ < 1 || dims_ > TONARI_GRID_MAX_DIMS || lower.size() != own.size() ||
        upper.size() != own.size())
      throw std::invalid_argument(
          "tonari::Expansion: one to five dimensions, and as many widths below and above");
    if (radius < 1)
      throw std::invalid_argument("tonari::Expansion: the radius of a stencil is at least 1");
    for (int i = 0; i < dims_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      own_[at] = own[at];
      for (const auto& [width, neighbor] :
           {std::pair{lower[at], &below_[at]}, std::pair{upper[at], &above_[at]}}) {
        *neighbor = width > 0;
        if (width > 0) steps_ = static_cast<int>(std::min<std::int64_t>(steps_, width / radius));
      }
    }
    if (steps_ == 0)
      throw std::invalid_argument(
          "tonari::Expansion: the halo is narrower than the stencil's radius of " +
          std::to_string(radius) + "; make it at least as wide");
  }
  // With the widths of a subdomain as it is stored; `exchanged` says which sides have neighbors:
  // below and above dimension 0, then dimension 1, ... (default: all).
  Expansion(const tonari_array& array, int radius, std::uint32_t exchanged = ~0U)
      : Expansion(array, {1, 1, 1, 1, 1}, radius, exchanged) {}
  Expansion(const tonari_bricks& bricks, int radius, std::uint32_t exchanged = ~0U)
      : Expansion(bricks, cells_of(bricks), radius, exchanged) {}

  // Steps from one exchange to the next; the largest int if no side has a neighbor.
  int steps() const { return steps_; }

  // The cells to compute in step s after an exchange, 0 <= s < steps(): those that the steps left
  // need, and not more if the width is no multiple of the radius.
  tonari_box box(int s) const {
    if (s < 0 || s >= steps_)
      throw std::invalid_argument("tonari::Expansion: step " + std::to_string(s) + " of " +
                                  std::to_string(steps_) + "; exchange first");
    tonari_box box{};
    const std::int64_t further = static_cast<std::int64_t>(steps_ - 1 - s) * radius_;
    for (int i = 0; i < dims_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      box.first[i] = below_[at] ? -further : 0;
      box.end[i] = own_[at] + (above_[at] ? further : 0);
    }
    return box;
  }

 private:
  using Cells = std::array<std::int64_t, TONARI_GRID_MAX_DIMS>;
  struct Widths {
    Cells own{}, lower{}, upper{};
  };
  template <class Subdomain>
  Expansion(const Subdomain& subdomain, const Cells& unit, int radius, std::uint32_t exchanged)
      : Expansion(subdomain.dims, widths(subdomain, unit, exchanged), radius) {}
  Expansion(int dims, const Widths& w, int radius)
      : Expansion(std::span(w.own).first(static_cast<std::size_t>(dims)),
                  std::span(w.lower).first(static_cast<std::size_t>(dims)),
                  std::span(w.upper).first(static_cast<std::size_t>(dims)), radius) {}

  static Widths widths(const auto& subdomain, const Cells& unit, std::uint32_t exchanged) {
    Widths w;
    for (int i = 0; i < subdomain.dims; ++i) {
      const auto at = static_cast<std::size_t>(i);
      w.own[at] = subdomain.own[i] * unit[at];
      w.lower[at] = exchanged >> (2 * i) & 1U ? subdomain.lower[i] * unit[at] : 0;
      w.upper[at] = exchanged >> (2 * i + 1) & 1U ? subdomain.upper[i] * unit[at] : 0;
    }
    return w;
  }
  static Cells cells_of(const tonari_bricks& bricks) {
    Cells cells{};
    std::copy_n(bricks.brick, bricks.dims, cells.begin());
    return cells;
  }

  int dims_, radius_, steps_ = std::numeric_limits<int>::max();
  Cells own_{};
  std::array<bool, TONARI_GRID_MAX_DIMS> below_{}, above_{};
};

// The bricks that have cells inside a box, in lexicographic order: the order in which kernels find
// most neighbors still in the cache.
inline std::vector<std::int32_t> bricks_in(const tonari_bricks& table, const tonari_box& box) {
  std::array<std::int64_t, TONARI_GRID_MAX_DIMS> first{}, end{}, at{};
  std::vector<std::int32_t> numbers;
  for (int i = 0; i < table.dims; ++i) {
    const std::int64_t ghosts = table.lower[i] * table.brick[i],
                       all = table.lower[i] + table.own[i] + table.upper[i];
    const auto k = static_cast<std::size_t>(i);
    if (box.first[i] >= box.end[i]) return numbers;
    first[k] = std::max<std::int64_t>(0, box.first[i] + ghosts) / table.brick[i];
    end[k] = std::min(all, (std::max<std::int64_t>(0, box.end[i] + ghosts) + table.brick[i] - 1) /
                               table.brick[i]);
    if (first[k] >= end[k]) return numbers;
  }
  for (at = first; at[0] < end[0];) {
    std::int64_t place = 0;
    for (int i = 0; i < table.dims; ++i)
      place = place * (table.lower[i] + table.own[i] + table.upper[i]) +
              at[static_cast<std::size_t>(i)];
    numbers.push_back(table.number[place]);
    std::size_t i = static_cast<std::size_t>(table.dims) - 1;
    for (++at[i]; i > 0 && at[i] == end[i]; ++at[--i]) at[i] = first[i];
  }
  return numbers;
}

}  // namespace api0
}  // namespace tonari
