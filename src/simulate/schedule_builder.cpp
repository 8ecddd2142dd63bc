// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/schedule_builder.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tonari::sim {

std::uint32_t ScheduleBuilder::add(Act act, std::uint64_t size, std::uint32_t peer,
                                   std::uint32_t other) {
  if (schedule_.steps.size() >> 30 > 0)
    fail(Errc::overflow, "the schedule has more than ", 1u << 30,
         " steps, which is more than a simulation has room for; use fewer ranks");
  schedule_.steps.push_back({size, peer, other, 0, act});
  return here() - 1;
}

void ScheduleBuilder::require(std::uint32_t later, std::uint32_t earlier, bool started) {
  edges_.push_back({earlier, {later & ~(1u << 31), started}});
  ++schedule_.steps[schedule_.begin.back() + later].waits;
}

// A step's successors stay in the order in which they were required.
void ScheduleBuilder::end_rank() {
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.earlier < b.earlier; });
  auto edge = edges_.begin();
  for (std::uint32_t k = 0; k < here(); ++k) {
    for (; edge != edges_.end() && edge->earlier == k; ++edge)
      schedule_.after.push_back(edge->later);
    schedule_.after_begin.push_back(schedule_.after.size());
  }
  edges_.clear();
  schedule_.begin.push_back(static_cast<std::uint32_t>(schedule_.steps.size()));
  ++schedule_.ranks;
}

Schedule ScheduleBuilder::take() { return std::exchange(schedule_, empty()); }

}  // namespace tonari::sim
