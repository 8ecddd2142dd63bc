// SPDX-License-Identifier: BSD-3-Clause
#include "base/most_recent.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tonari {
namespace {

class MostRecentNumbers : public testing::Test {
 protected:
  // How many objects are looked at before the number is found; all if it is not there.
  int looks(int number) {
    int looks = 0;
    (void)numbers.find([&](int each) { return ++looks, each == number; });
    return looks;
  }
  MostRecent<std::unique_ptr<int>, 3> numbers;
};

TEST_F(MostRecentNumbers, ThoseUsedLastComeFirst) {
  for (const int number : {1, 2, 3}) EXPECT_EQ(numbers.add(std::make_unique<int>(number)), number);
  EXPECT_EQ(looks(1), 3);
  EXPECT_EQ(looks(1), 1);
  EXPECT_EQ(looks(3), 2);
  EXPECT_EQ(looks(2), 3);
}

TEST_F(MostRecentNumbers, TheOneThatWasNotUsedForTheLongestTimeGoes) {
  for (const int number : {1, 2, 3}) numbers.add(std::make_unique<int>(number));
  EXPECT_NE(numbers.find([](int each) { return each == 1; }), nullptr);
  numbers.add(std::make_unique<int>(4));
  EXPECT_EQ(numbers.find([](int each) { return each == 2; }), nullptr);
  for (const int number : {1, 3, 4}) {
    const int* const found = numbers.find([&](int each) { return each == number; });
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, number);
  }
}

}  // namespace
}  // namespace tonari
