// SPDX-License-Identifier: BSD-3-Clause
#include "topology/grid.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/grids.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {
namespace {

using test::error_of;

Grid grid(std::vector<int> sizes, std::vector<int> periodic) {
  std::array<bool, 16> flags{};
  std::copy(periodic.begin(), periodic.end(), flags.begin());
  return Grid(sizes, std::span<const bool>(flags).first(periodic.size()));
}

TEST(Grid, NumbersRanksInRowMajorOrder) {  // as MPI_Cart_create: the last dimension runs fastest
  const Grid g = test::mesh({2, 3, 4});
  EXPECT_EQ(g.ranks(), 24);
  EXPECT_EQ(g.coordinates(0), (Vec{0, 0, 0}));
  EXPECT_EQ(g.coordinates(1), (Vec{0, 0, 1}));
  EXPECT_EQ(g.coordinates(4), (Vec{0, 1, 0}));
  EXPECT_EQ(g.coordinates(12), (Vec{1, 0, 0}));
  EXPECT_EQ(g.coordinates(23), (Vec{1, 2, 3}));
  for (int rank = 0; rank < g.ranks(); ++rank) EXPECT_EQ(g.rank(g.coordinates(rank)), rank);
}

TEST(Grid, WrapsOnlyAlongPeriodicDimensions) {
  const Grid g = grid({3, 4}, {true, false});
  EXPECT_EQ(g.wrap(Vec{-1, 2}), (Vec{2, 2}));
  EXPECT_EQ(g.wrap(Vec{-7, -1}), (Vec{2, -1}));
  EXPECT_EQ(g.wrap(Vec{300, 9}), (Vec{0, 9}));
  EXPECT_TRUE(g.contains(Vec{-100, 3}));
  EXPECT_FALSE(g.contains(Vec{0, 4}));
  EXPECT_FALSE(g.contains(Vec{0, -1}));
  EXPECT_EQ(g.rank_at(Vec{-1, 3}), 11);
  EXPECT_EQ(g.rank_at(Vec{1, 4}), -1);
  EXPECT_FALSE(g.fully_periodic());
  EXPECT_TRUE(test::torus({3, 4}).fully_periodic());
}

TEST(Grid, ShortestOffsetLiesInHalfAPeriod) {
  for (int p = 1; p <= 7; ++p) {
    const Grid g = test::torus({p});
    for (int c = -3 * p; c <= 3 * p; ++c) {
      const int s = g.shortest(Vec{c})[0];
      EXPECT_EQ(((c - s) % p), 0) << c << " on " << p;
      EXPECT_GT(2 * s, -p) << c << " on " << p;
      EXPECT_LE(2 * s, p) << c << " on " << p;
    }
  }
  EXPECT_EQ(grid({4}, {false}).shortest(Vec{-3}), Vec{-3});  // no way around a mesh
}

TEST(Grid, ReachableIsWhatSomeRankHas) {
  const Grid g = grid({3, 5}, {false, true});
  for (int a = -4; a <= 4; ++a)
    for (int b = -6; b <= 6; ++b) {
      bool somewhere = false;
      for (int rank = 0; rank < g.ranks(); ++rank)
        somewhere = somewhere || g.rank_at(g.coordinates(rank) + Vec{a, b}) >= 0;
      EXPECT_EQ(g.reachable(Vec{a, b}), somewhere) << a << ' ' << b;
    }
}

TEST(Grid, HasOneToEightDimensionsOfSizeOneOrMore) {
  EXPECT_EQ(grid({1, 2, 1, 2, 1, 2, 1, 3}, {0, 1, 0, 1, 0, 1, 0, 1}).ranks(), 24);
  EXPECT_STREQ(error_of([] { grid({}, {}); }).what(),
               "a grid has 1 to 8 dimensions with a size and a periodicity each; got 0 sizes and 0 "
               "periodicities");
  EXPECT_EQ(error_of([] { grid({1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}); }).code(),
            Errc::topology);
  EXPECT_STREQ(error_of([] { grid({2, 2}, {true}); }).what(),
               "a grid has 1 to 8 dimensions with a size and a periodicity each; got 2 sizes and 1 "
               "periodicities");
  EXPECT_STREQ(error_of([] { grid({2, 0}, {1, 1}); }).what(),
               "dimension 1 of the grid has size 0; it must be at least 1");
  EXPECT_EQ(error_of([] { test::torus({1, 1, 1, 1, 1, 1, 1, 1, 1}); }).code(), Errc::topology);
}

TEST(Grid, RefusesMoreRanksThanAnIntHolds) {
  const Error e = error_of([] { test::torus({65536, 65536}); });
  EXPECT_EQ(e.code(), Errc::overflow);
  EXPECT_STREQ(e.what(), "number of ranks in the grid: 65536 * 65536 does not fit");
  EXPECT_EQ(test::torus({2147483647}).ranks(), 2147483647);
}

TEST(Vec, AddsSubtractsAndMeasures) {
  EXPECT_EQ((Vec{1, 2} + Vec{3, -5}), (Vec{4, -3}));
  EXPECT_EQ((Vec{1, 2} - Vec{3, -5}), (Vec{-2, 7}));
  EXPECT_EQ((Vec{1, -2, 3}).norm(), 6);
  EXPECT_EQ((Vec{-2147483647 - 1, 2147483647}).norm(), 4294967295);
  EXPECT_TRUE(Vec{}.is_zero());
  EXPECT_FALSE((Vec{0, 0, 0, 0, 0, 0, 0, 1}).is_zero());
  EXPECT_EQ(error_of([] { Vec({1, 2, 3, 4, 5, 6, 7, 8, 9}); }).code(), Errc::topology);
}

TEST(Neighborhood, SourceOfBlockIIsWhereItsTargetWouldBeBackwards) {
  const Neighborhood near{grid({3, 3}, {true, false}),
                          {Vec{1, 0}, Vec{0, 1}, Vec{-4, -2}, Vec{0, 0}, Vec{0, 3}}};
  EXPECT_EQ(near.target(0, 0), 3);
  EXPECT_EQ(near.source(0, 0), 6);
  EXPECT_EQ(near.target(2, 1), -1);
  EXPECT_EQ(near.source(2, 1), 1);
  EXPECT_EQ(near.target(4, 3), 4);
  for (int rank = 0; rank < 9; ++rank)
    for (std::size_t i = 0; i < near.offsets.size(); ++i) {
      const int target = near.target(rank, i);
      if (target >= 0) {
        EXPECT_EQ(near.source(target, i), rank);
      }
    }
  EXPECT_EQ(near.target(4, 4), -1);
}

TEST(Neighborhood, FingerprintTellsGridsAndListsApart) {
  const Neighborhood a{test::torus({3, 4}), {Vec{1, 0}, Vec{0, 1}}};
  EXPECT_EQ(a.fingerprint(),
            (Neighborhood{test::torus({3, 4}), {Vec{1, 0}, Vec{0, 1}}}.fingerprint()));
  EXPECT_NE(a.fingerprint(),
            (Neighborhood{test::torus({4, 3}), {Vec{1, 0}, Vec{0, 1}}}.fingerprint()));
  EXPECT_NE(a.fingerprint(),
            (Neighborhood{test::mesh({3, 4}), {Vec{1, 0}, Vec{0, 1}}}.fingerprint()));
  EXPECT_NE(a.fingerprint(),
            (Neighborhood{test::torus({3, 4}), {Vec{0, 1}, Vec{1, 0}}}.fingerprint()));
  EXPECT_NE(a.fingerprint(), (Neighborhood{test::torus({3, 4}), {Vec{1, 0}}}.fingerprint()));
  EXPECT_NE(a.fingerprint(),
            (Neighborhood{test::torus({3, 4, 1}), {Vec{1, 0}, Vec{0, 1}}}.fingerprint()));
}

}  // namespace
}  // namespace tonari
