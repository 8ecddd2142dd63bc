// SPDX-License-Identifier: BSD-3-Clause
// The ranks of all neighbors at once, against target() and source() one by one, and fingerprints.
#include "topology/neighborhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "support/grids.hpp"

namespace tonari {
namespace {

Grid random_grid(std::mt19937& random) {
  const std::size_t d = 1 + random() % max_dimensions;
  std::vector<int> sizes(d);
  bool periodic[max_dimensions];
  for (int& size : sizes) size = 1 + static_cast<int>(random() % 4);
  std::generate(periodic, periodic + d, [&] { return random() % 2 == 0; });
  return {sizes, std::span<const bool>(periodic, d)};
}

Neighborhood random_neighborhood(std::mt19937& random, int radius) {
  Neighborhood near{random_grid(random), std::vector<Vec>(random() % 40)};
  std::uniform_int_distribution<int> coordinate(-radius, radius);
  for (Vec& offset : near.offsets)
    for (int j = 0; j < near.grid.dimensions(); ++j) offset[j] = coordinate(random);
  return near;
}

// Radius 1,000,000,000 is the largest that programs may give; tables would be too long there.
TEST(NeighborRanks, AreThoseOfEveryNeighborAlone) {
  std::mt19937 random(7);
  for (const int radius : {0, 1, 2, 9, 200, 1000000000})
    for (int k = 0; k < 200; ++k) {
      const Neighborhood near = random_neighborhood(random, radius);
      const int rank = static_cast<int>(random() % static_cast<unsigned>(near.grid.ranks()));
      const NeighborRanks ranks = neighbor_ranks(near, rank);
      ASSERT_EQ(ranks.targets.size(), near.offsets.size());
      ASSERT_EQ(ranks.sources.size(), near.offsets.size());
      for (std::size_t i = 0; i < near.offsets.size(); ++i) {
        ASSERT_EQ(ranks.targets[i], near.target(rank, i));
        ASSERT_EQ(ranks.sources[i], near.source(rank, i));
      }
    }
}

TEST(NeighborRanks, AreNoneOutsideOfTheLargestMeshes) {
  const Neighborhood near{test::mesh({2, 1 << 29}), {{1, 0}, {1, 1}, {-1, 2}, {0, -1}}};
  const NeighborRanks ranks = neighbor_ranks(near, (1 << 30) - 1);
  EXPECT_EQ(ranks.targets, (std::vector<std::int32_t>{-1, -1, -1, (1 << 30) - 2}));
  EXPECT_EQ(ranks.sources, (std::vector<std::int32_t>{(1 << 29) - 1, (1 << 29) - 2, -1, -1}));
}

// Ranks tell by the fingerprint whether they gave the same list; coordinates and order count.
TEST(NeighborhoodFingerprint, ChangesWithEveryCoordinateAndTheOrder) {
  std::mt19937 random(9);
  for (int k = 0; k < 200; ++k) {
    Neighborhood near = random_neighborhood(random, 3);
    std::set<std::uint64_t> prints{near.fingerprint()};
    std::size_t lists = 1;
    for (Vec& offset : near.offsets)
      for (int j = 0; j < near.grid.dimensions(); ++j, ++lists) {
        offset[j] += 1;
        prints.insert(near.fingerprint());
        offset[j] -= 1;
      }
    EXPECT_EQ(prints.size(), lists);
    EXPECT_EQ(near.fingerprint(), Neighborhood(near).fingerprint());
  }
  const Grid grid = test::torus({3, 3});
  EXPECT_NE((Neighborhood{grid, {{1, 0}, {0, 1}}}.fingerprint()),
            (Neighborhood{grid, {{0, 1}, {1, 0}}}.fingerprint()));
}

}  // namespace
}  // namespace tonari
