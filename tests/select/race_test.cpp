// SPDX-License-Identifier: BSD-3-Clause
// Races with times that are made up: who runs when, who drops out, and what that costs.
#include "select/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using tonari::Race;
using Times = std::vector<double>;  // by candidate

// Several ranks that run a race, each with its own times; time(rank, candidate) draws one.
struct Ranks {
  std::vector<Race> races;
  std::function<double(std::size_t, std::size_t)> time;
  std::vector<std::vector<Times>> counted;  // by rank and candidate
  Times cost = Times(Race::most_candidates, 0);
  std::string ran;  // "aaabbb": which candidate each start ran, in capitals where it ended a pass

  Ranks(std::size_t ranks, std::size_t candidates,
        std::function<double(std::size_t, std::size_t)> draw,
        Race::Sample sample = Race::Sample::start)
      : races(ranks, Race(candidates, sample)),
        time(std::move(draw)),
        counted(ranks, std::vector<Times>(candidates)) {}

  void start() {
    const Race::Turn turn = races[0].turn();
    for (const Race& race : races) {
      ASSERT_EQ(race.turn().candidate, turn.candidate) << ran;
      ASSERT_EQ(race.turn().counts, turn.counts) << ran;
      ASSERT_EQ(race.turn().ends_pass, turn.ends_pass) << ran;
    }
    ran += static_cast<char>((turn.ends_pass ? 'A' : 'a') + turn.candidate);
    Race::Scores sums{};
    for (std::size_t rank = 0; rank < races.size(); ++rank) {
      const double seconds = time(rank, turn.candidate);
      if (rank == 0) cost[turn.candidate] += seconds;
      if (turn.counts) counted[rank][turn.candidate].push_back(seconds);
      const Race::Scores mine = races[rank].scores();
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += mine[k];
      if (!turn.ends_pass) races[rank].ran(seconds);
    }
    if (turn.ends_pass)
      for (Race& race : races) race.end_pass(sums);
  }
  void run() {
    while (!races[0].over() && !testing::Test::HasFatalFailure()) start();
  }
  // What the winner must have the least of, worked out from all times that counted.
  double scores(std::size_t candidate) const {
    double sum = 0;
    for (const std::vector<Times>& rank : counted) {
      Times times = rank[candidate];
      std::ranges::sort(times);
      sum += (times[(times.size() - 1) / 4] + times[(times.size() - 1) / 2]) / 2;
    }
    return sum;
  }
};

Ranks steady(const Times& times, Race::Sample sample = Race::Sample::start) {
  return {1, times.size(), [=](std::size_t, std::size_t c) { return times[c]; }, sample};
}

TEST(Race, RunsCandidatesInTurnsAndEndsEachPassWithTheOneInFront) {
  Ranks ranks = steady({2, 1, 9});
  for (int k = 0; k < 10; ++k) ranks.start();
  EXPECT_EQ(ranks.ran, "aaabbbcccA") << "nobody is known to be faster than the first yet";
  EXPECT_FALSE(ranks.races[0].alive(2)) << "more than four times slower";
  for (int k = 0; k < 9; ++k) ranks.start();
  EXPECT_EQ(ranks.ran.substr(10), "bbbbaaaaB") << "each pass begins with another one";
}

TEST(Race, EndsWhenOneIsLeft) {
  Ranks ranks = steady({10, 1, 50, 41});
  ranks.run();
  EXPECT_EQ(ranks.ran, "aaabbbcccdddA");
  EXPECT_EQ(ranks.races[0].leader(), 1U);
  for (std::size_t c : {0U, 2U, 3U}) EXPECT_FALSE(ranks.races[0].alive(c)) << c;
  EXPECT_EQ(ranks.races[0].sum(3), 41) << "what dropped out keeps its times for the report";
}

TEST(Race, OfOneIsOver) {
  EXPECT_TRUE(Race(1).over());
  EXPECT_EQ(Race(1).leader(), 0U);
  EXPECT_THROW(Race(0), std::exception);
  EXPECT_THROW(Race(Race::most_candidates + 1), std::exception);
}

// The first start of each turn touches memory for the first time, or finds caches full of others'.
TEST(Race, DoesNotCountTheFirstOfATurn) {
  std::size_t last = 9;
  Ranks ranks(1, 2, [&](std::size_t, std::size_t c) {
    const bool first = std::exchange(last, c) != c;
    return first && c == 1 ? 100.0 : c == 1 ? 1.0 : 2.0;
  });
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 1U) << ranks.ran;
}

// One of four times may be spoiled by another process.
TEST(Race, ATimeSliceOfAnotherProcessDoesNotDecide) {
  int draws = 0;
  Ranks ranks(1, 2, [&](std::size_t, std::size_t c) {
    return ++draws % 4 == 0 ? 1000.0 : c == 1 ? 1.0 : 1.2;
  });
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 1U) << ranks.ran;
}

TEST(Race, TheSumOverRanksDecides) {
  // the first is better on two ranks, but loses more on the third
  const double times[3][2] = {{1, 1.2}, {1, 1.2}, {2, 1.1}};
  Ranks ranks(3, 2, [&](std::size_t rank, std::size_t c) { return times[rank][c]; });
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 1U);
  EXPECT_NEAR(ranks.races[0].sum(1), 3.5, 1e-12);
}

// Where ranks share cores, of some starts in a row one takes long and the others no time: the mean
// decides, not what is usual.
TEST(Race, TheMeanOfATurnDecidesWhereRanksShareCores) {
  std::array<int, 2> runs{};
  Ranks ranks(
      2, 2,
      [&](std::size_t rank, std::size_t c) {
        if (c == 1) return 6.0;
        return (runs[rank]++ % 3 == 0) ? 27.0 : 0.1;
      },
      Race::Sample::turn);
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 1U) << ranks.ran;
}

// A program's own break, or another process, may fall into the only turn that a candidate has had.
TEST(Race, OneTurnAloneDropsNobodyWhereRanksShareCores) {
  int starts = 0;  // of the better one; the first start of a turn does not count
  Ranks ranks(
      1, 2,
      [&](std::size_t, std::size_t c) {
        if (c == 0) return 3.0;
        return ++starts > 1 && starts <= 4 ? 1e6 : 1.0;
      },
      Race::Sample::turn);
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 1U) << ranks.ran;
}

// The clock may be too coarse to see an exchange.
TEST(Race, SomebodyWinsWhereNoTimePasses) {
  for (const auto sample : {Race::Sample::start, Race::Sample::turn}) {
    Ranks ranks = steady({0, 0, 0}, sample);
    ranks.run();
    EXPECT_TRUE(ranks.races[0].alive(ranks.races[0].leader())) << ranks.ran;
  }
}

// The machine becomes slower after the first pass: what dropped out there has better times.
TEST(Race, WhatHasDroppedOutDoesNotComeBack) {
  int draws = 0;
  Ranks ranks(1, 3, [&](std::size_t, std::size_t c) {
    return (c == 2 ? 5.0 : 1.0 + 0.01 * static_cast<double>(c)) * (++draws > 10 ? 100 : 1);
  });
  ranks.run();
  EXPECT_EQ(ranks.races[0].leader(), 0U) << ranks.ran;
}

TEST(Race, SaysWhetherTimesVary) {
  Race race(2);
  while (!race.turn().ends_pass) race.ran(1);
  Race::Scores sums{2.5, 2.4};
  sums[Race::most_candidates] = 4, sums[Race::most_candidates + 1] = 3;  // medians
  race.end_pass(sums);
  EXPECT_FALSE(race.steady(0)) << "the lower quartile must have been 1";
  EXPECT_TRUE(race.steady(1)) << "the lower quartile must have been 1.8";
}

// Whatever the times are: ranks take the same turns, the winner is the best of those that are left,
// who drops out was clearly slower, and it ends.
TEST(Race, RanksAgreeWhateverTheTimesAre) {
  std::mt19937 random(15);
  for (int round = 0; round < 500; ++round) {
    const std::size_t ranks = 1 + random() % 5, candidates = 2 + random() % 3;
    Times factor;
    for (std::size_t c = 0; c < candidates; ++c) factor.push_back(1 + random() % 80 / 10.0);
    std::lognormal_distribution<double> noise(0, round % 2 ? 0.05 : 1);
    Ranks all(ranks, candidates, [&](std::size_t rank, std::size_t c) {
      return factor[c] * (1 + static_cast<double>(rank)) * noise(random);
    });
    all.run();
    ASSERT_FALSE(HasFatalFailure());
    const std::size_t winner = all.races[0].leader();
    for (const Race& race : all.races) ASSERT_EQ(race.leader(), winner);
    EXPECT_TRUE(all.races[0].alive(winner));
    EXPECT_LE(all.ran.size(), 4 * 23 + 6U);
    for (std::size_t c = 0; c < candidates; ++c) {
      EXPECT_DOUBLE_EQ(all.scores(c), all.races[0].sum(c)) << all.ran << " candidate " << c;
      if (all.races[0].alive(c)) {
        EXPECT_LE(all.scores(winner), all.scores(c)) << all.ran << " candidate " << c;
      }
    }
  }
}

// What it costs, in exchanges of the winner: candidates up to eight times slower, as the model lets
// them take part.
TEST(Race, CostsFewExchanges) {
  std::mt19937 random(16);
  std::vector<double> lost;
  for (int round = 0; round < 999; ++round) {
    Times factor{1 + random() % 70 / 10.0, 1, 1 + random() % 70 / 10.0, 1 + random() % 70 / 10.0};
    Ranks ranks = steady(factor);
    ranks.run();
    ASSERT_EQ(factor[ranks.races[0].leader()], 1);
    double all = 0;
    for (const double seconds : ranks.cost) all += seconds;
    lost.push_back(all - static_cast<double>(ranks.ran.size()));
  }
  std::ranges::sort(lost);
  EXPECT_LT(lost[lost.size() / 2], 50);
  EXPECT_LT(lost.back(), 100);
}

}  // namespace
