// SPDX-License-Identifier: BSD-3-Clause
// Against a list of the bytes' places, one by one.
#include "planners/in_place/slot_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tonari {
namespace {

using Random = std::mt19937;

struct Element {
  std::ptrdiff_t extent;
  Layout layout;
};

std::vector<Element> elements() {
  std::vector<Element> all(7);
  all[0].extent = 6, all[0].layout.add(2, 6);  // one behind the other
  all[1].extent = 9, all[1].layout.add(2, 6);  // with gaps
  // a stride that goes on through all elements
  all[2].extent = 24, all[2].layout.add({0, 3, 8, 3});
  all[3].extent = 30, all[3].layout.add({0, 3, 8, 3});  // and one that does not
  all[4].extent = 40, all[4].layout.add(20, 5), all[4].layout.add({0, 2, 5, 4}),
  all[4].layout.add(30, 1);
  all[5].extent = 4, all[5].layout.add(0, 4), all[5].layout.add(400, 4);  // two columns
  all[6].extent = -12, all[6].layout.add({700, 4, -4, 3});                // backwards
  return all;
}

constexpr std::uint64_t count = 50;

struct Memory {
  explicit Memory(const Element& e)
      : bytes(2500), room(100), slots(bytes.data(), e.extent, e.layout) {
    for (std::uint64_t k = 0; k < count; ++k)
      for (const Run& run : e.layout.runs())
        for (std::size_t i = 0; i < run.count; ++i)
          for (std::size_t b = 0; b < run.length; ++b)
            places.push_back(&bytes[static_cast<std::size_t>(
                                        static_cast<std::ptrdiff_t>(k) * e.extent + run.offset +
                                        static_cast<std::ptrdiff_t>(i) * run.stride) +
                                    b]);
    room_begin = places.size() + 1;
    slots.set_room(room_begin, room.data());
    places.push_back(nullptr);
    for (std::byte& b : room) places.push_back(&b);
  }
  Slots random_slots(Random& random, bool in_room, std::uint64_t most) const {
    const Slot low = in_room ? room_begin : 0, high = in_room ? places.size() : room_begin - 1;
    const Slot begin = low + random() % (high - low);
    return {begin, begin + 1 + random() % std::min(most, high - begin)};
  }
  std::vector<std::byte> content(Slots of) const {
    std::vector<std::byte> all;
    for (Slot s = of.begin; s < of.end; ++s) all.push_back(*places[s]);
    return all;
  }

  std::vector<std::byte> bytes, room;
  SlotMemory slots;
  std::vector<std::byte*> places;
  Slot room_begin;
};

void fill(Random& random, std::vector<std::byte>& bytes) {
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
}

TEST(SlotMemory, ReadsWritesAndCopiesByteForByte) {
  Random random(1);
  for (const Element& element : elements()) {
    Memory memory(element);
    for (int step = 0; step < 3000; ++step) {
      SCOPED_TRACE(step);
      fill(random, memory.bytes), fill(random, memory.room);
      const Slots slots = memory.random_slots(random, random() % 4 == 0, 90);
      ASSERT_EQ(memory.slots.address(slots.begin), memory.places[slots.begin]);
      const std::uint64_t together = memory.slots.contiguous(slots);
      ASSERT_TRUE(together >= 1 && together <= slots.size());
      ASSERT_EQ(memory.places[slots.begin + together - 1],
                memory.places[slots.begin] + together - 1);

      std::vector<std::byte> packed(slots.size());
      memory.slots.read(slots, packed.data());
      ASSERT_EQ(packed, memory.content(slots));

      fill(random, packed);
      std::vector<std::byte> expected_bytes = memory.bytes, expected_room = memory.room;
      for (Slot s = slots.begin; s < slots.end; ++s) {
        std::byte* const place = memory.places[s];
        if (s >= memory.room_begin)
          expected_room[static_cast<std::size_t>(place - memory.room.data())] =
              packed[s - slots.begin];
        else
          expected_bytes[static_cast<std::size_t>(place - memory.bytes.data())] =
              packed[s - slots.begin];
      }
      memory.slots.write(packed.data(), slots);
      ASSERT_TRUE(memory.bytes == expected_bytes && memory.room == expected_room);

      const Slots source = memory.random_slots(random, random() % 3 == 0, 60),
                  target = memory.random_slots(random, random() % 3 == 0, 60);
      const std::uint64_t size = std::min(source.size(), target.size());
      const Slots from{source.begin, source.begin + size}, to{target.begin, target.begin + size};
      if (from.begin < to.end && to.begin < from.end) continue;
      const std::vector<std::byte> moved = memory.content(from);
      memory.slots.copy(from, to.begin);
      ASSERT_EQ(memory.content(to), moved);
    }
  }
}

TEST(SlotMemory, KnowsWhatNeedsNoPacking) {
  const std::vector<Element> all = elements();
  const std::uint64_t longest[] = {0, 6, 3, 3, 5, 4, 4};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Memory memory(all[k]);
    EXPECT_EQ(memory.slots.all_contiguous(), k == 0);
    EXPECT_TRUE(k == 0 ? memory.slots.contiguous({5, 250}) == 245
                       : memory.slots.longest_piece() == longest[k])
        << k;
  }
}

}  // namespace
}  // namespace tonari
