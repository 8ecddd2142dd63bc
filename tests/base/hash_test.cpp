// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tonari {
namespace {

// Ranks compare hashes made by different processes, and files remember them: the values may not
// change.
TEST(Hash, IsTheSameInEveryProcess) {
  EXPECT_EQ(Hash().word(1).word(2).value(), Hash().word(1).word(2).value());
  EXPECT_EQ(Hash().value(), 0xf52a15e9a9b5e89bull);
  EXPECT_EQ(Hash().bytes("tonari").value(), 0x2c3b09b1edab7626ull);
}

TEST(Hash, TellsOrderAndLengthApart) {
  EXPECT_NE(Hash().word(1).word(2).value(), Hash().word(2).word(1).value());
  EXPECT_NE(Hash().word(0).value(), Hash().word(0).word(0).value());
  EXPECT_NE(Hash().bytes("ab").bytes("c").value(), Hash().bytes("a").bytes("bc").value());
  EXPECT_NE(Hash().bytes("").value(), Hash().value());
}

TEST(Hash, SpreadsSmallNumbers) {
  std::set<std::uint64_t> values;
  for (std::uint64_t a = 0; a < 100; ++a)
    for (std::uint64_t b = 0; b < 100; ++b) values.insert(Hash().word(a).word(b).value() >> 32);
  EXPECT_GT(values.size(), 9980u);  // 10,000 draws of 2^32: a collision or two at most
}

}  // namespace
}  // namespace tonari
