// SPDX-License-Identifier: BSD-3-Clause
// Boxes of cells with ghosts around them, and what forward and reverse exchanges make of all of
// them: what grids and blocks have in common. Worked out cell by cell.
#pragma once

#include <tonari/grid_layout.h>

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "fuzz/numbers.hpp"

namespace tonari::fuzz {

using Cell = std::array<std::int64_t, 3>;  // of up to three dimensions; the others are 0

struct Patch {
  Cell first{}, own{1, 1, 1};  // in the whole grid
  int owner = 0;
};

struct Patches {
  int dims = 1;
  std::vector<Patch> all;
  Cell begin{}, size{1, 1, 1};  // of the whole grid
  std::array<bool, 3> periodic{};
  Cell lower{}, upper{};   // ghosts that there are
  tonari_ghosts ghosts{};  // that are exchanged

  // use(cell) for each cell of a patch and its ghosts, counted from its first own cell.
  template <class Use>
  void each_cell(const Patch& p, Use use) const {
    Cell c{};
    for (c[0] = -lower[0]; c[0] < p.own[0] + upper[0]; ++c[0])
      for (c[1] = -lower[1]; c[1] < p.own[1] + upper[1]; ++c[1])
        for (c[2] = -lower[2]; c[2] < p.own[2] + upper[2]; ++c[2]) use(c);
  }
  bool is_own(const Patch& p, const Cell& c) const {
    for (std::size_t k = 0; k < 3; ++k)
      if (c[k] < 0 || c[k] >= p.own[k]) return false;
    return true;
  }
  bool is_exchanged(const Patch& p, const Cell& c) const {
    int beyond = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (c[k] >= 0 && c[k] < p.own[k]) continue;
      ++beyond;
      const bool below = c[k] < 0;
      const std::int64_t asked = below ? ghosts.lower[k] : ghosts.upper[k];
      const std::int64_t width = asked > 0 ? asked : asked == 0 ? 1'000'000 : 0;
      if ((below ? -c[k] : c[k] - p.own[k] + 1) > width) return false;
    }
    return beyond > 0 && (ghosts.along == 0 || beyond <= ghosts.along);
  }
  // The cell of the whole grid; within it where it is periodic.
  Cell global(const Patch& p, const Cell& c) const {
    Cell g{};
    for (std::size_t k = 0; k < 3; ++k) {
      g[k] = p.first[k] + c[k];
      if (periodic[k]) g[k] = begin[k] + ((g[k] - begin[k]) % size[k] + size[k]) % size[k];
    }
    return g;
  }

  // By cells of the whole grid: which patch owns it.
  std::map<Cell, std::size_t> owners() const {
    std::map<Cell, std::size_t> map;
    for (std::size_t n = 0; n < all.size(); ++n)
      each_cell(all[n], [&](const Cell& c) {
        if (is_own(all[n], c)) map[global(all[n], c)] = n;
      });
    return map;
  }
};

inline std::int64_t code_of(const Cell& c) { return (c[0] * 4099 + c[1]) * 4099 + c[2]; }

// What a cell of a patch holds before an exchange.
inline std::int64_t before(std::size_t patch, const Cell& c, int field, int round) {
  return small_number(static_cast<std::int64_t>(patch), code_of(c), field, round);
}

// What it holds afterwards, on all patches; how: none is a forward exchange.
class Outcome {
 public:
  Outcome(const Patches& patches, Combining how) : patches_(patches), how_(how) {
    owners_ = patches.owners();
    if (how != Combining::none) find_contributions();
  }
  std::int64_t after(std::size_t n, const Cell& c, int field, int round) const {
    const Patch& p = patches_.all[n];
    const std::int64_t old = before(n, c, field, round);
    if (how_ == Combining::none) {
      if (patches_.is_own(p, c) || !patches_.is_exchanged(p, c)) return old;
      const auto owner = owners_.find(patches_.global(p, c));
      return owner == owners_.end() ? old : before(owner->second, own_cell(owner), field, round);
    }
    if (!patches_.is_own(p, c)) return old;
    std::int64_t value = old;
    if (const auto found = contributions_.find(patches_.global(p, c));
        found != contributions_.end())
      for (const auto& [patch, ghost] : found->second)
        value = combined(how_, value, before(patch, ghost, field, round));
    return value;
  }

 private:
  Cell own_cell(std::map<Cell, std::size_t>::const_iterator owner) const {
    Cell c{};
    for (std::size_t k = 0; k < 3; ++k)
      c[k] = owner->first[k] - patches_.all[owner->second].first[k];
    return c;
  }
  void find_contributions() {
    for (std::size_t n = 0; n < patches_.all.size(); ++n)
      patches_.each_cell(patches_.all[n], [&](const Cell& c) {
        const Patch& p = patches_.all[n];
        if (!patches_.is_own(p, c) && patches_.is_exchanged(p, c))
          contributions_[patches_.global(p, c)].emplace_back(n, c);
      });
  }

  const Patches& patches_;
  Combining how_;
  std::map<Cell, std::size_t> owners_;
  std::map<Cell, std::vector<std::pair<std::size_t, Cell>>> contributions_;
};

}  // namespace tonari::fuzz
