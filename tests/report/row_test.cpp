// SPDX-License-Identifier: BSD-3-Clause
#include "report/row.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tonari;
using enum NativeSource;
using When = BreakEven::When;

// `requests` requests that save 2 us at each start over MPI's 5 us.
ReportRow faster(std::uint64_t requests, std::uint64_t starts) {
  ReportRow row;
  row.requests = requests, row.starts = starts;
  for (std::uint64_t k = 0; k < requests; ++k) row.times.add({3e-6, 5e-6, 1, measured});
  return row;
}

TEST(ReportRow, RatioIsOfTheSums) {
  ReportRow row = faster(1, 1);
  EXPECT_NEAR(row.ratio(), 5.0 / 3, 1e-12);
  row.times.add({1e-6, 3e-6, 1, remembered});
  EXPECT_NEAR(row.ratio(), 2, 1e-12);
  EXPECT_EQ(row.times.source, remembered) << "the one that says less";
  row.times.add({});
  EXPECT_EQ(row.times.source, remembered) << "one that is not known says nothing";
  EXPECT_EQ(ReportRow().ratio(), 0);
}

TEST(ReportRow, BreakEvenCountsInitAndTuning) {
  ReportRow row = faster(1, 149);
  row.init = 2e-4, row.lost = 1e-4;
  EXPECT_EQ(row.break_even().when, When::after);
  EXPECT_NEAR(row.break_even().starts, 150, 1);
  EXPECT_FALSE(row.break_even().reached);
  row.starts = 151;
  EXPECT_TRUE(row.break_even().reached);
}

TEST(ReportRow, BreakEvenIsOfEachRequest) {
  ReportRow row = faster(10, 1000);
  row.init = 2e-3;  // of all ten
  EXPECT_NEAR(row.break_even().starts, 100, 1);
  row.starts = 900;
  EXPECT_FALSE(row.break_even().reached);
}

TEST(ReportRow, BreakEvenMayBeUnknownOrNever) {
  EXPECT_EQ(ReportRow().break_even().when, When::unknown);
  ReportRow calls = faster(1, 10);
  calls.requests = 0;
  EXPECT_EQ(calls.break_even().when, When::unknown) << "one-shot calls have no init";
  ReportRow native = faster(1, 10);
  native.times.native = native.times.chosen;
  EXPECT_EQ(native.break_even().when, When::never);
  EXPECT_FALSE(native.break_even().reached);
}

// All ranks have measured together; one that took part in fewer requests knows less.
TEST(ReportRow, RanksShareOneTimeOfNative) {
  ReportRow row = faster(1, 10);
  row.merge(faster(1, 10));
  EXPECT_EQ(row.times.requests, 1u);
  row.merge(faster(3, 10));
  EXPECT_EQ(row.times.requests, 3u);
  EXPECT_NEAR(row.ratio(), 5.0 / 3, 1e-12);
}

}  // namespace
