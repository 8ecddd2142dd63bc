// SPDX-License-Identifier: BSD-3-Clause
// Additive bases: every wanted number is a sum of distinct basis numbers, with as few of them as
// there can be.
#include "planners/offsets/basis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/patterns.hpp"
#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;
using Numbers = std::vector<std::int32_t>;

Coordinates range(int low, int high) {
  Coordinates wanted;
  for (int c = low; c <= high; ++c)
    if (c != 0) wanted[c] = 1;
  return wanted;
}

constexpr SumRule integers{}, mesh{0, true};
SumRule ring(int size) { return {size, false}; }

std::string show(const Coordinates& wanted) {
  std::string text;
  for (const auto& [c, blocks] : wanted) text += std::to_string(c) + ' ';
  return text;
}

std::int64_t total(const Axis& axis, const Numbers& indices) {
  std::int64_t sum = 0;
  for (std::int32_t index : indices) sum += axis.lengths[index];
  return sum;
}

// Every wanted number has a sum, of ascending (so distinct) indices, that obeys the rule.
void expect_sums(const Axis& axis, const Coordinates& wanted, SumRule rule) {
  ASSERT_EQ(axis.sums.size(), wanted.size());
  for (const auto& [c, blocks] : wanted) {
    const Numbers& indices = axis.sums.at(c);
    ASSERT_TRUE(std::is_sorted(indices.begin(), indices.end(), std::less_equal<>()));
    const std::int64_t difference = total(axis, indices) - c;
    EXPECT_EQ(rule.modulus ? difference % rule.modulus : difference, 0)
        << c << " of " << show(wanted);
    for (std::int32_t index : indices)
      EXPECT_TRUE(!rule.one_sign || (axis.lengths[index] > 0) == (c > 0))
          << c << " of " << show(wanted);
  }
}

void expect_front(const std::vector<Axis>& axes, const Coordinates& wanted, SumRule rule) {
  ASSERT_FALSE(axes.empty());
  for (const Axis& axis : axes) expect_sums(axis, wanted, rule);
  for (std::size_t k = 1; k < axes.size(); ++k) {
    EXPECT_GT(axes[k].lengths.size(), axes[k - 1].lengths.size());
    EXPECT_LT(axes[k].hops(wanted), axes[k - 1].hops(wanted));
  }
  std::size_t blocks = 0;
  for (const auto& [c, count] : wanted) blocks += count;
  EXPECT_EQ(axes.back().hops(wanted), blocks) << "the front does not end with one summand each";
}

TEST(Basis, SymmetricStencilOfRadiusThreeInThreeRounds) {
  const std::vector<Axis> axes = front(range(-3, 3), integers);
  expect_front(axes, range(-3, 3), integers);
  EXPECT_EQ(axes.front().lengths.size(), 3u);
  EXPECT_EQ(axes.back().lengths.size(), 6u);
}

TEST(Basis, OneToEightInFourRounds) {
  EXPECT_EQ(front(range(1, 8), integers).front().lengths.size(), 4u);
  EXPECT_EQ(front(range(1, 7), integers).front().lengths.size(), 3u);
}

// 2^k sums, one of them zero: k >= log2(2r + 1), which DESIGN's ceil(log2(2r+1)) reaches.
TEST(Basis, SymmetricStencilsNeedTheBinaryLogarithm) {
  for (int r = 1; r <= 40; ++r) {
    std::size_t fewest = 0;
    while ((1 << fewest) < 2 * r + 1) ++fewest;
    const std::vector<Axis> axes = front(range(-r, r), integers);
    expect_front(axes, range(-r, r), integers);
    EXPECT_EQ(axes.front().lengths.size(), std::min<std::size_t>(fewest, 2 * r)) << "radius " << r;
  }
}

TEST(Basis, MeshesNeedABasisForEachSide) {
  const std::vector<Axis> axes = front(range(-3, 3), mesh);
  expect_front(axes, range(-3, 3), mesh);
  EXPECT_EQ(axes.front().lengths.size(), 4u);  // 1, 2 and -1, -2
}

TEST(Basis, ANumberLargerThanAllWantedCanSaveARound) {
  const Coordinates wanted{{-4, 1}, {-2, 1}, {-1, 1}, {3, 1}, {4, 1}};
  EXPECT_EQ(front(wanted, integers).front().lengths.size(), 3u);
}

TEST(Basis, NothingWantedIsNothingDone) {
  const std::vector<Axis> axes = front({}, integers);
  ASSERT_EQ(axes.size(), 1u);
  EXPECT_TRUE(axes[0].lengths.empty());
}

TEST(Basis, SumsOverAGivenBasisAreTheShortest) {
  const Axis axis = sums_over({1, 2, 4, 3}, range(1, 7), integers);
  EXPECT_EQ(axis.sums.at(3), (Numbers{3}));
  EXPECT_EQ(axis.sums.at(7), (Numbers{2, 3}));
  EXPECT_TRUE(sums_over({2, 4}, range(1, 3), integers).sums.empty());       // 1 is out of reach
  EXPECT_EQ(sums_over({5}, {{-2, 1}}, ring(7)).sums.at(-2), (Numbers{0}));  // around the ring
  EXPECT_TRUE(sums_over({5}, {{-2, 1}}, integers).sums.empty());
  // 3 - 1 might leave the mesh
  EXPECT_TRUE(sums_over({3, -1}, {{2, 1}}, mesh).sums.empty());
}

// No number of a basis is idle: it would be a round without a message.
TEST(Basis, EveryNumberIsUsed) {
  Random random(33);
  for (int k = 0; k < 40; ++k) {
    Coordinates wanted;
    for (int n = random.between(1, 40); n > 0; --n) wanted[random.between(1, 40)] = 1;
    for (const Axis& axis : front(wanted, integers)) {
      std::vector<bool> used(axis.lengths.size(), false);
      for (const auto& [c, sum] : axis.sums)
        for (std::int32_t index : sum) used[index] = true;
      EXPECT_EQ(std::count(used.begin(), used.end(), false), 0) << show(wanted);
    }
  }
}

// All sets of `size` numbers from -most to most: does one of them add up to everything wanted? By
// sums of all subsets, nothing clever.
bool reaches(const Numbers& basis, const Coordinates& wanted, SumRule rule) {
  for (const auto& [c, blocks] : wanted) {
    bool found = false;
    for (std::uint32_t subset = 1; subset < 1u << basis.size() && !found; ++subset) {
      std::int64_t sum = 0;
      bool same_sign = true;
      for (std::size_t k = 0; k < basis.size(); ++k)
        if (subset >> k & 1) sum += basis[k], same_sign = same_sign && (basis[k] > 0) == (c > 0);
      found = (rule.modulus ? (sum - c) % rule.modulus == 0 : sum == c) &&
              (same_sign || !rule.one_sign);
    }
    if (!found) return false;
  }
  return true;
}

bool some_basis(std::size_t size, int most, const Coordinates& wanted, SumRule rule,
                Numbers& basis) {
  if (basis.size() == size) return reaches(basis, wanted, rule);
  for (int b = basis.empty() ? -most : basis.back() + 1; b <= most; ++b) {
    if (b == 0) continue;
    basis.push_back(b);
    const bool found = some_basis(size, most, wanted, rule, basis);
    basis.pop_back();
    if (found) return true;
  }
  return false;
}

// Looks also at numbers half as large again as the largest wanted one.
bool smaller_exists(std::size_t than, const Coordinates& wanted, SumRule rule) {
  Numbers basis;
  const int most = std::max(wanted.rbegin()->first, std::abs(wanted.begin()->first));
  return than > 1 && some_basis(than - 1, most + most / 2, wanted, rule, basis);
}

TEST(Basis, IsNoLargerThanTheSmallestByBruteForce) {
  Random random(31);
  for (int k = 0; k < 40; ++k) {
    Coordinates wanted;
    for (int n = random.between(1, 7); n > 0; --n)
      if (const int c = random.between(-4, 4); c != 0) wanted[c] = random.between(1, 3);
    if (wanted.empty()) continue;
    for (SumRule rule : {integers, mesh, ring(11), ring(13)}) {
      const std::vector<Axis> axes = front(wanted, rule);
      expect_front(axes, wanted, rule);
      EXPECT_FALSE(smaller_exists(axes.front().lengths.size(), wanted, rule))
          << axes.front().lengths.size() << " for " << show(wanted) << "modulus " << rule.modulus
          << " one sign " << rule.one_sign;
    }
  }
}

TEST(Basis, LargeSetsGetValidFrontsToo) {
  Random random(32);
  for (int k = 0; k < 10; ++k) {
    const int reach = random.between(7, 90), low = random.once_in(2) ? 1 : -reach;
    Coordinates wanted;
    for (int n = random.between(1, 60); n > 0; --n)
      if (const int c = random.between(low, reach); c != 0) wanted[c] = random.between(1, 9);
    for (SumRule rule : {integers, mesh, ring(2 * reach + 1), ring(2 * reach + 50)})
      expect_front(front(wanted, rule), wanted, rule);
  }
}

TEST(Basis, TheLargestCoordinatesDoNotOverflow) {
  const Coordinates wanted{{-2147483647, 1}, {2147483647, 1}, {1, 1}};
  expect_front(front(wanted, integers), wanted, integers);
  expect_front(front(wanted, mesh), wanted, mesh);
}

std::size_t rounds(const char* pattern, const Grid& grid) {
  return test::first_schedule("additive-basis", {grid, parse_pattern(pattern).offsets},
                              Collective::alltoall)
      .rounds();
}

TEST(AdditiveBasis, RadiusThreeInThreeDimensions) {
  EXPECT_EQ(rounds("moore:3:3", test::torus({8, 8, 8})), 9u);
  EXPECT_EQ(rounds("moore:3:3", test::torus({7, 9, 100})), 9u);
  EXPECT_EQ(rounds("moore:3:3", test::mesh({8, 8, 8})), 12u);
}

TEST(AdditiveBasis, VariantsTradeRoundsForVolume) {
  const auto near = std::make_shared<const Neighborhood>(
      Neighborhood{test::torus({8, 8, 8}), parse_pattern("moore:3:3").offsets});
  const std::vector<OffsetVariant> variants =
      offset_additive_basis.variants(near, Collective::alltoall);
  const OffsetVariant direct = test::first_schedule("torus-direct", *near, Collective::alltoall);
  ASSERT_GT(variants.size(), 2u);
  for (std::size_t k = 1; k < variants.size(); ++k) {
    EXPECT_GT(variants[k].rounds(), variants[k - 1].rounds());
    EXPECT_LT(variants[k].hops(), variants[k - 1].hops());
  }
  EXPECT_LT(variants.back().rounds(), direct.rounds());  // that one is torus-direct itself
  EXPECT_GT(variants.back().hops(), direct.hops());
  EXPECT_EQ(variants.front().variant(), "9 rounds");
}

TEST(AdditiveBasis, SaysWhenItSavesNothing) {
  const Neighborhood near{test::torus({5, 5}), parse_pattern("moore:2:1").offsets};
  EXPECT_EQ(
      offset_additive_basis.pays(near, Collective::alltoall),
      "no dimension has more than two distinct coordinates, so nothing is saved over torus-direct");
}

}  // namespace
}  // namespace tonari
