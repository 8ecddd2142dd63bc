// SPDX-License-Identifier: BSD-3-Clause
// Which lists of values can be sent from where they are.
#include "vector/index_list.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace tonari;

std::optional<ValueSpace> regular(const std::vector<std::int64_t>& places) {
  std::vector<ValuePlace> all;
  for (const std::int64_t at : places) all.push_back({ValueSpace::owned, at});
  return IndexList(all).regular();
}

TEST(IndexList, RunsAndFacesAreRegular) {
  std::vector<std::int64_t> x, y, z;  // faces of a box of 16 x 16 x 16
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      x.push_back(16 * i + j), y.push_back(256 * i + j), z.push_back(256 * i + 16 * j);
  for (const auto& face : {x, y, z}) EXPECT_EQ(regular(face), ValueSpace::owned);
  EXPECT_EQ(regular({5}), ValueSpace::owned);
  EXPECT_EQ(regular({7, 6, 5, 4, 3, 2, 1, 0}), ValueSpace::owned);
}

TEST(IndexList, OthersAreNot) {
  EXPECT_EQ(regular({}), std::nullopt);
  EXPECT_EQ(regular({0, 1, 2, 3, 7, 9, 10, 11}), std::nullopt);
  std::mt19937 random(1);
  std::vector<std::int64_t> places;
  for (int k = 0; k < 100; ++k) places.push_back(random() % 1000);
  EXPECT_EQ(regular(places), std::nullopt);
  std::vector<ValuePlace> two;
  for (int k = 0; k < 20; ++k)
    two.push_back({k < 10 ? ValueSpace::owned : ValueSpace::ghosts, 100 * k});
  EXPECT_EQ(IndexList(two).regular(), std::nullopt);
}

}  // namespace
