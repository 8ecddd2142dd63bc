// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/slot_set.hpp"

#include <algorithm>
#include <iterator>

namespace tonari {

void SlotSet::add(Slots slots) {
  if (slots.empty()) return;
  size_ += slots.size();
  auto next = ends_.lower_bound(slots.begin);
  if (next != ends_.end() && next->first == slots.end) {
    slots.end = next->second;
    next = ends_.erase(next);
  }
  if (next != ends_.begin() && std::prev(next)->second == slots.begin)
    std::prev(next)->second = slots.end;
  else
    ends_.emplace_hint(next, slots.begin, slots.end);
}

void SlotSet::remove(Slots slots) {
  if (slots.empty()) return;
  auto run = ends_.upper_bound(slots.begin);
  if (run != ends_.begin() && std::prev(run)->second > slots.begin) --run;
  while (run != ends_.end() && run->first < slots.end) {
    const Slots old{run->first, run->second};
    const Slots gone{std::max(old.begin, slots.begin), std::min(old.end, slots.end)};
    size_ -= gone.size();
    if (gone.begin > old.begin) {
      run->second = gone.begin;
      ++run;
    } else {
      run = ends_.erase(run);
    }
    if (gone.end < old.end) run = ends_.emplace_hint(run, gone.end, old.end);
  }
}

Slots SlotSet::holding(Slot slot) const {
  const auto next = ends_.upper_bound(slot);
  if (next == ends_.begin() || std::prev(next)->second <= slot) return {};
  return {std::prev(next)->first, std::prev(next)->second};
}

Slots SlotSet::from(Slot slot) const {
  const auto next = ends_.upper_bound(slot);
  if (next != ends_.begin() && std::prev(next)->second > slot)
    return {slot, std::prev(next)->second};
  return next == ends_.end() ? Slots{} : Slots{next->first, next->second};
}

Slots SlotSet::last() const {
  return {std::prev(ends_.end())->first, std::prev(ends_.end())->second};
}

}  // namespace tonari
