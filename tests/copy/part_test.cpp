// SPDX-License-Identifier: BSD-3-Clause
// Cutting bytes out of a layout: what a part of a message that travels in several moves from or to
// a block.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "copy/moves.hpp"

namespace tonari {
namespace {

using Offsets = std::vector<std::ptrdiff_t>;

// The oracle: every byte by itself, in traveling order.
Offsets all_bytes_of(const Layout& layout) {
  Offsets offsets;
  for (const Run& run : layout.runs())
    for (std::size_t i = 0; i < run.count; ++i)
      for (std::size_t b = 0; b < run.length; ++b)
        offsets.push_back(run.offset + static_cast<std::ptrdiff_t>(i) * run.stride +
                          static_cast<std::ptrdiff_t>(b));
  return offsets;
}

Layout random_layout(std::mt19937& random) {
  const auto from = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Layout layout;
  for (int n = from(0, 8), at = 0; n > 0; --n) {
    const int length = from(1, from(0, 2) ? 9 : 70), stride = from(-90, 90),
              count = from(1, from(0, 1) ? 1 : 12);
    layout.add(
        tonari::Run{at, static_cast<std::size_t>(length), stride, static_cast<std::size_t>(count)});
    at += from(-60, 900);
  }
  return layout;
}

Offsets slice(const Offsets& all, std::size_t first, std::size_t bytes) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

void expect_part(const Layout& layout, const Offsets& all, std::size_t first, std::size_t bytes) {
  const Layout part = layout.part(first, bytes);
  ASSERT_EQ(all_bytes_of(part), slice(all, first, bytes))
      << bytes << " from " << first << " of " << all.size();
  EXPECT_EQ(part.bytes(), bytes);
}

TEST(LayoutPart, IsTheSameBytesAsCuttingTheList) {
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(round);
    const Layout layout = random_layout(random);
    const Offsets all = all_bytes_of(layout);
    for (int cut = 0; cut < 5; ++cut) {
      const std::size_t first = random() % (all.size() + 1),
                        bytes = random() % (all.size() - first + 1);
      expect_part(layout, all, first, bytes);
    }
    expect_part(layout, all, 0, all.size());
    expect_part(layout, all, all.size(), 0);
  }
}

// As a message travels: the parts one after the other are the whole.
TEST(LayoutPart, PartsMakeTheWhole) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const Layout layout = random_layout(random);
    const Offsets all = all_bytes_of(layout);
    Layout joined;
    for (std::size_t at = 0, chunk = 1 + random() % 100; at < all.size(); at += chunk)
      joined.add(layout.part(at, std::min(chunk, all.size() - at)), 0);
    ASSERT_EQ(all_bytes_of(joined), all);
    EXPECT_EQ(joined.bytes(), all.size());
  }
}

TEST(LayoutPart, OfAColumnStaysAColumn) {
  Layout column;
  column.add(tonari::Run{16, 8, 80, 1000});
  const Layout whole = column.part(80, 800), cut = column.part(83, 800);
  ASSERT_EQ(whole.runs().size(), 1u);
  EXPECT_EQ(whole.runs()[0], (tonari::Run{816, 8, 80, 100}));
  ASSERT_EQ(cut.runs().size(), 3u);
  EXPECT_EQ(cut.runs()[0], (tonari::Run{819, 5, 0, 1}));
  EXPECT_EQ(cut.runs()[1], (tonari::Run{896, 8, 80, 99}));
  EXPECT_EQ(cut.runs()[2], (tonari::Run{896 + 99 * 80, 3, 0, 1}));
}

}  // namespace
}  // namespace tonari
