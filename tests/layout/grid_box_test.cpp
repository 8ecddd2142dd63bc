// SPDX-License-Identifier: BSD-3-Clause
// Boxes of own cells, ghosts and surface regions, cell by cell against what the signs of a
// direction mean.
#include "layout/grid_box.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "layout/random_bricks.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using test::contains, test::error_of, test::for_cells, test::whole;

// own >= lower + upper where `apart`, else only as check() wants it.
GridBox random_box(int dims, bool apart, std::mt19937& random) {
  const auto below = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  GridBox box{dims, {}, {}, {}};
  for (std::size_t j = 0; j < static_cast<std::size_t>(dims); ++j) {
    box.lower[j] = below(3);
    box.upper[j] = below(3);
    const std::int64_t least =
        apart ? box.lower[j] + box.upper[j] : std::max(box.lower[j], box.upper[j]);
    box.own[j] = std::max<std::int64_t>(least + below(3), 1);
  }
  return box;
}

char side_of(const GridBox& box, std::size_t j, std::int64_t x) {
  return x < 0 ? '-' : x < box.own[j] ? '0' : '+';
}

std::string sides_of(const GridBox& box, const Cells& x) {
  std::string text;
  for (std::size_t j = 0; j < static_cast<std::size_t>(box.dims); ++j)
    text += side_of(box, j, x[j]);
  return text;
}

template <class Test>
void for_random_boxes(bool apart, Test test) {
  std::mt19937 random(3);
  for (int dims = 1; dims <= most_surface_dims; ++dims)
    for (int repeat = 0; repeat < (dims < 4 ? 12 : dims < 5 ? 3 : 1); ++repeat)
      test(random_box(dims, apart, random));
}

TEST(Directions, AreSignsInText) {
  for (int d = 1; d <= most_surface_dims; ++d) {
    const std::vector<Region> all = directions(d);
    ASSERT_EQ(static_cast<int>(all.size()), neighbors(d));
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    for (Region v : all) {
      ASSERT_NE(v, center(d));
      std::string text = to_text(v, d), turned = text;
      for (int j = 0; j < d; ++j) {
        const char c = text[static_cast<std::size_t>(j)];
        EXPECT_EQ(sign(v, j, d), c == '-' ? -1 : c == '+' ? 1 : 0);
        turned[static_cast<std::size_t>(j)] = c == '-' ? '+' : c == '+' ? '-' : '0';
      }
      EXPECT_EQ(to_text(opposite(v, d), d), turned);
      EXPECT_EQ(is_face(v, d), std::count(text.begin(), text.end(), '0') == d - 1);
    }
    EXPECT_FALSE(is_face(center(d), d));
  }
}

TEST(Boxes, CountTheirCells) {
  EXPECT_EQ(count({{-1, 2}, {3, 5}}, 2), 12);
  EXPECT_EQ(count({{-1, 5}, {3, 5}}, 2), 0);
  EXPECT_EQ(count({{3, 6}, {-1, 5}}, 2), 0);
  EXPECT_TRUE(empty({{0, 1}, {1, 1}}, 2));
  EXPECT_FALSE(empty({{0, 1}, {1, 1}}, 1));
}

TEST(Boxes, OfGhostsHoldEachGhostOnce) {
  for_random_boxes(false, [](const GridBox& box) {
    std::int64_t ghosts = 0;
    for (Region v : directions(box.dims)) {
      ghosts += count(ghost_box(box, v), box.dims);
      for_cells(ghost_box(box, v), box.dims,
                [&](const Cells& x) { ASSERT_EQ(sides_of(box, x), to_text(v, box.dims)); });
    }
    std::int64_t own = 1;
    for (std::size_t j = 0; j < static_cast<std::size_t>(box.dims); ++j) own *= box.own[j];
    EXPECT_EQ(ghosts + own, count(whole(box), box.dims));
  });
}

// What is sent is where the neighbor's ghosts are, in cells counted by the neighbor: those of
// another size along v, too.
TEST(Boxes, SentAreTheNeighborsGhosts) {
  for_random_boxes(false, [](const GridBox& box) {
    for (Region v : directions(box.dims)) {
      GridBox there = box;
      CellBox sent = send_box(box, v);
      for (int j = 0; j < box.dims; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const int side = sign(v, j, box.dims);
        if (side != 0) there.own[at] += 2;
        const std::int64_t moved = side > 0 ? -box.own[at] : side < 0 ? there.own[at] : 0;
        sent.first[at] += moved;
        sent.end[at] += moved;
      }
      EXPECT_EQ(sent, ghost_box(there, opposite(v, box.dims))) << to_text(v, box.dims);
    }
  });
}

TEST(Boxes, OfRegionsHoldWhatTheirNeighborsNeed) {
  for_random_boxes(true, [](const GridBox& box) {
    std::int64_t cells = 0;
    for (Region r = 0; r <= neighbors(box.dims); ++r) {
      cells += count(region_box(box, r), box.dims);
      for_cells(region_box(box, r), box.dims, [&](const Cells& x) {
        ASSERT_TRUE(contains(send_box(box, center(box.dims)), x, box.dims));
        for (Region v : directions(box.dims))
          ASSERT_EQ(contains(send_box(box, v), x, box.dims), needs(v, r, box.dims));
      });
    }
    EXPECT_EQ(cells, count(send_box(box, center(box.dims)), box.dims));
  });
}

// After the step of dimension k all ghosts with signs in dimensions up to k are there.
TEST(Boxes, DimensionByDimensionHoldEachGhostOnce) {
  for_random_boxes(false, [](const GridBox& box) {
    std::int64_t ghosts = 0;
    for (int k = 0; k < box.dims; ++k)
      for (int side : {-1, 1}) {
        const CellBox got = shift_ghost_box(box, k, side), sent = shift_send_box(box, k, -side);
        ghosts += count(got, box.dims);
        for_cells(got, box.dims, [&](const Cells& x) {
          const std::string sides = sides_of(box, x);
          ASSERT_EQ(sides[static_cast<std::size_t>(k)], side < 0 ? '-' : '+');
          ASSERT_EQ(sides.find_first_not_of('0', static_cast<std::size_t>(k) + 1), sides.npos);
        });
        CellBox moved = got;  // towards the neighbor of the same size
        moved.first[static_cast<std::size_t>(k)] -= side * box.own[static_cast<std::size_t>(k)];
        moved.end[static_cast<std::size_t>(k)] -= side * box.own[static_cast<std::size_t>(k)];
        EXPECT_EQ(sent, moved);
      }
    EXPECT_EQ(ghosts,
              count(whole(box), box.dims) - count(send_box(box, center(box.dims)), box.dims));
  });
}

// With open sides the cells beyond them in earlier dimensions are left out at both ends.
TEST(Boxes, DimensionByDimensionLeaveOutOpenSides) {
  for_random_boxes(false, [](const GridBox& box) {
    for (unsigned bits = 0; bits < 1u << 2 * box.dims; bits += 5) {
      Sides open{};
      for (std::size_t j = 0; j < static_cast<std::size_t>(box.dims); ++j)
        open[j] = {(bits >> 2 * j & 1) != 0, (bits >> 2 * j & 2) != 0};
      for (int k = 0; k < box.dims; ++k)
        for (int side : {-1, 1})
          for (const auto& [all, left] :
               {std::pair(shift_send_box(box, k, side), shift_send_box(box, k, side, open)),
                std::pair(shift_ghost_box(box, k, side), shift_ghost_box(box, k, side, open))}) {
            std::int64_t cells = 0;
            for_cells(all, box.dims, [&](const Cells& x) {
              bool beyond = false;
              for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j)
                beyond |= (open[j][0] && x[j] < 0) || (open[j][1] && x[j] >= box.own[j]);
              cells += !beyond;
              ASSERT_EQ(contains(left, x, box.dims), !beyond);
            });
            EXPECT_EQ(count(left, box.dims), cells);
          }
    }
  });
}

TEST(Boxes, MustMakeSense) {
  const auto sentence = [](const GridBox& box) {
    const Error error = error_of([&] { check(box); });
    EXPECT_EQ(error.code(), Errc::argument);
    return std::string(error.what());
  };
  constexpr std::int64_t large = std::int64_t{1} << 31;
  EXPECT_EQ(sentence({6, {}, {}, {}}), "a grid has 1 to 5 dimensions, not 6");
  EXPECT_EQ(sentence({0, {}, {}, {}}), "a grid has 1 to 5 dimensions, not 0");
  EXPECT_EQ(sentence({2, {4, 0}, {}, {}}),
            "dimension 1 has 0 own cells: give every subdomain at least one");
  EXPECT_EQ(sentence({1, {4}, {1}, {-1}}),
            "dimension 0 has halo widths 1 and -1: they cannot be negative");
  EXPECT_EQ(sentence({1, {4}, {1}, {5}}),
            "dimension 0 has 4 own cells but a halo of 5: a neighbor would need cells that are not "
            "there; use fewer ranks along it or a narrower halo");
  EXPECT_EQ(sentence({3, {large, large, 2}, {}, {}}),
            "the subdomain has more than 2^62 cells with its ghosts: use more ranks");
  EXPECT_EQ(
      sentence({1, {std::int64_t{1} << 62}, {std::int64_t{1} << 62}, {std::int64_t{1} << 62}}),
      "the subdomain has more than 2^62 cells with its ghosts: use more ranks");
  check({2, {large, large}, {}, {}});
  check({5, {4, 4, 4, 4, 4}, {4, 0, 1, 2, 3}, {4, 4, 0, 1, 2}});
}

}  // namespace
}  // namespace tonari
