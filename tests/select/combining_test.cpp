// SPDX-License-Identifier: BSD-3-Clause
// Which one-shot calls may combine: where ranks know each other's block sizes, and where all steps
// of a plan lead along edges.
#include "select/combining.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "select/offset_planner_registry.hpp"
#include "support/grids.hpp"

namespace {

using namespace tonari;

std::vector<Vec> box(int d, int reach) {
  std::vector<Vec> offsets;
  for (int a = -reach; a <= reach; ++a)
    for (int b = d > 1 ? -reach : 0; b <= (d > 1 ? reach : 0); ++b)
      if (a != 0 || b != 0) offsets.push_back({a, b});
  return offsets;
}

TEST(SizesElsewhere, FollowTheEdges) {
  const auto on = [](Grid grid, std::vector<Vec> offsets) {
    return sizes_elsewhere({std::move(grid), std::move(offsets)});
  };
  EXPECT_EQ(on(test::torus({3, 3}), box(2, 1)), SizesElsewhere::equal);
  EXPECT_EQ(on(test::mesh({3, 4}), box(2, 1)), SizesElsewhere::equal);
  // Black squares send what white ones receive, and the other way around.
  const std::vector<Vec> cross{{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  EXPECT_EQ(on(test::torus({4, 4}), cross), SizesElsewhere::if_equal_here);
  EXPECT_EQ(on(test::torus({3, 3}), cross), SizesElsewhere::equal);
  // Each rank may pass on more than it gets.
  EXPECT_EQ(on(test::torus({5}), {{1}}), SizesElsewhere::unknown);
  // Even and odd ranks have nothing to do with each other.
  EXPECT_EQ(on(test::torus({4}), {{2}, {-2}}), SizesElsewhere::unknown);
  EXPECT_EQ(on(test::torus({4}), {}), SizesElsewhere::unknown);
  // A rank that receives what it sends itself has one size.
  EXPECT_EQ(on(test::torus({4}), {{0}, {1}}), SizesElsewhere::equal);
}

Combining best(const Neighborhood& near, const LogGP* machine, std::size_t room,
               bool priced = true) {
  OffsetPlannerRegistry planners(std::make_shared<const Neighborhood>(near));
  return best_combining(planners, {near, Collective::alltoall, machine, room, priced});
}

TEST(Combining, TakesFewerMessagesAlongEdges) {
  const Neighborhood near{test::torus({5, 5}), box(2, 1)};
  const Combining found = best(near, nullptr, 1 << 16);
  ASSERT_TRUE(found.variant);
  EXPECT_EQ(found.variant->messages(), 4u);
  EXPECT_EQ(found.most, 1024u);  // the fixed rule
  EXPECT_EQ(best(near, nullptr, 300).most, 100u) << "three blocks are in a message";
  // Six steps would do for these eight, but no edge leads along them.
  std::vector<Vec> corners;
  for (int a : {-1, 1})
    for (int b : {-1, 1})
      for (int c : {-1, 1}) corners.push_back({a, b, c});
  EXPECT_FALSE(best({test::torus({3, 3, 3}), corners}, nullptr, 1 << 16).variant);
}

TEST(Combining, AsksTheModelUpToWhichSize) {
  const Neighborhood near{test::torus({5, 5}), box(2, 1)};
  LogGP machine;
  machine.o = 5e-6, machine.L = 1e-6, machine.G = 1e-9;
  const Combining some = best(near, &machine, 1 << 20);
  ASSERT_TRUE(some.variant);
  EXPECT_GE(some.most, 1024u);
  EXPECT_LT(some.most, std::size_t{1} << 18);
  machine.G = 1e-6;  // whatever travels twice costs more than any message
  EXPECT_FALSE(best(near, &machine, 1 << 20).variant);
  EXPECT_EQ(best(near, &machine, 1 << 20, false).most, (std::size_t{1} << 20) / 3)
      << "a trial decides";
}

}  // namespace
