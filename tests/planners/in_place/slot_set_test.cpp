// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/slot_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tonari {
namespace {

constexpr Slot slots = 40;

// The oracle: a bit per slot.
struct Bits {
  std::vector<bool> in = std::vector<bool>(slots + 1, false);

  Slots from(Slot slot) const {
    while (slot < slots && !in[slot]) ++slot;
    if (slot == slots) return {};
    Slots run{slot, slot};
    while (in[run.end]) ++run.end;
    return run;
  }
  Slots holding(Slot slot) const {
    if (!in[slot]) return {};
    while (slot > 0 && in[slot - 1]) --slot;
    return from(slot);
  }
  std::size_t runs() const {
    std::size_t n = 0;
    for (Slot s = 0; s < slots; ++s) n += in[s] && !in[s + 1];
    return n;
  }
};

TEST(SlotSet, IsTheSameAsABitPerSlot) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    SlotSet set;
    Bits bits;
    for (int step = 0; step < 60; ++step) {
      Slots range{random() % slots, 0};
      range.end = range.begin + random() % (slots + 1 - range.begin);
      const bool add = random() % 2;
      if (add) set.remove(range);
      if (add)
        set.add(range);
      else
        set.remove(range);
      for (Slot s = range.begin; s < range.end; ++s) bits.in[s] = add;

      ASSERT_EQ(set.runs(), bits.runs());
      ASSERT_EQ(set.size(),
                static_cast<std::uint64_t>(std::count(bits.in.begin(), bits.in.end(), true)));
      ASSERT_EQ(set.empty(), set.size() == 0);
      Slots last;
      for (Slot s = 0; s < slots; ++s) {
        ASSERT_EQ(set.from(s), bits.from(s));
        ASSERT_EQ(set.holding(s), bits.holding(s));
        if (bits.in[s]) last = bits.holding(s);
      }
      ASSERT_TRUE(set.empty() || set.last() == last);
    }
    set.clear();
    ASSERT_TRUE(set.empty() && set.from(0).empty());
  }
}

}  // namespace
}  // namespace tonari
