// SPDX-License-Identifier: BSD-3-Clause
#include "watch/matches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tonari::watch {
namespace {

constexpr std::uint64_t sends = 17, receives = 5, both = 9;

Partner to(int rank, std::uint64_t bytes = 8) { return {.rank = rank, .sent = 1, .bytes = bytes}; }
Partner from(int rank, std::uint64_t room = 8) {
  return {.rank = rank, .received = 1, .room = room};
}

Outline outline(int rank, std::uint64_t key, double seconds, std::vector<Partner> partners) {
  std::ranges::sort(partners, {}, &Partner::rank);
  return {
      .rank = rank, .key = key, .epochs = 20, .seconds = seconds, .partners = std::move(partners)};
}

int left(int rank, int ranks) { return (rank + ranks - 1) % ranks; }
int right(int rank, int ranks) { return (rank + 1) % ranks; }

// Each rank waits for its sends before it posts its receives: two patterns on each.
std::vector<Outline> ring_in_halves(int ranks, std::mt19937& random) {
  std::uniform_real_distribution<double> seconds(0.0, 1.0);
  std::vector<Outline> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(outline(rank, sends, seconds(random), {to(right(rank, ranks))}));
    all.push_back(outline(rank, receives, seconds(random), {from(left(rank, ranks))}));
  }
  return all;
}

// The scheduler decides which of the two takes more time, and must not decide this.
TEST(Matches, HalvesOfExchangesAreNoneWhateverTookLonger) {
  std::mt19937 random(20261128);
  for (int ranks = 2; ranks <= 8; ++ranks) {
    for (int draw = 0; draw < 100; ++draw) {
      const std::vector<Outline> all = ring_in_halves(ranks, random);
      const std::vector<Match> matches = matches_of(all);
      ASSERT_EQ(matches.size(), 1) << ranks << " ranks";
      EXPECT_FALSE(matches.front().whole) << ranks << " ranks";
      EXPECT_EQ(matches.front().members.size(), all.size());
    }
  }
}

TEST(Matches, ARingIsOneExchange) {
  std::vector<Outline> all;
  for (int rank = 0; rank < 5; ++rank)
    all.push_back(outline(rank, both, 0.1 * rank, {to(right(rank, 5)), from(left(rank, 5))}));
  const std::vector<Match> matches = matches_of(all);
  ASSERT_EQ(matches.size(), 1);
  EXPECT_TRUE(matches.front().whole);
  EXPECT_EQ(matches.front().members.size(), 5);
}

// A row of ranks each: whoever is at an end has another key, and rows are still one exchange.
TEST(Matches, RowsOfAGridAreOneExchange) {
  std::vector<Outline> all;
  for (int row = 0; row < 2; ++row) {
    const int first = 3 * row;
    all.push_back(outline(first, both, 3.0, {to(first + 1)}));
    all.push_back(outline(first + 1, both, 2.0, {from(first), to(first + 2)}));
    all.push_back(outline(first + 2, receives, 1.0, {from(first + 1)}));
  }
  const std::vector<Match> matches = matches_of(all);
  ASSERT_EQ(matches.size(), 1);
  EXPECT_TRUE(matches.front().whole);
  EXPECT_EQ(matches.front().members.size(), 6);
}

// The last rank has one pattern less where the others wait, so it counts its patterns otherwise.
TEST(Matches, ExchangesThatShareAKeyStayApart) {
  std::vector<Outline> all;
  for (int rank = 0; rank < 4; ++rank)
    if (rank < 3)
      all.push_back(outline(rank, sends, 1.0, {to(right(rank, 4), 8), from(left(rank, 4), 8)}));
  all.front().partners = {to(1, 8)};
  all.push_back(outline(3, both, 1.0, {from(2, 8)}));
  for (int rank = 0; rank < 4; ++rank)
    all.push_back(outline(rank, rank < 3 ? receives : sends, 0.5,
                          {to(right(rank, 4), 16), from(left(rank, 4), 16)}));
  const std::vector<Match> matches = matches_of(all);
  ASSERT_EQ(matches.size(), 2);
  for (const Match& match : matches) {
    EXPECT_TRUE(match.whole);
    EXPECT_EQ(match.members.size(), 4);
  }
}

TEST(Matches, WhatHasNoRoomIsNotExpected) {
  const std::vector<Match> matches =
      matches_of({outline(0, both, 2.0, {to(1, 16)}), outline(1, both, 1.0, {from(0, 8)})});
  ASSERT_EQ(matches.size(), 1);
  EXPECT_FALSE(matches.front().whole);
}

}  // namespace
}  // namespace tonari::watch
