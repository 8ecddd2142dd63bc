// SPDX-License-Identifier: BSD-3-Clause
#include "topology/virtual_topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support/errors.hpp"

namespace tonari {
namespace {

TEST(VirtualTopology, IsEvenAndHasRoom) {
  EXPECT_EQ(virtual_topology(512, 2), (std::vector<int>{32, 16}));
  EXPECT_EQ(virtual_topology(512, 3), (std::vector<int>{8, 8, 8}));
  EXPECT_EQ(virtual_topology(12, 2), (std::vector<int>{4, 3}));
  EXPECT_EQ(virtual_topology(37, 2), (std::vector<int>{7, 6}));
  EXPECT_EQ(virtual_topology(1, 1), (std::vector<int>{1}));
  for (int ranks = 1; ranks <= 300; ++ranks)
    for (int n = 1; n <= most_dimensions(ranks); ++n) {
      const std::vector<int> sizes = virtual_topology(ranks, n);
      ASSERT_EQ(sizes.size(), static_cast<std::size_t>(n));
      const int points = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
      ASSERT_GE(points, ranks);
      ASSERT_LT(points - points / sizes.back(), std::max(ranks, 1))
          << "a layer of " << ranks << " ranks in " << n << " dimensions is empty";
      for (int size : sizes) ASSERT_GE(size, std::min(n, 2));
      ASSERT_LE(*std::max_element(sizes.begin(), sizes.end()),
                2 * *std::min_element(sizes.begin(), sizes.end()));
    }
  for (int n : {0, 4, -1})
    EXPECT_EQ(test::error_of([&] { virtual_topology(15, n); }).code(), Errc::argument);
}

// Points that are missing included: every route ends at its target, all routes from one rank are a
// tree, and nobody has more neighbors than a full mesh gives it.
TEST(VirtualTopology, RoutesFromARankAreATree) {
  for (int ranks = 2; ranks <= 70; ++ranks)
    for (int n = 2; n <= most_dimensions(ranks); ++n) {
      const std::vector<int> sizes = virtual_topology(ranks, n);
      const VirtualTopology topology(ranks, sizes);
      std::vector<std::set<int>> neighbors(static_cast<std::size_t>(ranks));
      for (int origin = 0; origin < ranks; ++origin) {
        std::vector<int> came_from(static_cast<std::size_t>(ranks), -1);
        for (int target = 0; target < ranks; ++target) {
          int at = origin;
          for (std::size_t k = 0; k < topology.dimensions(); ++k) {
            const int next = topology.next(at, target, k);
            if (next == at) continue;
            ASSERT_TRUE(next >= 0 && next < ranks && next != origin)
                << ranks << " ranks, " << n << " dimensions";
            ASSERT_TRUE(came_from[next] == -1 || came_from[next] == at)
                << ranks << " ranks, " << n << " dimensions";
            neighbors[at].insert(next);
            came_from[next] = at;
            at = next;
          }
          ASSERT_EQ(at, target);
        }
      }
      const auto most = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), -n));
      for (const auto& of : neighbors)
        ASSERT_LE(of.size(), most) << ranks << " ranks, " << n << " dimensions";
    }
}

}  // namespace
}  // namespace tonari
