// SPDX-License-Identifier: BSD-3-Clause
// The hand-over of messages through a ring between two threads. This file is also compiled with
// ThreadSanitizer, as a program of its own: see tests/CMakeLists.txt.
//
// Why nothing is lost and nothing is torn. Frame f goes through the states free, full, free, full.
// From free to full takes one store, which only the writer makes, and only after it saw the mark 0;
// from full to free takes one store, which only the reader makes, and only after it saw another
// mark. So the stores to a mark are totally ordered, and between two of them only one side touches
// the payload. Each of these stores is a release, each look is an acquire: what one side did with
// the payload happens before what the other side does next. Both ends go through the frames in the
// same order, so messages arrive in theirs.
#include "memory/message_ring.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <thread>

namespace tonari {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(TONARI_SANITIZED)
constexpr std::uint64_t many_messages = 50'000;
#else
constexpr std::uint64_t many_messages = 1'000'000;
#endif

// Zeros for one ring, and bytes behind them that nobody may touch.
struct RingRoom {
  explicit RingRoom(std::size_t payload)
      : bytes(MessageRing::bytes_for(payload)), memory(bytes + 2 * MessageRing::alignment) {
    std::memset(memory.data(), 0, memory.bytes());
    at = memory.data() + (MessageRing::alignment - reinterpret_cast<std::uintptr_t>(memory.data()) %
                                                       MessageRing::alignment) %
                             MessageRing::alignment;
  }
  std::size_t bytes;
  Memory memory;
  std::byte* at;
};

TEST(MessageRing, FramesGoRound) {
  for (const std::size_t payload : {1, 8, 100, 120, 121, 4000}) {
    RingRoom room(payload);
    MessageRing writer(room.at, payload), reader(room.at, payload);
    EXPECT_EQ(reader.arrived(), nullptr);
    for (std::size_t n = 0; n < 3 * MessageRing::frames; ++n) {
      for (std::size_t k = 0; k < MessageRing::frames; ++k) {
        ASSERT_NE(writer.place(), nullptr);
        std::memset(writer.place(), static_cast<int>(n + k + 1), payload);
        writer.publish(k % 2 ? payload : 0);
        EXPECT_FALSE(writer.taken());
      }
      EXPECT_EQ(writer.place(), nullptr) << "all are full";
      for (std::size_t k = 0; k < MessageRing::frames; ++k) {
        ASSERT_NE(reader.arrived(), nullptr);
        EXPECT_EQ(reader.bytes(), k % 2 ? payload : 0);
        EXPECT_EQ(reader.arrived()[payload - 1], static_cast<std::byte>(n + k + 1));
        reader.release();
      }
      EXPECT_EQ(reader.arrived(), nullptr);
      EXPECT_TRUE(writer.taken());
    }
    for (std::byte* end = room.at + room.bytes; end < room.at + room.bytes + 64; ++end)
      EXPECT_EQ(*end, std::byte{0});
  }
}

template <class Done>
void until(const Done& done) {
  for (int looks = 0; !done(); ++looks)
    if (looks % 64 == 63) sched_yield();
}

TEST(MessageRing, TwoThreads) {
  constexpr std::size_t words = 20;
  RingRoom room(words * sizeof(std::uint64_t));
  const auto value = [](std::uint64_t n, std::uint64_t k) { return n * 31 + k; };
  const auto length = [](std::uint64_t n) { return n * 7 % (words + 1); };
  std::thread sends([&] {
    MessageRing writer(room.at, words * sizeof(std::uint64_t));
    for (std::uint64_t n = 0; n < many_messages; ++n) {
      until([&] { return writer.place() != nullptr; });
      for (std::uint64_t k = 0; k < length(n); ++k) {
        const std::uint64_t word = value(n, k);
        std::memcpy(writer.place() + k * sizeof word, &word, sizeof word);
      }
      writer.publish(length(n) * sizeof(std::uint64_t));
      if (n % 1000 == 0) until([&] { return writer.taken(); });
    }
  });
  MessageRing reader(room.at, words * sizeof(std::uint64_t));
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 0; n < many_messages; ++n) {
    until([&] { return reader.arrived() != nullptr; });
    wrong += reader.bytes() != length(n) * sizeof(std::uint64_t);
    for (std::uint64_t k = 0; k < length(n); ++k) {
      std::uint64_t word = 0;
      std::memcpy(&word, reader.arrived() + k * sizeof word, sizeof word);
      wrong += word != value(n, k);
    }
    reader.release();
  }
  sends.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace tonari
