// SPDX-License-Identifier: BSD-3-Clause
// Collects the steps of one rank after another.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/schedule.hpp"

namespace tonari::sim {

class ScheduleBuilder {
 public:
  // The place of the step in the program of its rank.
  std::uint32_t add(Act act, std::uint64_t size, std::uint32_t peer = 0, std::uint32_t other = 0);
  // `later` waits until `earlier` is done, or has started.
  void require(std::uint32_t later, std::uint32_t earlier, bool started = false);
  void end_rank();
  std::uint32_t steps_of_rank() const { return here(); }

  Schedule& schedule() { return schedule_; }
  Schedule take();

 private:
  struct Edge {
    std::uint32_t earlier;
    After later;
  };
  std::uint32_t here() const {
    return static_cast<std::uint32_t>(schedule_.steps.size()) - schedule_.begin.back();
  }
  static Schedule empty() {
    Schedule schedule;
    schedule.begin = {0};
    schedule.after_begin = {0};
    return schedule;
  }
  Schedule schedule_ = empty();
  std::vector<Edge> edges_;  // of the present rank
};

}  // namespace tonari::sim
