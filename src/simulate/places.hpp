// SPDX-License-Identifier: BSD-3-Clause
// Where the steps of a schedule are kept: a slot is a step of one rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulate/schedule.hpp"

namespace tonari::sim {

// One program for all ranks of a torus.
class SharedPlaces {
 public:
  explicit SharedPlaces(const Schedule& schedule)
      : schedule_(schedule), steps_(static_cast<std::uint32_t>(schedule.steps.size())) {}

  std::uint32_t first(std::uint32_t rank) const { return rank * steps_; }
  std::uint32_t count(std::uint32_t) const { return steps_; }
  std::uint32_t rank_of(std::uint32_t slot) const { return slot / steps_; }
  std::uint32_t index(std::uint32_t rank, std::uint32_t slot) const { return slot - first(rank); }
  const Step& step(std::uint32_t, std::uint32_t index) const { return schedule_.steps[index]; }
  std::uint64_t after_at(std::uint32_t, std::uint32_t index) const {
    return schedule_.after_begin[index];
  }
  bool is_self(std::uint32_t, const Step& step) const { return schedule_.shifts[step.peer].self; }
  std::uint32_t peer(std::uint32_t rank, const Step& step) const {
    const Vec& offset = schedule_.shifts[step.peer].offset;
    std::uint32_t moved = 0, stride = 1;
    for (std::size_t j = schedule_.dims.size(); j-- > 0;) {
      const std::uint32_t size = schedule_.dims[j];
      const std::uint32_t rest = rank / size;
      std::uint32_t here = rank - rest * size + static_cast<std::uint32_t>(offset[j]);
      if (here >= size) here -= size;
      moved += here * stride;
      stride *= size;
      rank = rest;
    }
    return moved;
  }

 private:
  const Schedule& schedule_;
  std::uint32_t steps_;
};

// A program for each rank.
class OwnPlaces {
 public:
  explicit OwnPlaces(const Schedule& schedule)
      : schedule_(schedule), rank_of_(schedule.steps.size()) {
    for (std::uint32_t rank = 0; rank < schedule.ranks; ++rank)
      std::fill(rank_of_.begin() + schedule.begin[rank],
                rank_of_.begin() + schedule.begin[rank + 1], rank);
  }

  std::uint32_t first(std::uint32_t rank) const { return schedule_.begin[rank]; }
  std::uint32_t count(std::uint32_t rank) const { return schedule_.begin[rank + 1] - first(rank); }
  std::uint32_t rank_of(std::uint32_t slot) const { return rank_of_[slot]; }
  std::uint32_t index(std::uint32_t rank, std::uint32_t slot) const { return slot - first(rank); }
  const Step& step(std::uint32_t rank, std::uint32_t index) const {
    return schedule_.steps[first(rank) + index];
  }
  std::uint64_t after_at(std::uint32_t rank, std::uint32_t index) const {
    return schedule_.after_begin[first(rank) + index];
  }
  bool is_self(std::uint32_t rank, const Step& step) const { return step.peer == rank; }
  std::uint32_t peer(std::uint32_t, const Step& step) const { return step.peer; }

 private:
  const Schedule& schedule_;
  std::vector<std::uint32_t> rank_of_;
};

}  // namespace tonari::sim
