// SPDX-License-Identifier: BSD-3-Clause
// What each of several threads tells all others, exchange after exchange. This file is also
// compiled with ThreadSanitizer: see tests/CMakeLists.txt.
//
// Why two slots suffice is said in memory/broadcast_slots.hpp; here a slot that were written too
// early would show another exchange's numbers.
#include "memory/broadcast_slots.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <thread>
#include <vector>

namespace tonari {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(TONARI_SANITIZED)
constexpr std::uint64_t many_rounds = 5'000;
#else
constexpr std::uint64_t many_rounds = 50'000;
#endif

constexpr std::size_t writers = 3, words = 20, payload = words * sizeof(std::uint64_t);

struct alignas(BroadcastSlots::alignment) SlotsRoom {
  std::array<std::byte, BroadcastSlots::bytes_for(payload)> bytes{};
  std::uint64_t behind = 0;
};

std::uint64_t* numbers(const BroadcastSlots& slots, std::uint64_t exchange) {
  return reinterpret_cast<std::uint64_t*>(slots.payload(exchange));
}

std::uint64_t number(std::size_t writer, std::uint64_t exchange, std::size_t k) {
  return exchange * 1000 + writer * 100 + k;
}

// How many words were wrong.
std::size_t exchange_again_and_again(const std::vector<BroadcastSlots>& all, std::size_t me) {
  std::size_t wrong = 0;
  for (std::uint64_t n = 1; n <= many_rounds; ++n) {
    for (std::size_t k = 0; k < words; ++k) numbers(all[me], n)[k] = number(me, n, k);
    all[me].publish(n);
    for (const BroadcastSlots& slots : all)
      for (int looks = 0; !slots.arrived(n); ++looks)
        if (looks % 64 == 63) sched_yield();
    for (std::size_t w = 0; w < writers; ++w)
      for (std::size_t k = 0; k < words; ++k) wrong += numbers(all[w], n)[k] != number(w, n, k);
  }
  return wrong;
}

TEST(BroadcastSlots, EveryoneReadsEveryone) {
  std::vector<SlotsRoom> rooms(writers);
  std::vector<BroadcastSlots> all;
  for (SlotsRoom& room : rooms) all.emplace_back(room.bytes.data(), payload);
  std::vector<std::size_t> wrong(writers);
  std::vector<std::thread> threads;
  for (std::size_t me = 0; me < writers; ++me)
    threads.emplace_back([&, me] { wrong[me] = exchange_again_and_again(all, me); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::size_t>(writers));
  for (const SlotsRoom& room : rooms) EXPECT_EQ(room.behind, 0u);
}

TEST(BroadcastSlots, NothingHasArrivedAtFirst) {
  SlotsRoom room;
  const BroadcastSlots slots(room.bytes.data(), payload);
  EXPECT_FALSE(BroadcastSlots());
  for (std::uint64_t n = 1; n < 5; ++n) {
    EXPECT_FALSE(slots.arrived(n));
    slots.publish(n);
    EXPECT_TRUE(slots.arrived(n));
    EXPECT_NE(slots.payload(n), slots.payload(n + 1));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slots.payload(n)) % sizeof(std::uint64_t), 0u);
  }
}

}  // namespace
}  // namespace tonari
