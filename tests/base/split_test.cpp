// SPDX-License-Identifier: BSD-3-Clause
#include "base/split.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

TEST(Split, KeepsEmptyParts) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split("", ", "), Parts{""});
  EXPECT_EQ(split("a", "/"), Parts{"a"});
  EXPECT_EQ(split("a, b,c, ", ", "), (Parts{"a", "b,c", ""}));
  EXPECT_EQ(split("//a", "/"), (Parts{"", "", "a"}));
}

}  // namespace
}  // namespace tonari
