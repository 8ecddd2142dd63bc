// SPDX-License-Identifier: BSD-3-Clause
// A subdomain in bricks made by hand: interior bricks first, then the rest of the own ones, then
// ghosts; within each in lexicographic order or shuffled, and then with gaps between bricks.
#pragma once

#include <tonari/grid_layout.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace tonari::test {

using Extents = std::array<std::int64_t, TONARI_GRID_MAX_DIMS>;

class BrickTable {
 public:
  // Extents and bricks per side; an own brick is interior if all its neighbors are own ones.
  BrickTable(int dims, Extents brick, Extents lower, Extents own, Extents upper,
             std::mt19937* shuffle = nullptr, int fields = 1) {
    table_.dims = dims;
    table_.count = 1;
    std::int64_t cells = 1, directions = 1;
    for (int i = 0; i < dims; ++i) {
      table_.brick[i] = brick[i], table_.lower[i] = lower[i], table_.own[i] = own[i],
      table_.upper[i] = upper[i];
      table_.count *= lower[i] + own[i] + upper[i];
      cells *= brick[i];
      directions *= 3;
    }
    order(shuffle);
    position_.resize(static_cast<std::size_t>(table_.count * dims));
    for (std::int64_t at = 0; at < table_.count; ++at) {
      const Extents x = coordinates(at);
      std::copy_n(x.begin(), dims, position_.begin() + number_[at] * dims);
    }
    neighbors_.assign(static_cast<std::size_t>((table_.count + 1) * directions),
                      static_cast<std::int32_t>(table_.count));
    for (std::int64_t at = 0; at < table_.count; ++at)
      for (std::int64_t direction = 0; direction < directions; ++direction)
        neighbors_[number_[at] * directions + direction] = neighbor(at, direction);
    std::int64_t end = 0;
    for (std::int64_t brick_number = 0; brick_number <= table_.count; ++brick_number) {
      place_.push_back(end);
      end += cells * fields + (shuffle ? static_cast<std::int64_t>((*shuffle)() % 3) * 8 : 0);
    }
    elements_ = end;
    table_.number = number_.data(), table_.position = position_.data(),
    table_.neighbors = neighbors_.data(), table_.place = place_.data();
  }
  BrickTable(const BrickTable&) = delete;

  const tonari_bricks& operator*() const { return table_; }
  const tonari_bricks* operator->() const { return &table_; }
  std::int64_t elements() const { return elements_; }  // of storage for all fields

 private:
  Extents coordinates(std::int64_t at) const {
    Extents x{};
    for (int i = table_.dims; i-- > 0;) {
      const std::int64_t all = table_.lower[i] + table_.own[i] + table_.upper[i];
      x[i] = at % all - table_.lower[i];
      at /= all;
    }
    return x;
  }

  std::int32_t neighbor(std::int64_t at, std::int64_t direction) const {
    Extents x = coordinates(at);
    for (int i = table_.dims; i-- > 0; direction /= 3) x[i] += direction % 3 - 1;
    std::int64_t to = 0;
    for (int i = 0; i < table_.dims; ++i) {
      if (x[i] < -table_.lower[i] || x[i] >= table_.own[i] + table_.upper[i])
        return static_cast<std::int32_t>(table_.count);
      to = to * (table_.lower[i] + table_.own[i] + table_.upper[i]) + x[i] + table_.lower[i];
    }
    return number_[to];
  }

  void order(std::mt19937* shuffle) {
    std::array<std::vector<std::int64_t>, 3> kinds;  // interior, surface, ghosts
    for (std::int64_t at = 0; at < table_.count; ++at) {
      const Extents x = coordinates(at);
      int kind = 0;
      for (int i = 0; i < table_.dims; ++i)
        kind = std::max(kind, x[i] < 0 || x[i] >= table_.own[i]        ? 2
                              : x[i] == 0 || x[i] == table_.own[i] - 1 ? 1
                                                                       : 0);
      kinds[static_cast<std::size_t>(kind)].push_back(at);
    }
    number_.resize(static_cast<std::size_t>(table_.count));
    std::int32_t next = 0;
    for (auto& kind : kinds) {
      if (shuffle) std::shuffle(kind.begin(), kind.end(), *shuffle);
      for (std::int64_t at : kind) number_[static_cast<std::size_t>(at)] = next++;
    }
    table_.interior_count = static_cast<std::int64_t>(kinds[0].size());
    table_.own_count = table_.interior_count + static_cast<std::int64_t>(kinds[1].size());
  }

  tonari_bricks table_{};
  std::vector<std::int32_t> number_, position_, neighbors_;
  std::vector<std::int64_t> place_;
  std::int64_t elements_ = 0;
};

// An array with these ghosts, packed.
inline tonari_array packed_array(int dims, Extents lower, Extents own, Extents upper) {
  tonari_array array{};
  array.dims = dims;
  std::int64_t stride = 1;
  for (int i = dims; i-- > 0;) {
    array.lower[i] = lower[i], array.own[i] = own[i], array.upper[i] = upper[i],
    array.stride[i] = stride;
    stride *= lower[i] + own[i] + upper[i];
  }
  return array;
}

inline std::int64_t elements(const tonari_array& array) {
  return array.stride[0] * (array.lower[0] + array.own[0] + array.upper[0]);
}

}  // namespace tonari::test
