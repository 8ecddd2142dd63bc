// SPDX-License-Identifier: BSD-3-Clause
#include "report/print.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "support/contains.hpp"

namespace {

using namespace tonari;

ReportRow request() {
  ReportRow row;
  row.ranks = 8, row.operation = "alltoallv", row.what = "alltoall with 26 neighbors";
  row.algorithm = "torus", row.variant = "both ends", row.channel = "shared";
  row.reason = "measured";
  row.requests = 2, row.starts = 12000000, row.timed = 32;
  row.messages = 6, row.bytes = 13312, row.all_messages = 600, row.all_bytes = 5'000'000'000;
  row.seconds = 1.5, row.init = 3, row.lost = 0;
  row.times = {0.5, 1.25, 2, NativeSource::measured};
  return row;
}

ReportTable table_of(std::initializer_list<ReportRow> rows, std::uint64_t ranks = 1) {
  ReportTable table;
  table.join(ranks);
  for (const ReportRow& row : rows) table.add(row);
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(ReportText, HasALineForWhatAndOneForNumbers) {
  const std::string text = text_of(table_of({request()}));
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines[0], "tonari: report of 1 rank");
  EXPECT_EQ(lines[2], "alltoall with 26 neighbors, 1 rank, of communicators of 8");
  EXPECT_EQ(lines[3],
            "  torus/both ends/shared (measured); native takes 2.5 times as long (measured); "
            "paid after 4 starts: yes");
  const std::vector<std::string> numbers = words_of(lines[4]);
  const std::vector<std::string> expected{"2", "12M", "1.5",   "0.125", "3",
                                          "0", "6",   "13KiB", "600",   "4768MiB"};
  EXPECT_EQ(numbers, expected) << text;
  EXPECT_EQ(lines[1].size(), lines[4].size()) << "numbers stand below their titles";
  for (std::size_t k = 4; k < lines.size(); ++k) EXPECT_LE(lines[k].size(), 100u) << lines[k];
}

TEST(ReportText, SaysWhatIsNotKnown) {
  ReportRow calls = request();
  calls.one_shot = true, calls.requests = 0, calls.times = {}, calls.algorithm = "";
  calls.variant = "", calls.channel = "", calls.reason = "";
  const std::string text = text_of(table_of({calls}));
  EXPECT_CONTAINS(text, "of 8\n  -\n");
  EXPECT_EQ(words_of(lines_of(text)[4]).front(), "calls");
  ReportRow never = request();
  never.times.native = 0.25;
  EXPECT_CONTAINS(text_of(table_of({never})),
                  "; native takes 0.5 times as long (measured); init never pays\n");
  ReportRow later = request();
  later.starts = 7;
  EXPECT_CONTAINS(text_of(table_of({later})), "; paid after 4 starts: not yet\n");
}

TEST(ReportText, SaysWhyNoFasterWayWasTaken) {
  ReportRow staged = request(), other = staged;
  EXPECT_EQ(text_of(table_of({staged})).find("no faster way"), std::string::npos);
  other.no_faster = "rank 2: its neighbor 5 is on another node";
  EXPECT_CONTAINS(text_of(table_of({other})),
                  "\n  no faster way between GPUs, because rank 2: its neighbor 5 is on another "
                  "node\n");
  staged.add(other);
  EXPECT_EQ(staged.no_faster, other.no_faster) << "the first reason of several requests";
  staged.merge(request());
  EXPECT_EQ(staged.no_faster, other.no_faster);
}

TEST(ReportText, BeginsWithWhatTookLongest) {
  ReportRow slow = request();
  slow.what = "slow", slow.seconds = 9;
  const std::string text = text_of(table_of({request(), slow}));
  EXPECT_LT(text.find("slow"), text.find("alltoall"));
  EXPECT_EQ(text.find("other"), std::string::npos);
}

TEST(ReportText, SaysThatRowsWereFolded) {
  ReportTable table;
  table.join(1);
  for (int k = 0; k < 40; ++k) {
    ReportRow row = request();
    row.what = std::to_string(k), row.seconds = k;
    table.add(row);
  }
  const std::string text = text_of(table);
  EXPECT_CONTAINS(text, "\nother alltoallv, 1 rank\n  several");
  EXPECT_CONTAINS(text, "\nother: requests and calls of more than 32 kinds are folded");
}

TEST(ReportText, SaysThatNothingWasExchanged) {
  EXPECT_EQ(text_of(table_of({}, 3)), "tonari: report of 3 ranks, which exchanged nothing\n");
}

TEST(ReportJson, IsAnArrayOfFlatObjects) {
  EXPECT_EQ(json_of(ReportTable()), "[]\n");
  ReportRow calls = request();
  calls.one_shot = true, calls.requests = 0, calls.times = {}, calls.seconds = 0.1;
  calls.what = "a \"quoted\"\tword\\";
  const std::vector<std::string> lines = lines_of(json_of(table_of({request(), calls})));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(
      lines[0],
      R"([{"kind": "requests", "operation": "alltoallv", "what": "alltoall with 26 neighbors", )"
      R"("folded": false, "ranks": 8, "processes": 1, "algorithm": "torus", )"
      R"("variant": "both ends", "channel": "shared", "reason": "measured", )"
      R"("no_faster": "", "requests": 2, )"
      R"("starts": 12000000, "timed_starts": 32, "seconds": 1.5, )"
      R"("seconds_per_start": 1.25e-07, "init_seconds": 3, "lost_seconds": 0, )"
      R"("messages": 6, "bytes": 13312, "all_messages": 600, "all_bytes": 5000000000, )"
      R"("native_ratio": 2.5, "native_source": "measured", "break_even": 4, )"
      R"("break_even_reached": true},)");
  EXPECT_CONTAINS(lines[1], R"("what": "a \"quoted\"\u0009word\\", )");
  EXPECT_CONTAINS(lines[1], R"("native_ratio": null, "native_source": "unknown", )");
  EXPECT_CONTAINS(lines[1], R"("break_even": null, "break_even_reached": null}])");
}

}  // namespace
