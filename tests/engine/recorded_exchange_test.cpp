// SPDX-License-Identifier: BSD-3-Clause
// What a recorded exchange counts, and how it estimates time from the starts that it times.
#include "engine/comm/recorded_exchange.hpp"

#include <gtest/gtest.h>

#include "engine/comm/call_record.hpp"

namespace {

using namespace tonari;

double clock_now = 0;
int clock_reads = 0;
double fake_clock() {
  ++clock_reads;
  return clock_now;
}

// Takes a time that it is given, in wait or at its third test.
class Takes final : public LeafExchange {
 public:
  explicit Takes(bool idle = false) : idle_(idle) {}
  void start() override { ++starts, tests_ = 0; }
  bool test() override {
    clock_now += seconds / 3;
    return ++tests_ == 3;
  }
  void wait() override { clock_now += seconds; }
  bool nothing() const override { return idle_; }
  int messages() const override { return 3; }
  Bytes bytes() const override { return 100; }
  std::size_t scratch_bytes() const override { return 0; }

  double seconds = 1e-4;
  int starts = 0;

 private:
  bool idle_;
  int tests_ = 0;
};

struct Recording {
  explicit Recording(bool idle = false) : exchange(&usage) {
    clock_now = 0, clock_reads = 0;
    auto made = std::make_unique<Takes>(idle);
    takes = made.get();
    exchange.wrap(std::move(made));
  }
  void run(int times, double seconds) {
    takes->seconds = seconds;
    for (int k = 0; k < times; ++k) {
      exchange.start();
      clock_now += 1e-3;  // the program computes
      exchange.wait();
    }
  }
  Usage usage{fake_clock};
  RecordedExchange exchange;
  Takes* takes;
};

TEST(RecordedExchange, CountsStartsMessagesAndBytes) {
  Recording r;
  r.run(5, 1e-4);
  EXPECT_EQ(r.takes->starts, 5);
  EXPECT_EQ(r.usage.starts(), 5u);
  EXPECT_EQ(r.usage.messages(), 3u);
  EXPECT_EQ(r.usage.bytes(), 100u);
  EXPECT_EQ(r.usage.all_messages(), 15u);
  EXPECT_EQ(r.usage.all_bytes(), 500u);
}

TEST(RecordedExchange, TimesTheCallsAndNotTheProgram) {
  Recording r;
  r.run(10, 1e-4);
  EXPECT_NEAR(r.usage.seconds(), 10 * 1e-4, 1e-9);
  EXPECT_EQ(r.usage.timed(), 10u);
}

TEST(RecordedExchange, TestsThatFollowEachOtherAreWaiting) {
  Recording r;
  r.takes->seconds = 3e-4;
  r.exchange.start();
  while (!r.exchange.test()) clock_now += 1e-4;  // between two looks
  EXPECT_NEAR(r.usage.seconds(), 3e-4 + 2 * 1e-4, 1e-9);
  EXPECT_EQ(r.usage.timed(), 1u);
}

TEST(RecordedExchange, ReadsTheClockForFewOfManyStarts) {
  Recording r;
  r.run(10000, 1e-4);
  EXPECT_GT(r.usage.timed(), Usage::all_timed + 300);
  EXPECT_LT(r.usage.timed(), 1000u);
  EXPECT_EQ(clock_reads, 4 * static_cast<int>(r.usage.timed()));
  EXPECT_NEAR(r.usage.seconds(), 10000 * 1e-4, 1e-6);
}

// A program that does something else every 16th step, or more and more of it.
TEST(RecordedExchange, EstimatesWhatItDoesNotTime) {
  for (const int period : {2, 3, 8, 16, 17, 31, 32}) {
    Recording r;
    double all = 0;
    for (int k = 0; k < 20000; ++k) {
      const double seconds = k % period == 0 ? 1e-3 : 1e-5 + 1e-9 * k;
      r.run(1, seconds);
      all += seconds;
    }
    EXPECT_NEAR(r.usage.seconds() / all, 1, 0.15) << "every " << period;
  }
}

// Each that is timed stands for those that were not.
TEST(RecordedExchange, SlowFirstStartsCountOnce) {
  Recording r;
  r.run(Usage::all_timed, 1e-3);
  r.run(10000, 1e-5);
  EXPECT_NEAR(r.usage.seconds(), Usage::all_timed * 1e-3 + 10000 * 1e-5, 1e-3);
}

TEST(RecordedExchange, CountsStartsOfRanksThatMoveNothing) {
  Recording r(true);
  EXPECT_FALSE(r.exchange.nothing()) << "its starts must be seen";
  r.exchange.start();
  EXPECT_TRUE(r.exchange.proceeds_by_itself());
  EXPECT_TRUE(r.exchange.test());
  r.exchange.start();
  r.exchange.wait();
  EXPECT_EQ(r.takes->starts, 0);
  EXPECT_EQ(r.usage.starts(), 2u);
  EXPECT_EQ(r.usage.all_messages(), 0u);
}

TEST(RecordedExchange, MayCountForNobody) {
  Recording r;
  r.exchange.count_for(nullptr);
  r.run(3, 1e-4);
  EXPECT_EQ(r.takes->starts, 3);
  EXPECT_EQ(clock_reads, 0);
}

ReportRow test_calls() {
  ReportRow calls;
  calls.operation = "calls of this test";
  return calls;
}
const ReportRow* row_of_calls(const ReportTable& table) {
  for (const ReportRow& row : table.rows())
    if (row.operation == test_calls().operation) return &row;
  return nullptr;
}

// It is in the table of the process while it lives, and after that.
TEST(CallRecord, StaysInTheTable) {
  EXPECT_EQ(row_of_calls(recorded_so_far()), nullptr);
  {
    CallRecord record(test_calls());
    for (std::uint64_t k = 1; k < 4; ++k)
      record.run([&] { return std::pair<std::uint64_t, Bytes>(k, 10); });
    const ReportTable now = recorded_so_far();
    ASSERT_NE(row_of_calls(now), nullptr);
    EXPECT_EQ(row_of_calls(now)->starts, 3u);
    EXPECT_EQ(row_of_calls(now)->messages, 3u);
    EXPECT_EQ(row_of_calls(now)->all_messages, 6u);
    EXPECT_TRUE(row_of_calls(now)->one_shot);
    record.chose("nbx"), record.chose("nbx");
    EXPECT_EQ(record.row().algorithm.view(), "nbx");
    record.chose("pairwise");
    EXPECT_EQ(record.row().algorithm.view(), "several");
  }
  const ReportTable later = recorded_so_far();
  ASSERT_NE(row_of_calls(later), nullptr);
  EXPECT_EQ(row_of_calls(later)->starts, 3u) << "once";
}

}  // namespace
