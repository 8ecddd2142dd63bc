// SPDX-License-Identifier: BSD-3-Clause
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.hpp"

namespace tonari {
namespace {

constexpr Bytes most = std::numeric_limits<Bytes>::max();

using test::error_of;

TEST(Checked, AddsAndMultipliesUpToTheLimit) {
  EXPECT_EQ(checked_add(most - 1, Bytes{1}, "x"), most);
  EXPECT_EQ(checked_multiply(Bytes{1} << 32, (Bytes{1} << 32) - 1, "x"), ((Bytes{1} << 32) - 1)
                                                                             << 32);
  EXPECT_EQ(checked_add(-5, 3, "x"), -2);
  EXPECT_EQ(checked_subtract(-5, 3, "x"), -8);
}

TEST(Checked, RefusesToWrap) {
  EXPECT_EQ(error_of([] { checked_add(most, Bytes{1}, "bytes"); }).code(), Errc::overflow);
  EXPECT_EQ(error_of([] { checked_multiply(Bytes{1} << 32, Bytes{1} << 32, "bytes"); }).code(),
            Errc::overflow);
  EXPECT_STREQ(error_of([] { checked_subtract(-2147483647, 2, "ranks"); }).what(),
               "ranks: -2147483647 - 2 does not fit");
  EXPECT_STREQ(error_of([] { checked_add(2147483647, 1, "ranks"); }).what(),
               "ranks: 2147483647 + 1 does not fit");
  EXPECT_STREQ(error_of([] { checked_multiply(65536, 65536, "ranks"); }).what(),
               "ranks: 65536 * 65536 does not fit");
}

TEST(Checked, CastsOnlyWhatFits) {
  EXPECT_EQ(checked_cast<int>(std::int64_t{-7}, "x"), -7);
  EXPECT_EQ(checked_cast<int>(std::uint64_t{2147483647}, "x"), 2147483647);
  EXPECT_EQ(error_of([] { checked_cast<int>(std::uint64_t{2147483648}, "count"); }).code(),
            Errc::overflow);
  EXPECT_EQ(error_of([] { checked_cast<std::uint64_t>(-1, "count"); }).code(), Errc::overflow);
  EXPECT_EQ(error_of([] { checked_cast<std::int64_t>(most, "count"); }).code(), Errc::overflow);
  EXPECT_STREQ(error_of([] { checked_cast<std::int8_t>(128, "count"); }).what(),
               "count: 128 does not fit");
}

}  // namespace
}  // namespace tonari
