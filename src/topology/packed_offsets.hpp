// SPDX-License-Identifier: BSD-3-Clause
// The offsets of a neighborhood as a program gives them, copied as they are. To make a neighborhood
// takes no more of them than that: planners have them unpacked, once somebody plans.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topology/grid.hpp"

namespace tonari {

class PackedOffsets {
 public:
  static constexpr int most = 1'000'000'000;  // the largest coordinate, in both directions

  PackedOffsets() = default;
  // All coordinates of the first offset, then those of the second. Throws Errc::overflow if one is
  // larger than `most`.
  PackedOffsets(std::span<const int> coordinates, int dimensions);

  std::size_t count() const { return count_; }
  std::vector<Vec> list() const;
  std::uint64_t fingerprint() const;  // equal for equal lists

 private:
  std::size_t coordinates() const { return count_ * static_cast<std::size_t>(dimensions_); }

  std::size_t count_ = 0;
  int dimensions_ = 1;
  std::unique_ptr<std::int8_t[]> bytes_;   // where all coordinates fit
  std::unique_ptr<std::int32_t[]> words_;  // elsewhere
};

// A neighborhood whose offsets are still packed.
struct PackedNeighborhood {
  Grid grid;
  PackedOffsets offsets;
  std::uint64_t fingerprint() const;  // equal for equal grids and lists
};

}  // namespace tonari
