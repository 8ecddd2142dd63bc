// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/offset_planner.hpp"

#include <gtest/gtest.h>

#include <set>

#include "planners/offsets/cases.hpp"
#include "support/errors.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

TEST(OffsetPlanners, VariantsAreNamedApartFewestRoundsFirst) {
  test::Random random(61);
  for (int k = 0; k < 100; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 3), 60);
    const auto near = std::make_shared<const Neighborhood>(
        Neighborhood{grid, test::random_offsets(random, grid, 14)});
    for (const AlgorithmRow& row : algorithms()) {
      if (!row.offsets || !row.offsets->applicable(*near, Collective::alltoall).empty()) continue;
      const std::vector<OffsetVariant> schedules =
          row.offsets->variants(near, Collective::alltoall);
      ASSERT_FALSE(schedules.empty()) << row.name;
      std::set<std::string> labels;
      for (std::size_t v = 0; v < schedules.size(); ++v) {
        EXPECT_EQ(schedules[v].algorithm(), row.name);
        EXPECT_TRUE(labels.insert(schedules[v].label()).second) << schedules[v].label();
        if (v > 0) {
          EXPECT_GE(schedules[v].rounds(), schedules[v - 1].rounds()) << schedules[v].label();
        }
      }
    }
  }
}

TEST(OffsetPlanners, ASchedulesFalsePromiseIsNoticed) {
  const auto near = std::make_shared<const Neighborhood>(Neighborhood{test::torus({3}), {Vec{1}}});
  const OffsetVariant wrong("linear", "", near, Collective::alltoall, 2, 1,
                            [](const Neighborhood& n) {
                              Routing routing(n);
                              routing.add_step(Vec{1});
                              routing.hop(0);
                              routing.end_path();
                              return routing;
                            });
  const Error e = test::error_of([&] { wrong.plan(0); });
  EXPECT_EQ(e.code(), Errc::internal);
  EXPECT_STREQ(e.what(), "linear: announced 2 rounds and 1 hops, made 1 and 1");
}

TEST(OffsetPlanners, TorusRefusesEndlessWays) {
  const Neighborhood near{test::torus({2000000000}), std::vector<Vec>(100, Vec{600000})};
  EXPECT_EQ(offset_torus.applicable(near, Collective::alltoall),
            "its blocks would travel more than 50,000,000 hops per rank");
  EXPECT_EQ(offset_torus.applicable({test::torus({200}), near.offsets}, Collective::alltoall), "");
}

}  // namespace
}  // namespace tonari
