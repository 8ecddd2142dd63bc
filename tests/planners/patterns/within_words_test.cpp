// SPDX-License-Identifier: BSD-3-Clause
// Ahead on every matrix: each pattern and each baseline by itself, no means.
#include "planners/patterns/within_words.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "planners/patterns/balanced.hpp"
#include "planners/patterns/circulant.hpp"
#include "planners/patterns/data_set.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/patterns.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

using sharing::any_pattern, sharing::expect_proven;

struct Baseline {
  std::string name;
  ScheduleMetrics cost;
};

std::vector<Baseline> baselines(const CommunicationMatrix& m) {
  std::vector<Baseline> all{{"direct", direct_schedule(m).metrics(m)}};
  for (int n = 2; n <= most_dimensions(m.ranks()); ++n)
    all.push_back({"store-and-forward/" + std::to_string(n), store_and_forward(m, n).metrics(m)});
  for (int phases : {1, 2})
    all.push_back(
        {"sharing-" + std::to_string(phases), combine(m, share_messages(m, phases)).metrics(m)});
  return all;
}

// All write to nearly all.
CommunicationMatrix near_dense(std::mt19937& random, int ranks, unsigned percent) {
  std::vector<Flow> flows;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to && random() % 100 < percent) flows.push_back({from, to, random() % 9});
  return CommunicationMatrix(ranks, flows);
}

// A few targets each: what Phase II levels by whole messages.
CommunicationMatrix thin_pattern(std::mt19937& random, int ranks) {
  std::vector<Flow> flows;
  for (int from = 0; from < ranks; ++from)
    for (int k = 0; k < 6; ++k) {
      const int to = (from + 1 + static_cast<int>(random() % 12)) % ranks;
      flows.push_back({from, to, 1 + random() % 9});
    }
  return CommunicationMatrix(ranks, flows);
}

// A band, a few far messages, and so many hubs that exchange with all others.
CommunicationMatrix band_with_hubs(std::mt19937& random, int ranks, int width, int hubs) {
  std::vector<Flow> flows;
  const auto both = [&](int a, int b) {
    if (a == b) return;
    flows.push_back({a, b, 1 + random() % 9});
    flows.push_back({b, a, 1 + random() % 9});
  };
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b <= a + width; ++b) both(a, b % ranks);
    both(a, static_cast<int>(random() % static_cast<unsigned>(ranks)));
    for (int hub = 0; hub < hubs; ++hub) both(a, hub * ranks / hubs);
  }
  return CommunicationMatrix(ranks, flows);
}

struct Count {
  int points = 0, fifth = 0;  // all, and those with a fifth fewer messages
  int messages = 0;           // of the busiest senders
};

// Against every baseline at its own words. One line per point is what the figures are counted from.
void compare(const char* name, const CommunicationMatrix& m, unsigned seed, Count& count) {
  for (const Baseline& theirs : baselines(m)) {
    if (theirs.cost.words < 1) continue;  // no words at all
    const MessageSchedule schedule = within_words(m, theirs.cost.words);
    expect_proven(m, schedule, name, seed);
    const ScheduleMetrics ours = schedule.metrics(m);
    ASSERT_LE(ours.words, theirs.cost.words) << name << ", " << theirs.name << ", seed " << seed;
    ASSERT_LE(ours.most_sent, theirs.cost.most_sent)
        << name << ", " << theirs.name << ", seed " << seed;
    if (theirs.name == "direct") continue;  // which nothing beats at its own words
    ++count.points;
    count.messages += ours.most_sent;
    count.fifth += 5 * ours.most_sent <= 4 * theirs.cost.most_sent;
    if (std::getenv("TONARI_TEST_TABLE"))
      std::printf("%s %s: %d, %.3f | %d, %.3f\n", name, theirs.name.c_str(), theirs.cost.most_sent,
                  theirs.cost.words, ours.most_sent, ours.words);
  }
}

TEST(WithinWords, IsNeverWorseThanAnyBaselineOnAnyPattern) {
  std::mt19937 random(19);
  Count count;
  for (unsigned seed = 0; seed < test::random_cases(16u); ++seed) {
    compare("any pattern", any_pattern(random, 32), seed, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.points, test::random_cases(40));
}

TEST(WithinWords, IsNeverWorseThanAnyBaselineOnNearDensePatterns) {
  std::mt19937 random(20);
  Count count;
  for (unsigned seed = 0; seed < test::random_cases(6u); ++seed) {
    const int ranks = 17 + static_cast<int>(random() % 24);
    compare("near dense", near_dense(random, ranks, 70 + random() % 31), seed, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.points, test::random_cases(24));
}

TEST(WithinWords, IsNeverWorseThanAnyBaselineOnThinPatterns) {
  std::mt19937 random(22);
  Count count;
  for (unsigned seed = 0; seed < test::random_cases(12u); ++seed) {
    compare("thin pattern", thin_pattern(random, 40 + static_cast<int>(random() % 60)), seed,
            count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.points, test::random_cases(60));
}

// Deletions that cost few words come first, and leveling spends what messages between ranks with
// room save. At one price, without these, the sum was 180.
TEST(WithinWords, LevelsBandsAndHubs) {
  std::mt19937 random(37);
  Count count;
  for (unsigned seed = 0; seed < 2; ++seed) {
    compare("band", band_with_hubs(random, 64, 6, 0), seed, count);
    compare("hubs", band_with_hubs(random, 64, 2, 4), seed, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_LE(count.messages, 174);
  EXPECT_GE(count.fifth, 22) << "of " << count.points;
}

// Large patterns are planned at a low price, and go on from there at higher ones. The same limit
// has the same schedule.
TEST(WithinWords, GoesOnFromALowPriceOnALargePattern) {
  std::mt19937 random(38);
  std::vector<Flow> flows;
  for (int from = 0; from < 256; ++from)
    for (int k = 0; k < 56; ++k)
      flows.push_back({from, (from + 1 + static_cast<int>(random() % (k < 40 ? 64 : 255))) % 256,
                       1 + random() % 9});
  const CommunicationMatrix m(256, flows);
  ASSERT_GT(m.blocks(), std::size_t{1} << 13);
  int before = m.statistics().most_sent;
  for (double words : {1.3, 2.0}) {
    const MessageSchedule schedule = within_words(m, words);
    expect_proven(m, schedule, "large", 1);
    const ScheduleMetrics cost = schedule.metrics(m);
    EXPECT_LE(cost.words, words);
    EXPECT_LT(cost.most_sent, before) << words;
    before = cost.most_sent;
    EXPECT_EQ(schedule_text(m, within_words(m, words)), schedule_text(m, schedule));
  }
}

TEST(WithinWords, RefusesNonsense) {
  const CommunicationMatrix m = sharing::matrix_of(3, {{0, 1}, {1, 2}});
  for (double words : {0.9, std::nan("")})
    EXPECT_EQ(test::error_of([&] { within_words(m, words); }).code(), Errc::argument);
  EXPECT_EQ(within_words(CommunicationMatrix(0, {}), 1).messages().size(), 0u);
  EXPECT_EQ(within_words(m, 1).messages().size(), 2u);
}

TEST(Circulant, KeepsToItsMessagesAndStages) {
  std::mt19937 random(21);
  int found = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const CommunicationMatrix m = any_pattern(random, 48);
    const int messages = 3 + static_cast<int>(random() % 8);
    const int kinds = 1 + static_cast<int>(seed % 4);
    const auto schedule = circulant(m, messages, {8, kinds, 400});
    if (m.ranks() % kinds != 0) {
      ASSERT_EQ(schedule.has_value(), m.blocks() == 0);
    }
    if (!schedule) continue;
    found += kinds > 1;
    expect_proven(m, *schedule, "circulant", seed);
    if (HasFatalFailure()) return;
    const ScheduleMetrics cost = schedule->metrics(m);
    ASSERT_LE(std::max(cost.most_sent, cost.most_received), messages);
    ASSERT_LE(cost.stages, 8);
  }
  EXPECT_GT(found, 3);
}

// All talk to all: store and forward in three dimensions sends 13 messages and 2.392 times the
// words.
TEST(Circulant, IsAheadOfAMeshOnACompletePattern) {
  std::vector<Flow> flows;
  for (int a = 0; a < 128; ++a)
    for (int b = 0; b < 128; ++b) flows.push_back({a, b, 1});
  const CommunicationMatrix m(128, flows);
  const ScheduleMetrics mesh = store_and_forward(m, 3).metrics(m);
  const auto schedule = circulant(m, mesh.most_sent - 1, {8});
  ASSERT_TRUE(schedule);
  EXPECT_LT(schedule->metrics(m).most_sent, mesh.most_sent);
  EXPECT_LE(schedule->metrics(m).words, mesh.words);
  EXPECT_FALSE(circulant(m, 5, {8})) << "2^5 sums are too few";
}

// Ranks of one kind cannot reach 63 others with five messages each. A mesh of two in each dimension
// has six, and 3.05 times the words.
TEST(Circulant, KindsOfRanksReachMore) {
  std::vector<Flow> flows;
  for (int a = 0; a < 64; ++a)
    for (int b = 0; b < 64; ++b) flows.push_back({a, b, 1});
  const CommunicationMatrix m(64, flows);
  EXPECT_FALSE(circulant(m, 5, {8}));
  const auto schedule = circulant(m, 5, {8, 4});
  ASSERT_TRUE(schedule);
  expect_proven(m, *schedule, "kinds", 1);
  const ScheduleMetrics cost = schedule->metrics(m);
  EXPECT_LE(std::max(cost.most_sent, cost.most_received), 5);
  EXPECT_LE(cost.words, store_and_forward(m, 6).metrics(m).words);
}

TEST(WithinWords, BeatsEachBaselineByAFifthOnMostPointsOfThree) {
  Count count;
  for (const char* name : {"bcsstk29", "fe_pwt", "finan512"}) {
    const auto m = sharing::bundled(name);
    ASSERT_TRUE(m) << name;
    compare(name, *m, 1, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(100 * count.fifth, 80 * count.points) << count.fifth << " of " << count.points;
}

}  // namespace
}  // namespace tonari
