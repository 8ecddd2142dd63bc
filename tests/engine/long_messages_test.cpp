// SPDX-License-Identifier: BSD-3-Clause
// Which way long messages of one-shot calls take: both are tried, the faster is kept, and compared
// again later.
#include "one_shot/long_messages.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace tonari;
using std::chrono::microseconds;

constexpr Bytes KiB = 1024;
constexpr int enough = 64;  // exchanges, in which each way has its samples

// How many of so many exchanges are read, if these are the times of either way.
int reads(LongMessages& messages, Bytes longest, int exchanges, int parts_us, int read_us) {
  int count = 0;
  for (int k = 0; k < exchanges; ++k) {
    const bool read = messages.begin(longest);
    if (messages.timed()) messages.took(microseconds(read ? read_us : parts_us));
    count += read;
  }
  return count;
}

TEST(LongMessages, TheFasterWayIsKept) {
  LongMessages messages;
  EXPECT_GT(reads(messages, 20 * KiB, enough, 9, 5), 0);
  EXPECT_EQ(reads(messages, 20 * KiB, enough, 9, 5), enough);
  EXPECT_LT(reads(messages, 100 * KiB, enough, 5, 9), enough) << "each length has its own";
  EXPECT_EQ(reads(messages, 100 * KiB, enough, 5, 9), 0);
  EXPECT_EQ(reads(messages, 31 * KiB, enough, 9, 5), enough);
  EXPECT_LT(reads(messages, 784 * KiB, enough, 9, 5), enough);
  EXPECT_EQ(reads(messages, 784 * KiB, enough, 9, 5), enough) << "longer than the rings";
  EXPECT_EQ(reads(messages, LongMessages::most, 1, 5, 9), 0) << "always read, and not tried";
}

TEST(LongMessages, OneOutlierDecidesNothing) {
  LongMessages messages;
  for (int k = 0; k < enough; ++k) {
    const bool read = messages.begin(40 * KiB);
    if (messages.timed()) messages.took(microseconds(k % 3 == 0 ? 1000 : read ? 5 : 9));
  }
  EXPECT_EQ(reads(messages, 40 * KiB, enough, 9, 5), enough);
}

TEST(LongMessages, RanksTryTheSameWayAtATime) {
  LongMessages here, there;
  int equal = 0;
  for (int k = 0; k < 12; ++k) {
    equal += here.begin(20 * KiB) == there.begin(200 * KiB);
    here.took(microseconds(k)), there.took(microseconds(12 - k));
  }
  EXPECT_EQ(equal, 12);
}

TEST(LongMessages, ItIsComparedAgainSeldom) {
  LongMessages messages;
  reads(messages, 20 * KiB, enough, 9, 5);
  const int many = 3 * static_cast<int>(messages.calls_between());
  const int read = reads(messages, 20 * KiB, many, 9, 5);
  EXPECT_LT(read, many);
  EXPECT_GT(read, many - many / 100);
  reads(messages, 20 * KiB, static_cast<int>(messages.calls_between()) + enough, 5,
        9);  // the cores moved
  EXPECT_EQ(reads(messages, 20 * KiB, enough, 5, 9), 0);
}

TEST(LongMessages, OthersAreNeitherTriedNorTimed) {
  LongMessages messages;
  for (const Bytes longest : {Bytes{0}, LongMessages::least - 1, LongMessages::most}) {
    EXPECT_FALSE(messages.begin(longest));
    EXPECT_FALSE(messages.timed());
  }
  EXPECT_EQ(reads(messages, LongMessages::least, 2 * enough, 9, 5) > enough, true);
  EXPECT_EQ(reads(messages, LongMessages::most - 1, 2 * enough, 9, 5) > enough, true);
}

// ---- where ranks share cores

constexpr int enough_turns = 160;
constexpr auto by_turns = LongMessages::Sample::turn;

// How many of so many exchanges are read, after enough of them, if each second one takes the second
// of these times.
int reads_of_uneven(LongMessages& messages, std::pair<int, int> parts_us,
                    std::pair<int, int> read_us) {
  int count = 0;
  for (int k = 0; k < 2 * enough_turns; ++k) {
    const bool read = messages.begin(64 * KiB);
    const auto [even, odd] = read ? read_us : parts_us;
    if (messages.timed()) messages.took(microseconds(k % 2 ? odd : even));
    count += read && k >= enough_turns;
  }
  return count;
}

// One call of a rank is short because another rank's was long.
TEST(LongMessages, WhereRanksShareCoresSeveralInARowAreCompared) {
  LongMessages by_calls, parts(by_turns), read(by_turns);
  EXPECT_EQ(reads_of_uneven(by_calls, {40, 40}, {1, 199}), enough_turns);
  EXPECT_EQ(reads_of_uneven(parts, {40, 40}, {1, 199}), 0);
  EXPECT_EQ(reads_of_uneven(read, {1, 199}, {40, 40}), enough_turns);
}

// All ranks find about the same times. If they chose differently, all would wait for each other.
TEST(LongMessages, WhereRanksShareCoresALittleFasterIsNotEnough) {
  for (const auto& [read_us, count] : {std::pair(96, 0), {92, 0}, {84, enough_turns}}) {
    LongMessages messages(by_turns);
    EXPECT_EQ(reads_of_uneven(messages, {100, 100}, {read_us, read_us}), count) << read_us;
  }
}

// So a turn takes one way, on all ranks; its first call, which waits for ranks that still take the
// other one, and turns that a time slice has spoiled decide nothing.
TEST(LongMessages, TurnsTakeOneWay) {
  LongMessages here(by_turns), there(by_turns);
  bool before = false;
  int changes = 0;
  for (int call = 1; call <= enough_turns; ++call) {
    const bool read = here.begin(20 * KiB);
    const bool first = static_cast<std::uint32_t>(call) % LongMessages::calls_in_turn == 0;
    EXPECT_EQ(read, there.begin(200 * KiB)) << call;
    const bool changed = call > 1 && read != before;
    EXPECT_TRUE(!changed || first || !here.timed()) << call;
    changes += changed;
    const bool spoiled = call > 20 && call < 24;
    const int us = spoiled ? 9000 : first ? (read ? 1 : 900) : (read ? 50 : 30);
    if (here.timed()) here.took(microseconds(us)), there.took(microseconds(us));
    before = read;
  }
  EXPECT_GE(changes, 3);
  EXPECT_EQ(reads(here, 20 * KiB, enough, 30, 50), 0);
}

// Most exchanges of the program may be short.
TEST(LongMessages, ASingleCallOfATurnCounts) {
  LongMessages messages(by_turns);
  for (int k = 0; k < enough_turns; ++k) {
    for (int other = 1; other < 8; ++other) (void)messages.begin(8);
    const bool read = messages.begin(20 * KiB);
    if (messages.timed()) messages.took(microseconds(read ? 5 : 9));
  }
  EXPECT_EQ(reads(messages, 20 * KiB, enough, 9, 5), enough);
}

}  // namespace
