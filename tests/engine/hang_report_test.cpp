// SPDX-License-Identifier: BSD-3-Clause
// What is said of waits that last, when, and that nothing is said otherwise. Whole jobs in which a
// rank comes late are in tests/python/test_late_ranks.py.
#include "engine/wait/hang_report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "engine/collective_calls.hpp"
#include "engine/wait/known_processes.hpp"
#include "memory/process.hpp"
#include "memory/wait_record.hpp"
#include "support/contains.hpp"

namespace {

using namespace tonari::test;
using tonari::Awaited;

class HangReport : public testing::Test {
 protected:
  void SetUp() override { report_after("10"); }
  void TearDown() override {
    report_after("60");
    unsetenv("TONARI_HANG_REPORT");
    tonari::hide_wait();
  }
  static void report_after(const char* seconds) {
    setenv("TONARI_HANG_REPORT", seconds, 1);
    tonari::read_hang_report();
  }
  // What goes to standard error.
  static std::string told(double seconds, const Awaited& awaited) {
    testing::internal::CaptureStderr();
    tonari::tell_of_wait(awaited, MPI_COMM_WORLD, seconds);
    return testing::internal::GetCapturedStderr();
  }
  static Awaited two_messages() {
    Awaited awaited;
    awaited.in("a test");
    awaited.add(Awaited::What::message, nullptr, 7, 8, 24);
    awaited.add(Awaited::What::taking, nullptr, 9, 0, 16);
    return awaited;
  }
};

// Only then may the end of one be a reason to end this process where no world runs.
TEST(KnownProcesses, AreConnectedOnceACommunicatorIs) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const int next = (world_rank() + 1) % world_size();
  EXPECT_OK(
      tonari_neighborhood_create_from_destinations(MPI_COMM_WORLD, 1, &next, MPI_INFO_NULL, &near));
  const auto others = tonari::known_processes();
  EXPECT_EQ(others.size(), static_cast<std::size_t>(world_size() - 1));
  for (const tonari::KnownProcess& other : others) EXPECT_TRUE(other.connected) << other.rank;
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(HangReport, ALineIsDueAgainWhenTheWaitIsTwiceAsLong) {
  const Awaited awaited = two_messages();
  EXPECT_EQ(told(9, awaited), "");
  const std::string line = told(10, awaited);
  const std::string begin = tonari::text("tonari: rank ", world_rank(), " (process ",
                                         tonari::this_process(), ") has waited for 10 s (since ");
  EXPECT_EQ(line.substr(0, begin.size()), begin);
  const std::string end =
      ") in \"a test\": for 16 of 24 bytes from rank 7, until rank 9 takes 16 bytes; rank 7 is on "
      "another node; rank 9 is on another node\n";
  ASSERT_GT(line.size(), end.size());
  EXPECT_EQ(line.substr(line.size() - end.size()), end);
  for (const double seconds : {10., 11., 19.}) EXPECT_EQ(told(seconds, awaited), "") << seconds;
  EXPECT_NE(told(20, awaited), "");
  EXPECT_EQ(told(39, awaited), "");
  EXPECT_NE(told(40, awaited), "");
}

TEST_F(HangReport, ZeroMeansNone) {
  report_after("0");
  EXPECT_EQ(told(1e6, two_messages()), "");
  EXPECT_FALSE(tonari::shown_wait(tonari::this_process()));
}

TEST_F(HangReport, WhatIsTooMuchIsCounted) {
  Awaited awaited;
  for (int rank = 0; rank < 20; ++rank) awaited.add(Awaited::What::entering, nullptr, 100 + rank);
  EXPECT_CONTAINS(tonari::sentence(awaited), "for rank 107 and 12 more;");
  (void)told(2, awaited);
  const auto shown = tonari::shown_wait(tonari::this_process());
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->rank, 100);
  EXPECT_EQ(shown->ranks, 20);
}

TEST_F(HangReport, ARankIsNamedOnce) {
  Awaited awaited;
  awaited.add(Awaited::What::message, nullptr, 3);
  awaited.add(Awaited::What::taking, nullptr, 3);
  EXPECT_EQ(tonari::sentence(awaited),
            "for a message from rank 3, until rank 3 takes a message; rank 3 is on another node");
}

// Whoever describes a request that runs hears what it waits for; afterwards that is gone.
class DescribedWhileItRuns : public testing::TestWithParam<const char*> {};

TEST_P(DescribedWhileItRuns, SaysWhatIsMissing) {
  if (world_size() < 2) GTEST_SKIP() << "nobody waits";
  tonari::hide_wait();  // of a test before, which others may still take for a wait
  Init call(
      false, Operation::alltoall,
      {{"tonari_tune", "off"}, {"tonari_algorithm", "linear"}, {"tonari_channel", GetParam()}});
  call.set_up();
  ASSERT_OK(call.make());
  const std::string before = tonari_request_describe(call.request);
  if (world_rank() > 0) {
    EXPECT_OK(tonari_start(call.request));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 1) {
    int complete = 1;
    EXPECT_OK(tonari_test(call.request, &complete));
    EXPECT_FALSE(complete);
    const std::string now = tonari_request_describe(call.request);
    EXPECT_EQ(now.substr(0, before.size()), before);
    EXPECT_CONTAINS(now, "\nnow: waits for ");
    EXPECT_CONTAINS(now, " bytes from rank 0");
    EXPECT_CONTAINS(now, "; rank 0 (process ");
    EXPECT_CONTAINS(now, "is not in tonari");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    EXPECT_OK(tonari_start(call.request));
  }
  EXPECT_OK(tonari_wait(call.request));
  EXPECT_EQ(tonari_request_describe(call.request), before);
  EXPECT_OK(tonari_request_free(&call.request));
  call.tear_down();
}

INSTANTIATE_TEST_SUITE_P(Channels, DescribedWhileItRuns, testing::Values("shared", "p2p-packed"));

}  // namespace
