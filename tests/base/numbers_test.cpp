// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbers.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

constexpr std::int64_t large = (std::int64_t{1} << 40) + 7;

TEST(Numbers, AreReadInTheirWidth) {
  const int narrow[] = {5, -6, 7};
  const long wide[] = {5, -large, 7};
  const long long also[] = {5, -large, 7};
  EXPECT_EQ(Numbers(narrow)[1], -6);
  EXPECT_EQ(Numbers(wide)[1], -large);
  EXPECT_EQ(Numbers(also)[1], -large);
  EXPECT_EQ(Numbers(narrow).from(1)[1], 7);
  EXPECT_EQ(Numbers(wide).from(1)[0], -large);
  EXPECT_EQ(Numbers(wide).from(1).copy(2), (std::vector<std::int64_t>{-large, 7}));
  EXPECT_FALSE(Numbers());
  EXPECT_FALSE(Numbers(nullptr));
  EXPECT_TRUE(Numbers(narrow));
}

TEST(Numbers, KeptOnesAreComparedInTheirWidth) {
  const int narrow[] = {1, 0, 2, 0}, other[] = {1, 0, 3, 0};
  const long wide[] = {1, 2}, more[] = {1, large};
  const NumberCopy kept(narrow, 4);
  EXPECT_TRUE(kept.same(narrow));
  EXPECT_FALSE(kept.same(other));
  EXPECT_FALSE(kept.same(wide)) << "the same bytes, but other numbers";
  EXPECT_FALSE(kept.same(nullptr));
  EXPECT_FALSE(NumberCopy(wide, 2).same(more));
  EXPECT_TRUE(NumberCopy(wide, 1).same(more));
  EXPECT_TRUE(NumberCopy().same(nullptr)) << "of a call that has no such list";
}

}  // namespace
}  // namespace tonari
