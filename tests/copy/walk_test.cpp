// SPDX-License-Identifier: BSD-3-Clause
#include "copy/walk.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tonari {
namespace {

std::vector<std::byte> noise(std::size_t n, std::mt19937& random) {
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// Runs that do not overlap, strides in both directions, in an order of their own.
Layout any_layout(std::mt19937& random, std::size_t& memory) {
  std::vector<Run> runs;
  std::ptrdiff_t at = static_cast<std::ptrdiff_t>(random() % 8);
  for (std::size_t k = 1 + random() % 5; k > 0; --k) {
    const std::size_t length = 1 + random() % 9, count = 1 + random() % 6;
    const auto stride = static_cast<std::ptrdiff_t>(length + random() % 5),
               last = stride * static_cast<std::ptrdiff_t>(count - 1);
    const bool back = random() % 2;
    runs.push_back({back ? at + last : at, length,
                    count == 1 ? 0
                    : back     ? -stride
                               : stride,
                    count});
    at += last + static_cast<std::ptrdiff_t>(length + random() % 4);
  }
  memory = static_cast<std::size_t>(at);
  std::shuffle(runs.begin(), runs.end(), random);
  Layout layout;
  for (const Run& run : runs) layout.add(run);
  return layout;
}

// All bytes at once, by the moves that are tested elsewhere.
std::vector<std::byte> packed(std::vector<std::byte>& memory, const Layout& layout) {
  std::vector<std::byte> bytes(layout.bytes());
  Layout whole;
  whole.add(0, bytes.size());
  std::vector<Move> moves;
  make_moves(moves, bytes.data(), whole, memory.data(), layout);
  run_moves(moves);
  return bytes;
}

TEST(Walk, GathersAndScattersInChunksOfAnySize) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::size_t size = 0;
    const Layout layout = any_layout(random, size);
    std::vector<std::byte> memory = noise(size, random);
    const std::vector<std::byte> want = packed(memory, layout), before = memory;
    std::vector<std::byte> got(want.size());
    Walk out(memory.data(), layout), in(memory.data(), layout);
    for (std::size_t at = 0; at < got.size();) {
      const std::size_t n = std::min<std::size_t>(got.size() - at, 1 + random() % 20);
      if (const std::byte* straight = out.straight(n)) {
        EXPECT_TRUE(
            std::equal(straight, straight + n, want.begin() + static_cast<std::ptrdiff_t>(at)));
      }
      if (random() % 5 == 0) {
        std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(at), n,
                    got.begin() + static_cast<std::ptrdiff_t>(at));
        out.skip(n);
      } else {
        out.gather(got.data() + at, n);
      }
      at += n;
    }
    EXPECT_EQ(got, want);
    const std::vector<std::byte> other = noise(want.size(), random);
    for (std::size_t at = 0; at < other.size();) {
      const std::size_t n = std::min<std::size_t>(other.size() - at, 1 + random() % 20);
      in.scatter(other.data() + at, n);
      at += n;
    }
    EXPECT_EQ(packed(memory, layout), other);
    in.restart();
    in.scatter(want.data(), want.size());
    EXPECT_EQ(memory, before) << "bytes between the pieces were touched";
  }
}

// As many elements as wanted, one after the other, as the layout that lists all of them.
TEST(Walk, OfManyElements) {
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    std::size_t size = 0;
    const Layout element = any_layout(random, size);
    const std::size_t count = 1 + random() % 5;
    const auto extent = static_cast<std::ptrdiff_t>(size + random() % 7);
    Layout all;
    for (std::size_t k = 0; k < count; ++k)
      all.add(element, extent * static_cast<std::ptrdiff_t>(k));
    std::vector<std::byte> memory = noise(static_cast<std::size_t>(extent) * count, random);
    const std::vector<std::byte> want = packed(memory, all);
    std::vector<std::byte> got(want.size());
    Walk out(memory.data(), element, extent), in(memory.data(), element, extent);
    for (std::size_t at = 0; at < got.size();) {
      const std::size_t n = std::min<std::size_t>(got.size() - at, 1 + random() % 40);
      if (const std::byte* straight = out.straight(n)) {
        EXPECT_TRUE(
            std::equal(straight, straight + n, want.begin() + static_cast<std::ptrdiff_t>(at)));
      }
      out.gather(got.data() + at, n);
      at += n;
    }
    EXPECT_EQ(got, want);
    const std::vector<std::byte> other = noise(want.size(), random);
    in.scatter(other.data(), other.size());
    EXPECT_EQ(packed(memory, all), other);
  }
}

TEST(Walk, OfContiguousBytes) {
  std::mt19937 random(4);
  std::vector<std::byte> memory = noise(100, random), got(100);
  Walk walk(memory.data());
  EXPECT_EQ(walk.straight(100), memory.data());
  walk.gather(got.data(), 30);
  EXPECT_EQ(walk.straight(70), memory.data() + 30);
  walk.gather(got.data() + 30, 70);
  EXPECT_EQ(got, memory);
}

}  // namespace
}  // namespace tonari
