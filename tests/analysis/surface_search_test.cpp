// SPDX-License-Identifier: BSD-3-Clause
// The search for orders with few messages: what it reaches, and that it is the one the table comes
// from.
#include "analysis/surface_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.hpp"

namespace tonari {
namespace {

using std::chrono::duration;

bool has_every_region_once(SurfaceOrder order) {
  std::sort(order.regions.begin(), order.regions.end());
  std::vector<Region> all;
  for (Region region = 0; region <= neighbors(order.dims); ++region)
    if (region != center(order.dims)) all.push_back(region);
  return order.regions == all;
}

TEST(SurfaceSearch, ReachesTheBoundFromAnyStart) {
  for (int d = 1; d <= most_surface_dims; ++d)
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const SurfaceOrder order = search_surface_order(d, seed, 100'000);
      EXPECT_TRUE(has_every_region_once(order));
      EXPECT_EQ(messages(order), least_messages(d)) << d << "-d, seed " << seed;
    }
}

TEST(SurfaceSearch, IsWhereTheTableComesFrom) {
  for (int d = 1; d <= most_surface_dims; ++d)
    EXPECT_EQ(search_surface_order(d, duration<double>(60)).regions, surface_order(d).regions)
        << d << "-d: run tools/surface_orders.py";
}

TEST(SurfaceSearch, IsTheSameForTheSameSeedAndOtherwiseNot) {
  EXPECT_EQ(search_surface_order(4, 3, 100'000).regions,
            search_surface_order(4, 3, 100'000).regions);
  EXPECT_NE(search_surface_order(4, 3, 100'000).regions,
            search_surface_order(4, 4, 100'000).regions);
}

// Stopped anywhere, an order is complete, and the longer the walk was, the better it may be.
TEST(SurfaceSearch, GivesAnOrderAfterAnyNumberOfSteps) {
  for (int d = 1; d <= most_surface_dims; ++d)
    for (std::uint64_t steps : {0, 1, 7, 50, 200, 250}) {
      const SurfaceOrder order = search_surface_order(d, 1, steps);
      EXPECT_TRUE(has_every_region_once(order)) << d << "-d, " << steps << " steps";
      EXPECT_GE(messages(order), least_messages(d));
    }
  EXPECT_GT(messages(search_surface_order(5, 1, 50)), least_messages(5));
}

TEST(SurfaceSearch, GivesAnOrderInNoTime) {
  const SurfaceOrder order = search_surface_order(3, duration<double>(0));
  EXPECT_TRUE(has_every_region_once(order));
}

TEST(SurfaceSearch, RefusesOtherDimensions) {
  for (int d : {0, 6})
    EXPECT_EQ(test::error_of([&] { search_surface_order(d, 1, 10); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { search_surface_order(6, duration<double>(1)); }).code(),
            Errc::argument);
}

}  // namespace
}  // namespace tonari
