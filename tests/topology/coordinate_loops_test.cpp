// SPDX-License-Identifier: BSD-3-Clause
// The loops over coordinates do the same on every processor, and their hash tells lists apart.
#include "topology/coordinate_loops.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace tonari {
namespace {

std::vector<const CoordinateLoops*> all_loops() {
  std::vector<const CoordinateLoops*> all{&plain_loops()};
  if (wide_loops()) all.push_back(wide_loops());
  return all;
}

// Lengths around those that the loops take at once.
const std::size_t lengths[] = {0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 512, 1000};

std::string random_bytes(std::mt19937& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(CoordinateLoops, NarrowToTheLowestByte) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> coordinate(-128, 127);
  for (const CoordinateLoops* loops : all_loops())
    for (const std::size_t count : lengths) {
      std::vector<int> given(count);
      for (int& c : given) c = coordinate(random);
      std::vector<std::int8_t> to(count + 1, 99);
      EXPECT_TRUE(loops->narrow(given.data(), count, to.data()));
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], given[i]) << i << " of " << count;
      EXPECT_EQ(to[count], 99) << "what follows stays";
    }
}

TEST(CoordinateLoops, FindWhatDoesNotFit) {
  for (const CoordinateLoops* loops : all_loops())
    for (const int wrong : {-129, 128, 255, 256, 32640, 32767, 32768, -32768, -32769, 65536,
                            INT32_MAX, INT32_MIN, INT32_MAX - 127})
      for (std::size_t at = 0; at < 100; ++at) {
        std::vector<int> given(100, -128);
        given[at] = wrong;
        std::vector<std::int8_t> to(given.size());
        ASSERT_FALSE(loops->narrow(given.data(), given.size(), to.data())) << wrong << ' ' << at;
      }
}

// Ranks of one program may run on processors of different kinds.
TEST(CoordinateLoops, HashAlikeOnEveryProcessor) {
  std::mt19937 random(6);
  for (const std::size_t count : lengths) {
    const std::string bytes = random_bytes(random, count);
    for (const CoordinateLoops* loops : all_loops())
      EXPECT_EQ(loops->hash(bytes), plain_loops().hash(bytes)) << count;
  }
}

// One list may be another one with two places exchanged, however far from each other, or with one
// bit changed. The places that are tried lie in one of the sums that proceed side by side.
TEST(CoordinateLoops, HashTellsChangesApart) {
  std::mt19937 random(7);
  const CoordinateLoops& loops = coordinate_loops();
  for (const std::size_t count : {200u, 256u * 80u + 13u}) {
    const std::string bytes = random_bytes(random, count);
    std::set<std::uint64_t> seen{loops.hash(bytes)};
    std::size_t lists = 1;
    for (std::size_t at = 7; at < count; at += 256)
      for (const int bit : {0, 7}) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ 1 << bit);
        seen.insert(loops.hash(other)), ++lists;
        if (at == 7) continue;
        other[7] = static_cast<char>(other[7] ^ 1 << bit);
        seen.insert(loops.hash(other)), ++lists;
      }
    EXPECT_EQ(seen.size(), lists) << count;
  }
}

TEST(CoordinateLoops, TheLengthCounts) {
  const std::string zeros(1000, '\0');
  std::set<std::uint64_t> seen;
  for (std::size_t count = 0; count <= zeros.size(); ++count)
    seen.insert(coordinate_loops().hash(std::string_view(zeros).substr(0, count)));
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

}  // namespace
}  // namespace tonari
