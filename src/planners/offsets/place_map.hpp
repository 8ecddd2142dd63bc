// SPDX-License-Identifier: BSD-3-Clause
// Places to numbers: a table over the bounding box of the places where that is small, else a hash
// map.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "topology/grid.hpp"

namespace tonari {

class PlaceMap {
 public:
  // All places must lie in the box around these. nothing: the number of a place without one
  PlaceMap(const std::vector<Vec>& places, std::uint32_t nothing) : nothing_(nothing) {
    for (const Vec& v : places)
      for (int j = 0; j < max_dimensions; ++j) {
        low_[j] = std::min(low_[j], v[j]);
        high_[j] = std::max(high_[j], v[j]);
      }
    std::uint64_t cells = 1;
    for (int j = 0; j < max_dimensions && cells <= limit; ++j)
      cells *= static_cast<std::uint64_t>(high_[j]) - low_[j] + 1;
    if (cells <= limit) table_.assign(cells, nothing_);
  }
  std::uint32_t& operator[](const Vec& v) {
    if (table_.empty()) return map_.try_emplace(v, nothing_).first->second;
    std::size_t cell = 0;
    for (int j = 0; j < max_dimensions; ++j)
      cell = cell * (high_[j] - low_[j] + 1) + (v[j] - low_[j]);
    return table_[cell];
  }

 private:
  static constexpr std::uint64_t limit = 1 << 20;
  std::uint32_t nothing_;
  Vec low_, high_;
  std::vector<std::uint32_t> table_;
  std::unordered_map<Vec, std::uint32_t, VecHash> map_;
};

}  // namespace tonari
