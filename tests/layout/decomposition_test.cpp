// SPDX-License-Identifier: BSD-3-Clause
// Grids cut into subdomains: every cell in exactly one of them, neighbors beside each other.
#include "layout/decomposition.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "layout/random_parts.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using test::error_of, test::for_random_parts;

TEST(Cuts, DifferByOneUnitAndTheLargerComeFirst) {
  EXPECT_EQ(cut_evenly(10, 1, 3, 0), (Cuts{4, 3, 3}));
  EXPECT_EQ(cut_evenly(40, 8, 3, 0), (Cuts{16, 16, 8}));
  EXPECT_EQ(cut_evenly(7, 7, 1, 0), (Cuts{7}));
  for (int parts = 1; parts < 9; ++parts)
    for (std::int64_t unit = 1; unit < 4; ++unit)
      for (std::int64_t units = parts; units < 30; ++units) {
        const Cuts cuts = cut_evenly(units * unit, unit, parts, 0);
        ASSERT_EQ(static_cast<int>(cuts.size()), parts);
        EXPECT_EQ(std::accumulate(cuts.begin(), cuts.end(), std::int64_t{0}), units * unit);
        EXPECT_TRUE(std::is_sorted(cuts.rbegin(), cuts.rend()));
        EXPECT_LE(cuts.front() - cuts.back(), unit);
        for (const std::int64_t cells : cuts) EXPECT_EQ(cells % unit, 0);
      }
}

TEST(Cuts, ThatCannotBeAreRefused) {
  const auto sentence = [](std::int64_t cells, std::int64_t unit, int parts) {
    const Error error = error_of([&] { cut_evenly(cells, unit, parts, 2); });
    EXPECT_EQ(error.code(), Errc::argument);
    return std::string(error.what());
  };
  EXPECT_EQ(sentence(30, 8, 2),
            "the grid has 30 cells in dimension 2, which is no multiple of the brick's 8; choose a "
            "multiple, or a brick that divides it");
  EXPECT_EQ(sentence(16, 8, 3),
            "the grid has 16 cells in dimension 2, too few for 3 subdomains of at least 8; use "
            "fewer ranks or subdomains there");
}

TEST(Decompositions, HoldEachSubdomainOnceInTheOrderOfTheGrid) {
  for_random_parts(41, 10, [](const Decomposition& parts) {
    std::vector<int> seen(static_cast<std::size_t>(test::all_subdomains(parts)), 0);
    for (int rank = 0; rank < parts.ranks.ranks(); ++rank)
      for (int s = 0; s < parts.subdomains(); ++s) {
        const Decomposition::Where where = parts.where(rank, s);
        EXPECT_EQ(where.rank, rank);
        EXPECT_EQ(where.subdomain, s);
        ASSERT_TRUE(where.number >= 0 && where.number < test::all_subdomains(parts));
        ++seen[static_cast<std::size_t>(where.number)];
      }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  });
}

// The boxes fill the grid: where one ends its neighbor begins, or the grid does.
TEST(Decompositions, NeighborsBeginWhereBoxesEnd) {
  for_random_parts(41, 10, [](const Decomposition& parts) {
    const int dims = parts.dims();
    const Cells whole = parts.global();
    std::int64_t cells = 0;
    for (int rank = 0; rank < parts.ranks.ranks(); ++rank)
      for (int s = 0; s < parts.subdomains(); ++s) {
        const GridBox box = parts.box(rank, s);
        const Cells first = parts.first(rank, s);
        cells += count({{}, box.own}, dims);
        for (const Region v : directions(dims)) {
          bool outside = false;
          Cells begin = first;  // of the neighbor
          for (int k = 0; k < dims; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const bool beyond = sign(v, k, dims) < 0
                                    ? first[at] == 0
                                    : sign(v, k, dims) > 0 && first[at] + box.own[at] == whole[at];
            outside |= beyond && !parts.ranks.periodic(k);
            if (sign(v, k, dims) > 0) begin[at] = (first[at] + box.own[at]) % whole[at];
          }
          const auto other = parts.neighbor(rank, s, v);
          ASSERT_EQ(other.has_value(), !outside) << to_text(v, dims);
          if (!other) continue;
          EXPECT_EQ(*other, parts.where(other->rank, other->subdomain));
          const Cells there = parts.first(other->rank, other->subdomain);
          const GridBox its = parts.box(other->rank, other->subdomain);
          for (int k = 0; k < dims; ++k) {
            const auto at = static_cast<std::size_t>(k);
            if (sign(v, k, dims) < 0)
              EXPECT_EQ((there[at] + its.own[at]) % whole[at], first[at] % whole[at]);
            else
              EXPECT_EQ(there[at], begin[at]);
            if (sign(v, k, dims) == 0) {
              EXPECT_EQ(its.own[at], box.own[at]);
            }
          }
          EXPECT_EQ(parts.neighbor(other->rank, other->subdomain, opposite(v, dims)),
                    parts.where(rank, s))
              << "the way back";
        }
      }
    EXPECT_EQ(cells, count({{}, whole}, dims));
  });
}

}  // namespace
}  // namespace tonari
