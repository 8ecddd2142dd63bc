// SPDX-License-Identifier: BSD-3-Clause
// Which way long messages of one-shot calls take: both are tried, the faster is kept, and compared
// again later.
#include "engine/long_messages.hpp"

#include <gtest/gtest.h>

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
  constexpr int many = 3 * LongMessages::calls_between;
  const int read = reads(messages, 20 * KiB, many, 9, 5);
  EXPECT_LT(read, many);
  EXPECT_GT(read, many - many / 100);
  reads(messages, 20 * KiB, LongMessages::calls_between + enough, 5, 9);  // the cores moved
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

}  // namespace
