// SPDX-License-Identifier: BSD-3-Clause
// Joint bases: vectors that belong to no dimension.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "analysis/patterns.hpp"
#include "planners/offsets/cases.hpp"
#include "planners/offsets/check_routing.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;

OffsetVariant joint(const Neighborhood& near) {
  return test::first_schedule("joint-basis", near, Collective::alltoall);
}

TEST(JointBasis, StarInFourRounds) {  // linear, torus and torus-direct need 6
  const std::vector<Vec> star = parse_pattern("star:3:1").offsets;
  for (const Grid& grid :
       {test::torus({4, 4, 4}), test::torus({5, 5, 5}), test::torus({16, 16, 16})}) {
    const OffsetVariant schedule = joint({grid, star});
    EXPECT_EQ(schedule.rounds(), 4u);
    EXPECT_NO_THROW(test::check(schedule.routing()));
  }
}

// On a mesh no hop may turn back, so each unit vector has only itself.
TEST(JointBasis, StarOnAMeshNeedsEveryNeighbor) {
  EXPECT_EQ(joint({test::mesh({4, 4, 4}), parse_pattern("star:3:1").offsets}).rounds(), 6u);
}

TEST(JointBasis, OctantNeedsOneRoundPerDimension) {  // 2^3 - 1 sums of three vectors
  EXPECT_EQ(joint({test::torus({4, 4, 4}), parse_pattern("octant:3").offsets}).rounds(), 3u);
}

TEST(JointBasis, RefusesLargeNeighborhoodsWithAReason) {
  const Neighborhood near{test::torus({8, 8, 8}), parse_pattern("moore:3:2").offsets};
  EXPECT_EQ(offset_joint_basis.applicable(near, Collective::alltoall),
            "the search for a joint basis is for at most 64 distinct neighbors, here are 124");
  // only 7 of them differ
  EXPECT_EQ(
      offset_joint_basis.applicable({test::torus({2, 2, 2}), near.offsets}, Collective::alltoall),
      "");
}

// Never more rounds than the algorithms by dimension, never fewer than the number of sums allows.
TEST(JointBasis, StaysWithinItsBounds) {
  Random random(41);
  for (int k = 0; k < 120; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 4), 200);
    const Neighborhood near{grid, test::random_offsets(random, grid, 12)};
    const OffsetVariant schedule = joint(near);
    std::vector<Vec> wanted = routable_offsets(near);
    std::set<Vec> distinct(wanted.begin(), wanted.end());
    distinct.erase(Vec{});
    EXPECT_GE(schedule.rounds(), static_cast<std::size_t>(std::bit_width(distinct.size())))
        << test::describe(near);
    EXPECT_LE(schedule.rounds(),
              test::first_schedule("torus-direct", near, Collective::alltoall).rounds())
        << test::describe(near);
    EXPECT_NO_THROW(test::check(schedule.routing())) << test::describe(near);
  }
}

// Smallest by brute force over pairs and triples of arbitrary vectors, for neighborhoods whose
// bound is certain.
TEST(JointBasis, FindsHiddenVectors) {
  Random random(42);
  for (int k = 0; k < 60; ++k) {
    const Grid grid = test::torus({17, 19});
    std::vector<Vec> basis, sums{Vec{}};
    for (int b = 0; b < 3; ++b) basis.push_back(Vec{random.between(1, 3), random.between(-2, 2)});
    for (const Vec& b : basis)
      for (std::size_t n = sums.size(), i = 0; i < n; ++i) sums.push_back(sums[i] + b);
    EXPECT_LE(joint({grid, sums}).rounds(), 3u) << test::describe({grid, sums});
  }
}

// All ranks must find the same basis, whatever the order of a hash table.
TEST(JointBasis, IsTheSameEveryTime) {
  const Neighborhood near{test::torus({6, 5, 4}), parse_pattern("moore:3:1").offsets};
  const OffsetVariant a = joint(near), b = joint(near);
  ASSERT_EQ(a.rounds(), b.rounds());
  EXPECT_TRUE(std::equal(a.routing().steps().begin(), a.routing().steps().end(),
                         b.routing().steps().begin()));
}

}  // namespace
}  // namespace tonari
