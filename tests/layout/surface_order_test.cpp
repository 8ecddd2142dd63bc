// SPDX-License-Identifier: BSD-3-Clause
// Surface regions: who needs what, and how many messages an order takes, against counting with sign
// vectors written out.
#include "layout/surface_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "support/errors.hpp"

namespace tonari {
namespace {

using test::error_of;
using Sent = std::vector<SurfaceRun>;

// the paper's Table 1
constexpr std::array<int, 5> bounds{2, 9, 42, 209, 1042}, basics{2, 16, 98, 544, 2882},
    counts{2, 8, 26, 80, 242};

// All sign vectors as text, without the zero vector.
std::vector<std::string> sign_vectors(int dims) {
  std::vector<std::string> all{""};
  for (int i = 0; i < dims; ++i) {
    std::vector<std::string> longer;
    for (const std::string& text : all)
      for (char sign : {'-', '0', '+'}) longer.push_back(text + sign);
    all = std::move(longer);
  }
  std::erase(all, std::string(static_cast<std::size_t>(dims), '0'));
  return all;
}

bool agree(const std::string& neighbor, const std::string& region) {
  return std::equal(neighbor.begin(), neighbor.end(), region.begin(),
                    [](char v, char r) { return v == '0' || v == r; });
}

// A message begins where a region is needed and the one before it is not.
int count_messages(const std::vector<std::string>& order, const std::string& neighbor) {
  std::string needed = ".";
  for (const std::string& region : order) needed += agree(neighbor, region) ? 'x' : '.';
  int count = 0;
  for (std::size_t at = needed.find(".x"); at != needed.npos; at = needed.find(".x", at + 1))
    ++count;
  return count;
}

SurfaceOrder order_of(const std::vector<std::string>& texts) {
  SurfaceOrder order{static_cast<int>(texts[0].size()), {}};
  for (const std::string& text : texts) order.regions.push_back(parse_region(text));
  return order;
}

std::vector<std::string> texts_of(const SurfaceOrder& order) {
  std::vector<std::string> texts;
  for (Region region : order.regions) texts.push_back(to_text(region, order.dims));
  return texts;
}

SurfaceOrder random_order(int dims, std::mt19937& random) {
  std::vector<std::string> texts = sign_vectors(dims);
  std::shuffle(texts.begin(), texts.end(), random);
  return order_of(texts);
}

TEST(Regions, AreNumberedInRowOrder) {
  for (int d = 1; d <= most_surface_dims; ++d) {
    Region number = 0;
    for (const std::string& text : sign_vectors(d)) {
      if (number == center(d)) ++number;
      EXPECT_EQ(parse_region(text), number);
      EXPECT_EQ(to_text(number, d), text);
      ++number;
    }
    EXPECT_EQ(to_text(center(d), d), std::string(static_cast<std::size_t>(d), '0'));
  }
}

TEST(Regions, AreNeededWhereSignsAgree) {
  for (int d = 1; d <= 4; ++d)
    for (const std::string& v : sign_vectors(d)) {
      int needed = 0;
      for (const std::string& r : sign_vectors(d)) {
        EXPECT_EQ(needs(parse_region(v), parse_region(r), d), agree(v, r)) << v << " " << r;
        needed += agree(v, r);
      }
      EXPECT_EQ(needed, std::pow(3, std::count(v.begin(), v.end(), '0'))) << v;
    }
}

TEST(Regions, OfTwoRegionsBothAreNeededByThoseWhoTakeSharedSigns) {
  for (int d = 1; d <= 3; ++d)
    for (const std::string& a : sign_vectors(d))
      for (const std::string& b : sign_vectors(d)) {
        int both = 0;
        for (const std::string& v : sign_vectors(d)) both += agree(v, a) && agree(v, b);
        EXPECT_EQ((1 << shared_signs(parse_region(a), parse_region(b), d)) - 1, both)
            << a << " " << b;
      }
}

TEST(Regions, MustBeWrittenInSigns) {
  for (const char* text : {"", "x", "+-1", "+0 ", "000", "0", "+-+-+-"}) {
    const Error error = error_of([&] { parse_region(text); });
    EXPECT_EQ(error.code(), Errc::argument) << text;
  }
  EXPECT_STREQ(error_of([] { parse_region("+x"); }).what(),
               "'+x' is no region: write a sign for each dimension, as in +0-");
  EXPECT_STREQ(error_of([] { parse_region("00"); }).what(),
               "'00' is no region: all its signs are 0");
}

TEST(SurfaceOrders, AreThePapersTable1) {
  for (int d = 1; d <= most_surface_dims; ++d) {
    EXPECT_EQ(neighbors(d), counts[d - 1]);
    EXPECT_EQ(basic_messages(d), basics[d - 1]);
    EXPECT_EQ(least_messages(d), bounds[d - 1]);
    EXPECT_EQ(messages(surface_order(d)), bounds[d - 1]);
  }
}

TEST(SurfaceOrders, HoldEveryRegionOnce) {
  for (int d = 1; d <= most_surface_dims; ++d) {
    const SurfaceOrder order = surface_order(d);
    EXPECT_EQ(order.dims, d);
    std::vector<std::string> texts = texts_of(order), all = sign_vectors(d);
    std::sort(texts.begin(), texts.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(texts, all);
  }
}

TEST(SurfaceOrders, AreOnlyThereForOneToFiveDimensions) {
  for (int d : {-1, 0, 6}) EXPECT_EQ(error_of([&] { surface_order(d); }).code(), Errc::argument);
  EXPECT_STREQ(error_of([] { surface_order(6); }).what(), "a grid has 1 to 5 dimensions, not 6");
}

// Section 3.2: numbered row by row as in Fig. 2 twelve messages, once round as in Fig. 3 nine.
TEST(SurfaceMessages, OfThePapersFigures) {
  const SurfaceOrder rows = order_of(sign_vectors(2)),
                     ring = order_of({"--", "0-", "+-", "+0", "++", "0+", "-+", "-0"});
  EXPECT_EQ(messages(rows), 12);
  EXPECT_EQ(messages(ring), 9);
  EXPECT_EQ(runs(rows, parse_region("0-")), (Sent{{0, 1}, {3, 1}, {5, 1}}));
  EXPECT_EQ(runs(rows, parse_region("-0")), (Sent{{0, 3}}));
  EXPECT_EQ(runs(ring, parse_region("-0")), (Sent{{0, 1}, {6, 2}}));
}

TEST(SurfaceMessages, AreCountedRightInRandomOrders) {
  std::mt19937 random(7);
  for (int d = 1; d <= 5; ++d)
    for (int repeat = 0; repeat < (d < 5 ? 20 : 2); ++repeat) {
      const SurfaceOrder order = random_order(d, random);
      const std::vector<std::string> texts = texts_of(order);
      int total = 0;
      for (const std::string& v : sign_vectors(d)) {
        const Sent sent = runs(order, parse_region(v));
        ASSERT_EQ(static_cast<int>(sent.size()), count_messages(texts, v)) << v;
        std::set<std::string> carried;
        for (const auto& run : sent)
          carried.insert(texts.begin() + run.first, texts.begin() + run.first + run.count);
        EXPECT_EQ(carried.size(), std::pow(3, std::count(v.begin(), v.end(), '0')));
        for (const std::string& region : carried) EXPECT_TRUE(agree(v, region));
        total += static_cast<int>(sent.size());
      }
      EXPECT_EQ(messages(order), total);
      EXPECT_GE(total, least_messages(d));
      EXPECT_LE(total, basic_messages(d));
    }
}

// Turning and mirroring the grid, and storing the regions backwards, changes nothing.
TEST(SurfaceMessages, AreThoseOfTheGridTurnedAndMirrored) {
  std::mt19937 random(8);
  for (int d = 1; d <= 5; ++d)
    for (const SurfaceOrder& order : {surface_order(d), random_order(d, random)}) {
      std::vector<std::size_t> axes(static_cast<std::size_t>(d));
      std::iota(axes.begin(), axes.end(), 0);
      std::shuffle(axes.begin(), axes.end(), random);
      const unsigned mirrored = random();
      std::vector<std::string> turned = texts_of(order);
      for (std::string& text : turned) {
        const std::string was = text;
        for (std::size_t i = 0; i < axes.size(); ++i)
          text[i] = mirrored >> i & 1 ? (was[axes[i]] == '+'   ? '-'
                                         : was[axes[i]] == '-' ? '+'
                                                               : '0')
                                      : was[axes[i]];
      }
      EXPECT_EQ(messages(order_of(turned)), messages(order));
      std::reverse(turned.begin(), turned.end());
      EXPECT_EQ(messages(order_of(turned)), messages(order));
    }
}

// What the proof of Eq. 1 stands on: shares y of the levels that are never less together than what
// two regions save, and whose sum, with one message that is always lost in even dimensions, is Eq.
// 1.
TEST(SurfaceMessages, AreNeverFewerThanEq1) {
  constexpr std::array<int, 6> y{0, 0, 1, 2, 5, 10};
  for (int d = 1; d <= most_surface_dims; ++d) {
    const auto level = [d](const std::string& text) {
      return static_cast<std::size_t>(d - std::count(text.begin(), text.end(), '0'));
    };
    int saved = 0;
    for (const std::string& a : sign_vectors(d)) {
      saved += 2 * y[level(a)];
      for (const std::string& b : sign_vectors(d)) {
        if (a == b) continue;
        const int slack = y[level(a)] + y[level(b)] -
                          ((1 << shared_signs(parse_region(a), parse_region(b), d)) - 1);
        ASSERT_GE(slack, 0) << a << " " << b;
        ASSERT_TRUE(slack > 0 || (level(a) + level(b)) % 2 == 1 || level(a) + level(b) == 2)
            << a << " " << b;
      }
    }
    EXPECT_EQ(least_messages(d), basic_messages(d) - saved + (d % 2 == 0)) << d;
  }
}

// The smallest case again without the proof: all orders of eight regions.
TEST(SurfaceMessages, OfAllOrdersInTwoDimensionsAreNineAtLeast) {
  SurfaceOrder order{2, {0, 1, 2, 3, 5, 6, 7, 8}};
  int least = basic_messages(2);
  do least = std::min(least, messages(order));
  while (std::next_permutation(order.regions.begin(), order.regions.end()));
  EXPECT_EQ(least, 9);
}

}  // namespace
}  // namespace tonari
