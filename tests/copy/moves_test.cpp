// SPDX-License-Identifier: BSD-3-Clause
#include "copy/moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "support/errors.hpp"

namespace tonari {
namespace {

using Offsets = std::vector<std::ptrdiff_t>;

// The oracle: every byte by itself.
Offsets bytes_of(const Run& run) {
  Offsets offsets;
  for (std::size_t i = 0; i < run.count; ++i)
    for (std::size_t b = 0; b < run.length; ++b)
      offsets.push_back(run.offset + static_cast<std::ptrdiff_t>(i) * run.stride +
                        static_cast<std::ptrdiff_t>(b));
  return offsets;
}

Offsets bytes_of(const Layout& layout) {
  Offsets offsets;
  for (const Run& run : layout.runs()) {
    const Offsets more = bytes_of(run);
    offsets.insert(offsets.end(), more.begin(), more.end());
  }
  return offsets;
}

Layout layout_of(std::initializer_list<Run> runs) {
  Layout layout;
  for (const Run& run : runs) layout.add(run);
  return layout;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::ptrdiff_t from(std::ptrdiff_t low, std::ptrdiff_t high) {
    return std::uniform_int_distribution<std::ptrdiff_t>(low, high)(engine_);
  }
  template <class T>
  void shuffle(std::vector<T>& v) {
    std::shuffle(v.begin(), v.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

// Runs that often continue each other, so that the joins are met; some are empty, some go
// backwards.
std::vector<Run> random_runs(Random& random) {
  std::vector<Run> runs;
  std::ptrdiff_t end = 0;
  const std::ptrdiff_t usual = random.from(1, 16);
  for (std::ptrdiff_t n = random.from(0, 12); n > 0; --n) {
    const std::ptrdiff_t length = random.from(0, 3) ? usual : random.from(0, 65);
    const std::ptrdiff_t offset = end + (random.from(0, 2)   ? 0
                                         : random.from(0, 2) ? usual
                                                             : random.from(-40, 40));
    const std::ptrdiff_t stride = random.from(0, 2) ? 2 * usual : random.from(-70, 70);
    const std::ptrdiff_t count = random.from(0, 2) ? 1 : random.from(0, 5);
    runs.push_back(
        {offset, static_cast<std::size_t>(length), stride, static_cast<std::size_t>(count)});
    end = offset + stride * std::max<std::ptrdiff_t>(count - 1, 0) + length;
  }
  return runs;
}

void expect_normal(const Layout& layout) {
  for (const Run& run : layout.runs()) {
    EXPECT_GT(run.length, 0u);
    EXPECT_GT(run.count, 0u);
    if (run.count == 1)
      EXPECT_EQ(run.stride, 0);
    else
      EXPECT_NE(run.stride, static_cast<std::ptrdiff_t>(run.length));
  }
}

TEST(Layout, KeepsEveryByteInOrder) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Layout layout;
    Offsets expected;
    for (const tonari::Run& run : random_runs(random)) {  // testing::Test has a Run of its own
      layout.add(run);
      const Offsets more = bytes_of(run);
      expected.insert(expected.end(), more.begin(), more.end());
    }
    ASSERT_EQ(bytes_of(layout), expected);
    EXPECT_EQ(layout.bytes(), expected.size());
    expect_normal(layout);
    const auto [low, high] = layout.span();
    EXPECT_EQ(low, expected.empty() ? 0 : *std::min_element(expected.begin(), expected.end()));
    EXPECT_EQ(high, expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end()) + 1);
  }
}

TEST(Layout, AddsAnotherLayoutDisplacedAlsoItself) {
  const Layout one = layout_of({{0, 4, 8, 3}, {100, 7, 0, 1}});
  Layout two = one;
  two.add(two, 1000);
  Offsets expected = bytes_of(one);
  for (std::ptrdiff_t o : bytes_of(one)) expected.push_back(o + 1000);
  EXPECT_EQ(bytes_of(two), expected);
}

TEST(Layout, JoinsWhatContinues) {
  Layout bytewise;
  for (int i = 0; i < 100; ++i) bytewise.add(i, 1);
  EXPECT_TRUE(bytewise.contiguous());
  EXPECT_EQ(bytewise.runs()[0], (tonari::Run{0, 100, 0, 1}));

  Layout column;
  for (int i = 0; i < 50; ++i) column.add(i * 80, 8);
  ASSERT_EQ(column.runs().size(), 1u);
  EXPECT_EQ(column.runs()[0], (tonari::Run{0, 8, 80, 50}));

  // Rows of three numbers, number by number: each row passes through shorter lengths before it
  // equals the ones above.
  Layout rows;
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 3; ++j) rows.add(i * 80 + j * 8, 8);
  ASSERT_EQ(rows.runs().size(), 1u);
  EXPECT_EQ(rows.runs()[0], (tonari::Run{0, 24, 80, 50}));

  Layout backwards;
  for (int i = 0; i < 50; ++i) backwards.add(-8 * i, 8);
  ASSERT_EQ(backwards.runs().size(), 1u);
  EXPECT_EQ(backwards.runs()[0], (tonari::Run{0, 8, -8, 50}));

  EXPECT_EQ(layout_of({{0, 8, 80, 10}, {800, 8, 80, 10}}).runs().size(), 1u);
  EXPECT_EQ(layout_of({{0, 8, 80, 10}, {808, 8, 80, 10}}).runs().size(), 2u);
  EXPECT_TRUE(layout_of({{5, 8, 8, 10}}).contiguous());
  EXPECT_FALSE(layout_of({{5, 8, 0, 2}}).contiguous())
      << "the same piece twice is sixteen bytes of traveling data";
}

// Copies through moves, byte by byte and by run_moves, and compares both with the zipped offsets.
void expect_copies(const Layout& to, const Layout& from, const std::vector<Move>& moves,
                   const std::vector<std::byte>& source, std::vector<std::byte>& target,
                   std::ptrdiff_t base) {
  std::vector<std::byte> expected = target;
  const Offsets t = bytes_of(to), f = bytes_of(from);
  for (std::size_t k = 0; k < t.size(); ++k) expected[t[k] + base] = source[f[k] + base];
  run_moves(moves);
  ASSERT_EQ(target, expected);
}

// A layout without overlaps, to be written to.
Layout random_target(Random& random, std::size_t bytes) {
  std::vector<Run> runs;
  std::ptrdiff_t at = 0;
  const std::size_t usual = random.from(1, 65);
  while (bytes > 0) {
    const std::size_t length =
        std::min<std::size_t>(bytes, random.from(0, 4) ? usual : random.from(1, 65));
    const std::size_t count =
        random.from(0, 1) ? 1 : std::min<std::size_t>(bytes / length, random.from(1, 20));
    const std::ptrdiff_t stride =
        static_cast<std::ptrdiff_t>(length) + (random.from(0, 1) ? 0 : random.from(0, 30));
    const std::ptrdiff_t last = stride * (static_cast<std::ptrdiff_t>(count) - 1);
    if (random.from(0, 3))
      runs.push_back({at, length, stride, count});
    else
      runs.push_back({at + last, length, -stride, count});
    at += last + static_cast<std::ptrdiff_t>(length) + (random.from(0, 2) ? 0 : random.from(0, 30));
    bytes -= length * count;
  }
  if (random.from(0, 3) == 0) random.shuffle(runs);
  Layout layout;
  for (const Run& run : runs) layout.add(run);
  return layout;
}

TEST(Moves, CopyBetweenAnyTwoLayouts) {
  constexpr std::ptrdiff_t base = 64;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t bytes = random.from(0, 9)   ? random.from(0, 700)
                              : random.from(0, 9) ? 64 * random.from(0, 60)
                                                  : 0;
    const Layout to = random_target(random, bytes), from = random_target(random, bytes);
    std::vector<std::byte> source(from.span().second + 2 * base),
        target(to.span().second + 2 * base, std::byte{0xEE});
    for (std::byte& b : source) b = static_cast<std::byte>(random.from(0, 255));
    std::vector<Move> moves;
    make_moves(moves, target.data() + base, to, source.data() + base, from);
    expect_copies(to, from, moves, source, target, base);
  }
}

TEST(Moves, EveryLengthAndStride) {
  for (std::size_t length = 1; length <= 300; ++length)
    for (std::size_t count : {1, 2, 5})
      for (std::ptrdiff_t gap : {1, 7}) {
        SCOPED_TRACE(testing::Message() << length << " bytes, " << count << " times");
        const auto stride = static_cast<std::ptrdiff_t>(length) + gap;
        const std::ptrdiff_t last = stride * static_cast<std::ptrdiff_t>(count - 1);
        const Layout to = layout_of({{0, length, stride, count}}),
                     from = layout_of({{last, length, -stride, count}});
        std::vector<std::byte> source(last + length + 2),
            target(last + length + 2, std::byte{0xEE});
        for (std::size_t i = 0; i < source.size(); ++i)
          source[i] = static_cast<std::byte>(i * 7 + i / 256);
        std::vector<Move> moves;
        make_moves(moves, target.data() + 1, to, source.data() + 1, from);
        EXPECT_EQ(moves.size(), 1u);
        expect_copies(to, from, moves, source, target, 1);
      }
}

std::size_t number_of_moves(const Layout& to, const Layout& from) {
  std::vector<Move> moves;
  make_moves(moves, nullptr, to, nullptr, from);
  return moves.size();
}

TEST(Moves, AreFew) {
  const Layout whole = layout_of({{0, 8000, 0, 1}});
  const Layout column = layout_of({{0, 8, 80, 1000}});
  const Layout wide_column = layout_of({{0, 16, 160, 500}});
  const Layout rows = layout_of({{0, 80, 1000, 100}});
  EXPECT_EQ(number_of_moves(whole, whole), 1u);
  EXPECT_EQ(number_of_moves(column, column), 1u);
  EXPECT_EQ(number_of_moves(column, whole), 1u);
  EXPECT_EQ(number_of_moves(whole, column), 1u);
  EXPECT_EQ(number_of_moves(whole, rows), 1u);
  // Two columns for each tile of 256 rows.
  EXPECT_EQ(number_of_moves(column, wide_column), 4u);
  EXPECT_EQ(number_of_moves(wide_column, column), 4u);
  // Ten columns of a hundred rows.
  EXPECT_EQ(number_of_moves(rows, column), 10u);
  EXPECT_EQ(number_of_moves(column, rows), 10u);
  // Planes of a box: one run each, whose borders the other side does not have.
  EXPECT_EQ(number_of_moves(
                column, layout_of({{0, 8, 16, 300}, {90000, 8, 16, 300}, {180000, 8, 16, 400}})),
            3u);
  EXPECT_EQ(number_of_moves(whole, layout_of({{0, 80, 100, 50}, {10000, 80, 100, 50}})), 2u);
  // One piece that was cut in two on both sides.
  EXPECT_EQ(number_of_moves(layout_of({{0, 100, 0, 1}, {200, 50, 0, 1}}),
                            layout_of({{0, 120, 0, 1}, {300, 30, 0, 1}})),
            3u);
  EXPECT_EQ(number_of_moves(Layout(), Layout()), 0u);
}

TEST(Moves, LeavesEarlierMovesAlone) {
  std::byte a[64], b[64];
  const Layout eight = layout_of({{0, 8, 0, 1}});
  std::vector<Move> moves;
  make_moves(moves, a, eight, b, eight);
  make_moves(moves, a + 8, eight, b + 8, eight);
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].length, 8u);
  EXPECT_EQ(moves[0].count, 1u);
}

TEST(Moves, RefuseUnequalLengths) {
  const Error error =
      test::error_of([] { number_of_moves(layout_of({{0, 8, 0, 1}}), layout_of({{0, 9, 0, 1}})); });
  EXPECT_EQ(error.code(), Errc::internal);
}

// Overlaps: blocks of one array whose bytes are owned by sets.
bool overlap_by_bytes(const Placed& a, const Placed& b) {
  std::set<std::uintptr_t> bytes;
  for (std::ptrdiff_t o : bytes_of(*a.layout))
    bytes.insert(a.base + static_cast<std::uintptr_t>(o));
  const Offsets others = bytes_of(*b.layout);
  return std::any_of(others.begin(), others.end(), [&](std::ptrdiff_t o) {
    return bytes.count(b.base + static_cast<std::uintptr_t>(o)) > 0;
  });
}

bool forbidden(const Placed& a, const Placed& b) {
  return (a.written || b.written) && overlap_by_bytes(a, b);
}

TEST(Overlap, IsFoundExactlyWhereBytesAreShared) {
  int overlapping = 0;
  constexpr int cases = 4000;
  for (unsigned seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Layout> layouts(random.from(0, 6));
    std::vector<Placed> placed;
    for (Layout& layout : layouts) {
      for (std::ptrdiff_t n = random.from(0, 3); n > 0; --n)
        layout.add({random.from(-300, 300), static_cast<std::size_t>(random.from(1, 6)),
                    random.from(-30, 30), static_cast<std::size_t>(random.from(1, 5))});
      placed.push_back({10000 + static_cast<std::uintptr_t>(random.from(0, 100)), &layout, 0,
                        random.from(0, 2) == 0});
    }
    bool expected = false;
    for (std::size_t i = 0; i < placed.size(); ++i)
      for (std::size_t j = i + 1; j < placed.size(); ++j)
        expected = expected || forbidden(placed[i], placed[j]);
    Overlap overlap{99, 99};
    ASSERT_EQ(find_overlap(placed, overlap), expected);
    if (!expected) continue;
    ++overlapping;
    ASSERT_LT(overlap.first, overlap.second);
    ASSERT_LT(overlap.second, placed.size());
    EXPECT_TRUE(forbidden(placed[overlap.first], placed[overlap.second]));
  }
  EXPECT_GT(overlapping, cases / 10);
  EXPECT_LT(overlapping, cases * 9 / 10);
}

TEST(Overlap, ColumnsOfOneArrayDoNotOverlap) {
  constexpr int columns = 500;
  const Layout column = layout_of({{0, 8, 8 * columns, 300}});
  std::vector<Placed> placed;
  for (std::uint32_t j = 0; j < columns; ++j) placed.push_back({4096 + 8 * j, &column, j, true});
  Overlap overlap;
  EXPECT_FALSE(find_overlap(placed, overlap));
  placed[333].base += 1;
  ASSERT_TRUE(find_overlap(placed, overlap));
  EXPECT_EQ(overlap.first, 333u);
  EXPECT_EQ(overlap.second, 334u);
  placed[333].base -= 1;
  placed.push_back({4096 + 8 * (300 * columns - 1) + 7, &column, 0, false});
  ASSERT_TRUE(find_overlap(placed, overlap));
  EXPECT_EQ(overlap.first, columns - 1u);
  EXPECT_FALSE(find_overlap(placed, overlap, 1000)) << "more pieces than allowed: not searched";
}

TEST(Overlap, ReadBlocksMayShare) {
  const Layout block = layout_of({{0, 8, 0, 1}});
  std::vector<Placed> placed{{1000, &block, 0, false}, {1004, &block, 1, false}};
  Overlap overlap;
  EXPECT_FALSE(find_overlap(placed, overlap));
  placed.push_back({1012, &block, 0, true});
  EXPECT_FALSE(find_overlap(placed, overlap));
  placed[2].base = 1011;
  EXPECT_TRUE(find_overlap(placed, overlap));
}

// ---- A layout that has a byte twice

bool byte_twice(const Layout& layout) {
  Offsets bytes = bytes_of(layout);
  std::sort(bytes.begin(), bytes.end());
  return std::adjacent_find(bytes.begin(), bytes.end()) != bytes.end();
}

TEST(OverlapsItself, IsFoundExactlyWhereAByteOccursTwice) {
  int twice = 0;
  constexpr int cases = 6000;
  for (unsigned seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Layout layout;
    for (std::ptrdiff_t n = random.from(0, 4); n > 0; --n)
      layout.add({random.from(-200, 200), static_cast<std::size_t>(random.from(1, 5)),
                  random.from(-24, 24), static_cast<std::size_t>(random.from(1, 6))});
    ASSERT_EQ(overlaps_itself(layout), byte_twice(layout));
    twice += byte_twice(layout);
  }
  EXPECT_GT(twice, cases / 10);
  EXPECT_LT(twice, cases * 9 / 10);
}

TEST(OverlapsItself, RunsOfOnePieceAndOfNone) {
  EXPECT_FALSE(overlaps_itself(Layout()));
  EXPECT_FALSE(overlaps_itself(layout_of({{-100, 1000, 0, 1}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 8, 0, 1}, {100, 8, 0, 1}, {8, 92, 0, 1}})));
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 8, 0, 1}, {100, 8, 0, 1}, {7, 1, 0, 1}})));
}

TEST(OverlapsItself, StridesShorterThanThePiece) {
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 4, 0, 2}}))) << "the same piece twice";
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 4, 0, 1}, {0, 4, 0, 1}})));
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 4, 3, 2}})));
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 4, -3, 2}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 4, 5, 100}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 4, -4, 100}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 4, -5, 100}})));
}

TEST(OverlapsItself, RunsThatInterleave) {
  // Columns of one array, forwards and backwards; one of them a byte too far.
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 8, 32, 50}, {8, 8, 32, 50}, {24, 8, 32, 50}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 8, 32, 50}, {16 + 49 * 32, 8, -32, 50}})));
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 8, 32, 50}, {7 + 49 * 32, 8, -32, 50}})));
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 8, 32, 50}, {9, 8, 32, 50}, {24, 9, 32, 50}})))
      << "the last reaches into the next row";
  // Three runs within one another, of which one meets another in its last byte only.
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 1, 20, 13}, {1, 1, 4, 2}, {240, 1, 0, 1}})));
  EXPECT_FALSE(overlaps_itself(layout_of({{0, 1, 20, 12}, {1, 1, 4, 2}, {240, 1, 0, 1}})));
}

TEST(OverlapsItself, LooksAtSoManyPiecesAndNoMore) {
  const Layout columns = layout_of({{0, 8, 32, 1000}, {8, 8, 32, 1000}, {12, 8, 32, 1000}});
  EXPECT_TRUE(overlaps_itself(columns));
  EXPECT_FALSE(overlaps_itself(columns, 1000)) << "more pieces than allowed: not searched";
  EXPECT_TRUE(overlaps_itself(layout_of({{0, 8, 7, 1000}}), 0)) << "a run alone needs no pieces";
}

}  // namespace
}  // namespace tonari
