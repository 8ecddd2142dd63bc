// SPDX-License-Identifier: BSD-3-Clause
// The shifts of a program that all ranks of a torus share, by their numbers.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "simulate/schedule.hpp"

namespace tonari::sim {

class Shifts {
 public:
  // Makes the schedule one of this torus.
  Shifts(Schedule& schedule, const Grid& grid) : schedule_(schedule), grid_(grid) {
    for (int j = 0; j < grid.dimensions(); ++j)
      schedule.dims.push_back(static_cast<std::uint32_t>(grid.size(j)));
    schedule.ranks = static_cast<std::uint32_t>(grid.ranks());
  }
  // The number of the shift from rank 0 to this one.
  std::uint32_t to(int rank) {
    const auto [found, added] =
        numbers_.try_emplace(rank, static_cast<std::uint32_t>(numbers_.size()));
    if (added) schedule_.shifts.push_back({grid_.coordinates(rank), rank == 0});
    return found->second;
  }
  int back(int rank) const { return grid_.rank_at(Vec{} - grid_.coordinates(rank)); }

 private:
  Schedule& schedule_;
  const Grid& grid_;
  std::map<int, std::uint32_t> numbers_;
};

}  // namespace tonari::sim
