// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/routing.hpp"

#include <gtest/gtest.h>

#include "planners/offsets/cases.hpp"
#include "planners/offsets/check_routing.hpp"
#include "support/errors.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;

// Follows block i from `rank`; nothing if some hop leaves the grid.
bool stays_inside(const Routing& routing, int rank, std::size_t i, Vec& end) {
  const Grid& grid = routing.near().grid;
  end = grid.coordinates(rank);
  for (std::int32_t step : routing.path(i)) {
    end = end + routing.steps()[step];
    if (!grid.contains(end)) return false;
  }
  return true;
}

// The heart of meshes: from every rank that has target i, every hop is inside the mesh, and the
// last is the target.
TEST(Routing, PathsNeverLeaveTheMesh) {
  Random random(51);
  std::size_t paths = 0;
  for (int k = 0; k < 200; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 4), 60);
    const auto near = std::make_shared<const Neighborhood>(
        Neighborhood{grid, test::random_offsets(random, grid, 12)});
    test::for_each_schedule(near, Collective::alltoall, [&](const OffsetVariant& schedule) {
      for (int rank = 0; rank < grid.ranks(); ++rank)
        for (std::size_t i = 0; i < near->offsets.size(); ++i) {
          if (near->target(rank, i) < 0) continue;
          Vec end;
          EXPECT_TRUE(stays_inside(schedule.routing(), rank, i, end))
              << schedule.label() << ", block " << i << " on " << test::describe(*near);
          EXPECT_EQ(grid.rank_at(end), near->target(rank, i)) << schedule.label();
          ++paths;
        }
    });
  }
  EXPECT_GT(paths, 10000u);
}

TEST(Routing, EveryScheduleChecks) {
  Random random(52);
  for (int k = 0; k < 200; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 5), 100);
    const auto near = std::make_shared<const Neighborhood>(
        Neighborhood{grid, test::random_offsets(random, grid, 15)});
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      test::for_each_schedule(near, collective, [&](const OffsetVariant& schedule) {
        EXPECT_NO_THROW(test::check(schedule.routing())) << schedule.label();
      });
  }
}

std::string fault(const Neighborhood& near, const std::vector<Vec>& steps,
                  const std::vector<std::vector<int>>& paths) {
  Routing routing(near);
  for (const Vec& step : steps) routing.add_step(step);
  for (const auto& path : paths) {
    for (int step : path) routing.hop(step);
    routing.end_path();
  }
  return test::error_of([&] { test::check(routing); }).what();
}

TEST(Routing, CheckSaysWhatIsWrong) {
  const Neighborhood ring{test::torus({5}), {Vec{2}}}, line{test::mesh({5}), {Vec{2}}};
  EXPECT_EQ(fault(ring, {Vec{1}, Vec{1}}, {{0, 1}}), "no error was thrown");
  // 7 is 2 on a ring of 5
  EXPECT_EQ(fault(ring, {Vec{4}, Vec{3}}, {{0, 1}}), "no error was thrown");
  EXPECT_EQ(fault(ring, {Vec{3}, Vec{-1}}, {{0, 1}}), "no error was thrown");
  EXPECT_EQ(fault(ring, {Vec{1}}, {}), "routing: 0 paths for 1 blocks");
  EXPECT_EQ(fault(ring, {Vec{1}, Vec{1}}, {{1, 0}}),
            "routing: the steps of block 0 are not ascending");
  EXPECT_EQ(fault(ring, {Vec{1}}, {{0, 0}}), "routing: the steps of block 0 are not ascending");
  EXPECT_EQ(fault(ring, {Vec{1}}, {{0}}),
            "routing: the path of block 0 does not end at its target");
  EXPECT_EQ(fault(ring, {Vec{2}, Vec{5}}, {{0}}), "routing: a step goes nowhere");
  EXPECT_EQ(fault(line, {Vec{3}, Vec{-1}}, {{0, 1}}),
            "routing: block 0 turns back along the non-periodic dimension 0");
}

TEST(Routing, OffsetsAreShortestAndZeroWhereNoRankHasThem) {
  const std::array<int, 2> sizes{4, 3};
  const std::array<bool, 2> periodic{true, false};
  const Neighborhood near{Grid(sizes, periodic),
                          {Vec{3, 1}, Vec{2, 0}, Vec{-2, 0}, Vec{1, 3}, Vec{8, -2}}};
  EXPECT_EQ(routable_offsets(near), (std::vector<Vec>{{-1, 1}, {2, 0}, {2, 0}, {0, 0}, {0, -2}}));
}

}  // namespace
}  // namespace tonari
