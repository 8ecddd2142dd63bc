// SPDX-License-Identifier: BSD-3-Clause
// The chosen order of dimensions against all orders, by the trees that they give.
#include "planners/offsets/dimension_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planners/offsets/allgather_tree.hpp"
#include "planners/offsets/cases.hpp"
#include "planners/offsets/dimensions.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;
using Order = std::vector<int>;

struct Choice {
  explicit Choice(const Neighborhood& n) : near(n) {
    for (const Coordinates& c : coordinates_by_dimension(near)) axes.push_back(direct_axis(c));
    order = dimension_order(near, axes, Collective::allgather);
  }
  std::size_t volume(const Order& visited) const {
    return build_allgather_tree(route_by_dimension(near, axes, visited)).volume();
  }

  const Neighborhood& near;
  std::vector<Axis> axes;
  Order order;
};

Order first_order(int dimensions) {
  Order order(static_cast<std::size_t>(dimensions));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Also where paths wrap around and meet.
TEST(DimensionOrder, GathersTheLeastOfAll) {
  Random random(25);
  int better = 0;
  for (int k = 0; k < 300 && !HasFailure(); ++k) {
    const int dimensions = random.between(1, most_ordered_dimensions);
    const Grid grid = test::random_grid(random, dimensions, 400);
    const Neighborhood near{grid, test::random_offsets(random, grid, 30)};
    const Choice choice(near);
    const std::size_t chosen = choice.volume(choice.order);
    Order order = first_order(dimensions);
    better += chosen < choice.volume(order);
    do {
      EXPECT_LE(chosen, choice.volume(order)) << test::describe(near);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(better, 20) << "some order must be better than the one that is given";
}

// Dimension 1 has more values than dimension 2, so the paper visits it last.
TEST(DimensionOrder, IsBetterThanThePapersWhereThatCountsValuesOnly) {
  const Neighborhood near{test::torus({9, 9, 9}),
                          {{1, 1, 1}, {1, 1, 2}, {2, 1, 1}, {2, 1, 2}, {1, 2, 0}, {2, 3, 0}}};
  const Choice choice(near);
  EXPECT_LT(choice.volume(choice.order), choice.volume({0, 2, 1}));
}

TEST(DimensionOrder, OfAlltoallIsAsGiven) {
  const Neighborhood near{test::torus({9, 9}), {{1, 1}, {2, 1}, {3, 1}}};
  const Choice choice(near);
  EXPECT_EQ(dimension_order(near, choice.axes, Collective::alltoall), (Order{0, 1}));
  EXPECT_EQ(choice.order, (Order{1, 0}));
}

// A neighborhood of this size has more places than are counted.
TEST(DimensionOrder, IsThePapersWhereThereAreTooManyPlaces) {
  std::vector<Vec> offsets;
  for (int a = 1; a <= 400; ++a)
    for (int b = 1; b <= 400; ++b) offsets.push_back({a, b, 1 + a % 3, 1 + b % 2, 1});
  const Neighborhood near{test::torus({999, 999, 9, 9, 9}), offsets};
  EXPECT_EQ(Choice(near).order, (Order{4, 3, 2, 0, 1}));
}

TEST(DimensionOrder, IsThePapersInManyDimensions) {
  const Neighborhood near{test::torus({5, 5, 5, 5, 5, 5}),
                          {{1, 1, 1, 1, 1, 1}, {2, 1, 1, 1, 1, 1}}};
  EXPECT_EQ(Choice(near).order, (Order{1, 2, 3, 4, 5, 0}));
}

}  // namespace
}  // namespace tonari
