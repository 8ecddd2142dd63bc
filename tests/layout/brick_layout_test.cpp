// SPDX-License-Identifier: BSD-3-Clause
// Where bricks lie, what they are called and who is beside them.
#include "layout/brick_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "layout/random_bricks.hpp"
#include "support/errors.hpp"
#include "support/zu.hpp"

namespace tonari {
namespace {

using test::error_of, test::RandomBricks;

template <class Test>
void for_random_layouts(Test test) {
  RandomBricks random(5);
  for (int dims = 1; dims <= most_surface_dims; ++dims)
    for (int repeat = 0; repeat < (dims < 4 ? 30 : dims < 5 ? 6 : 2); ++repeat) {
      random.draw(dims);
      test(random.layout());
    }
}

Cells position_of(const BrickLayout& layout, std::int32_t brick) {
  Cells x{};
  for (int j = 0; j < layout.box().dims; ++j)
    x[zu(j)] = layout.position()[zu(brick) * zu(layout.box().dims) + zu(j)];
  return x;
}

GridBox bricks_of(const BrickLayout& layout) {
  return {layout.box().dims, layout.own(), layout.lower(), layout.upper()};
}

// Number `count` beyond the ghosts.
std::int32_t brick_at(const BrickLayout& layout, const Cells& x) {
  std::int64_t at = 0;
  for (std::size_t j = 0; j < zu(layout.box().dims); ++j) {
    if (x[j] < -layout.lower()[j] || x[j] >= layout.own()[j] + layout.upper()[j])
      return layout.count();
    at = at * (layout.lower()[j] + layout.own()[j] + layout.upper()[j]) + x[j] + layout.lower()[j];
  }
  return layout.number()[zu(at)];
}

// The region of an own brick, or the direction of the ghosts that a brick is among, from its
// position.
Region region_of(const BrickLayout& layout, const Cells& x) {
  Region region = 0;
  for (std::size_t j = 0; j < zu(layout.box().dims); ++j)
    region = 3 * region + (x[j] < layout.upper()[j]                     ? 0
                           : x[j] < layout.own()[j] - layout.lower()[j] ? 1
                                                                        : 2);
  return region;
}
Region ghosts_of(const BrickLayout& layout, const Cells& x) {
  Region direction = 0;
  for (std::size_t j = 0; j < zu(layout.box().dims); ++j)
    direction = 3 * direction + (x[j] < 0 ? 0 : x[j] < layout.own()[j] ? 1 : 2);
  return direction;
}

TEST(Bricks, AreAllThere) {
  for_random_layouts([](const BrickLayout& layout) {
    const GridBox bricks = bricks_of(layout);
    const std::int64_t all = count(test::whole(bricks), bricks.dims),
                       own =
                           count(region_box({bricks.dims, bricks.own, {}, {}}, center(bricks.dims)),
                                 bricks.dims);
    ASSERT_EQ(layout.count(), all);
    EXPECT_EQ(layout.own_count(), own);
    EXPECT_EQ(layout.interior_count(), count(region_box(bricks, center(bricks.dims)), bricks.dims));
    ASSERT_EQ(layout.position().size(), zu(all * bricks.dims));
    ASSERT_EQ(layout.place().size(), zu(all + 1));
    for (std::size_t j = 0; j < zu(bricks.dims); ++j) {
      EXPECT_EQ(layout.own()[j] * layout.shape().brick[j], layout.box().own[j]);
      EXPECT_EQ(layout.lower()[j] * layout.shape().brick[j], layout.box().lower[j]);
      EXPECT_EQ(layout.upper()[j] * layout.shape().brick[j], layout.box().upper[j]);
    }
    // so every number is there once
    for (std::int32_t b = 0; b < layout.count(); ++b)
      ASSERT_EQ(brick_at(layout, position_of(layout, b)), b);
  });
}

// Interior, surface in the order of regions, ghosts direction after direction in the order of the
// regions where they come from, and lexicographic within.
TEST(Bricks, AreNumberedRegionByRegion) {
  for_random_layouts([](const BrickLayout& layout) {
    const int dims = layout.box().dims;
    const std::vector<Region>& order = layout.order().regions;
    const auto rank = [&](Region r) {
      return std::find(order.begin(), order.end(), r) - order.begin();
    };
    using Key = std::tuple<int, Region, std::ptrdiff_t, Cells>;
    const auto key = [&](std::int32_t b) -> Key {
      const Cells x = position_of(layout, b);
      if (const Region v = ghosts_of(layout, x); v != center(dims)) {
        // where it comes from: near the border that we share, and as here in the dimensions that we
        // share
        Region r = 0;
        for (int j = 0; j < dims; ++j)
          r = 3 * r + 1 +
              (sign(v, j, dims) != 0 ? -sign(v, j, dims) : sign(region_of(layout, x), j, dims));
        return {2, v, rank(r), x};
      }
      const Region r = region_of(layout, x);
      return r == center(dims) ? Key{0, 0, 0, x} : Key{1, 0, rank(r), x};
    };
    for (std::int32_t b = 1; b < layout.count(); ++b) ASSERT_LT(key(b - 1), key(b)) << b;
    for (std::int32_t b = 0; b < layout.count(); ++b) {
      const int kind = std::get<0>(key(b));
      ASSERT_EQ(kind, b < layout.interior_count() ? 0 : b < layout.own_count() ? 1 : 2);
    }
  });
}

TEST(Bricks, KnowTheirNeighbors) {
  for_random_layouts([](const BrickLayout& layout) {
    const int dims = layout.box().dims;
    const std::size_t all = zu(neighbors(dims)) + 1;
    ASSERT_EQ(layout.neighbors().size(), zu(layout.count() + 1) * all);
    for (std::int32_t b = 0; b < layout.count(); ++b)
      for (std::size_t v = 0; v < all; ++v) {
        Cells x = position_of(layout, b);
        for (int j = 0; j < dims; ++j) x[zu(j)] += sign(static_cast<Region>(v), j, dims);
        ASSERT_EQ(layout.neighbors()[zu(b) * all + v], brick_at(layout, x));
      }
    for (std::size_t v = 0; v < all; ++v)
      ASSERT_EQ(layout.neighbors()[zu(layout.count()) * all + v], layout.count());
  });
}

// All fields of all bricks, and nowhere, lie for themselves within the storage.
TEST(Bricks, DoNotOverlap) {
  for_random_layouts([](const BrickLayout& layout) {
    const BrickShape& shape = layout.shape();
    std::int64_t cells = 1;
    for (int j = 0; j < layout.box().dims; ++j) cells *= shape.brick[zu(j)];
    std::vector<std::int64_t> begins;
    for (std::int64_t place : layout.place())
      for (int f = 0; f < shape.fields; ++f) begins.push_back(place + f * layout.field_stride());
    std::sort(begins.begin(), begins.end());
    EXPECT_GE(begins.front(), 0);
    for (std::size_t i = 1; i < begins.size(); ++i) ASSERT_GE(begins[i] - begins[i - 1], cells);
    EXPECT_LE((begins.back() + cells) * shape.element_bytes,
              static_cast<std::int64_t>(layout.bytes()));
    EXPECT_EQ(layout.bytes() % static_cast<Bytes>(shape.unit), 0);
    if (shape.unit == 1) {
      EXPECT_EQ(layout.bytes(), begins.size() * zu(cells * shape.element_bytes));
    }
    if (shape.interleaved) {
      EXPECT_EQ(layout.field_stride(), cells);
    }
  });
}

// No unit has bricks of two regions, and a region's bricks are without gaps at the first or the
// last byte of their units.
TEST(Bricks, OfARegionHaveUnitsForThemselves) {
  for_random_layouts([](const BrickLayout& layout) {
    const BrickShape& shape = layout.shape();
    const int dims = layout.box().dims;
    std::int64_t brick_bytes = shape.element_bytes * (shape.interleaved ? shape.fields : 1);
    for (int j = 0; j < dims; ++j) brick_bytes *= shape.brick[zu(j)];
    const auto group = [&](std::int32_t b) -> std::pair<Region, Region> {
      const Cells x = position_of(layout, b);
      Cells r = x;
      const Region v = ghosts_of(layout, x);
      for (int j = 0; j < dims; ++j)
        if (sign(v, j, dims) != 0) r[zu(j)] = 0;  // all that is there is of one side
      return {v, region_of(layout, r)};
    };
    for (std::int32_t b = 0; b < layout.count();) {
      std::int32_t e = b + 1;
      while (e < layout.count() && group(e) == group(b)) ++e;
      const std::int64_t first = layout.place()[zu(b)] * shape.element_bytes,
                         end = first + (e - b) * brick_bytes;
      EXPECT_TRUE(first % shape.unit == 0 || end % shape.unit == 0) << b;
      for (std::int32_t i = b; i < e; ++i)
        ASSERT_EQ(layout.place()[zu(i)] * shape.element_bytes, first + (i - b) * brick_bytes);
      const std::int64_t next = layout.place()[zu(e)] * shape.element_bytes;
      EXPECT_GE(next / shape.unit, (end + shape.unit - 1) / shape.unit)
          << "unit shared by bricks " << e - 1 << " and " << e;
      b = e;
    }
  });
}

TEST(Bricks, MustFitTheGrid) {
  const GridBox box{2, {16, 16}, {4, 8}, {8, 4}};
  BrickShape good;
  good.brick = {4, 4};
  const auto error_with = [](const GridBox& grid, const BrickShape& shape,
                             const SurfaceOrder& order) {
    return error_of([&] { BrickLayout(grid, shape, order); });
  };
  const auto sentence = [&](auto change) {
    GridBox grid = box;
    BrickShape shape = good;
    change(grid, shape);
    const Error error = error_with(grid, shape, surface_order(2));
    EXPECT_EQ(error.code(), Errc::argument);
    return std::string(error.what());
  };
  EXPECT_EQ(error_with(box, good, surface_order(2)).code(), Errc::success);
  EXPECT_EQ(sentence([](GridBox& grid, BrickShape&) { grid.own[0] = 4; }),
            "dimension 0 has 4 own cells but a halo of 8: a neighbor would need cells that are not "
            "there; use fewer ranks along it or a narrower halo");
  EXPECT_EQ(
      sentence([](GridBox& grid, BrickShape&) { grid.own[1] = 18; }),
      "the 18 own cells along dimension 1 are no multiple of the brick (4): change one of them");
  EXPECT_EQ(sentence([](GridBox& grid, BrickShape&) { grid.lower[1] = 2; }),
            "the halo widths 2 and 4 along dimension 1 are no multiples of the brick (4): widen "
            "the halo or take smaller bricks");
  EXPECT_EQ(sentence([](GridBox& grid, BrickShape&) { grid.own[0] = 8; }),
            "dimension 0 has 8 own cells, less than its halo widths 4 and 8 together, so that "
            "bricks would belong to both surfaces: use fewer ranks along it, "
            "a narrower halo, or an array");
  EXPECT_EQ(sentence([](GridBox&, BrickShape& shape) { shape.brick[1] = 0; }),
            "bricks have 0 cells along dimension 1: they need at least one");
  EXPECT_EQ(sentence([](GridBox&, BrickShape& shape) { shape.element_bytes = 0; }),
            "elements of 0 bytes: they need at least one");
  EXPECT_EQ(sentence([](GridBox&, BrickShape& shape) { shape.fields = 0; }),
            "a grid of 0 fields: it needs at least one");
  EXPECT_EQ(sentence([](GridBox&, BrickShape& shape) { shape.unit = 0; }),
            "a unit of 0 bytes: it is the page size, or 1 for storage that is not mapped");
  EXPECT_EQ(
      sentence([](GridBox&, BrickShape& shape) { shape.unit = 4096, shape.element_bytes = 12; }),
      "the unit of 4096 bytes is no multiple of the element's 12: choose another element size for "
      "grids that are mapped, or do not map this one");
  SurfaceOrder twice = surface_order(2);
  twice.regions[0] = twice.regions[1];
  for (const SurfaceOrder& order : {surface_order(3), twice, SurfaceOrder{2, {}}})
    EXPECT_STREQ(
        error_with(box, good, order).what(),
        "a grid of 2 dimensions needs an order in which each of its 8 surface regions is once");
}

TEST(Bricks, MustBeCountable) {
  BrickShape shape;
  shape.brick = {1, 1};
  const Error many =
      error_of([&] { BrickLayout({2, {1 << 16, 1 << 16}, {}, {}}, shape, surface_order(2)); });
  EXPECT_EQ(many.code(), Errc::overflow);
  EXPECT_STREQ(many.what(),
               "the subdomain has 4294967296 bricks with its ghosts, but their numbers have 31 "
               "bits: use larger bricks or more ranks");
  shape.brick = {1 << 30, 1 << 30};
  shape.fields = 8;
  for (bool interleaved : {false, true}) {
    shape.interleaved = interleaved;
    EXPECT_EQ(error_of([&] {
                BrickLayout({2, {1 << 30, 1 << 30}, {}, {}}, shape, surface_order(2));
              }).code(),
              Errc::overflow);
  }
}

}  // namespace
}  // namespace tonari
