// SPDX-License-Identifier: BSD-3-Clause
#include "report/table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace tonari;

ReportRow requests(const char* operation, const std::string& what, std::uint64_t starts = 1) {
  ReportRow row;
  row.ranks = 8, row.operation = operation, row.what = what, row.algorithm = "linear";
  row.requests = 1, row.starts = row.timed = starts;
  row.messages = 2, row.bytes = 10 * starts;
  row.all_messages = 2 * starts, row.all_bytes = 20 * starts;
  row.seconds = 0.5, row.init = 0.25, row.lost = 0.125;
  return row;
}

ReportTable of_one_rank(std::initializer_list<ReportRow> rows) {
  ReportTable table;
  table.join(1);
  for (const ReportRow& row : rows) table.add(row);
  return table;
}

TEST(ReportTable, AddsUpWhatOneRankDid) {
  const ReportTable table = of_one_rank(
      {requests("alltoall", "a", 3), requests("halo", "b"), requests("alltoall", "a", 4)});
  ASSERT_EQ(table.rows().size(), 2u);
  const ReportRow& row = table.rows()[0];
  EXPECT_EQ(row.requests, 2u);
  EXPECT_EQ(row.starts, 7u);
  EXPECT_EQ(row.timed, 7u);
  EXPECT_EQ(row.messages, 2u) << "the most in one exchange";
  EXPECT_EQ(row.bytes, 40u);
  EXPECT_EQ(row.all_messages, 14u);
  EXPECT_EQ(row.all_bytes, 140u);
  EXPECT_EQ(row.seconds, 1);
  EXPECT_EQ(row.init, 0.5);
  EXPECT_EQ(row.lost, 0.25);
  EXPECT_EQ(row.processes, 1u);
}

TEST(ReportTable, TakesTheSlowestOfSeveralRanks) {
  ReportTable table = of_one_rank({requests("alltoall", "a", 3)});
  ReportRow slow = requests("alltoall", "a", 2);
  slow.seconds = 4, slow.init = 0.125, slow.lost = 3, slow.messages = 5;
  table.merge(of_one_rank({requests("halo", "b"), slow}));
  EXPECT_EQ(table.processes(), 2u);
  ASSERT_EQ(table.rows().size(), 2u);
  const ReportRow& row = table.rows()[0];
  EXPECT_EQ(row.processes, 2u);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.starts, 3u);
  EXPECT_EQ(row.messages, 5u);
  EXPECT_EQ(row.all_messages, 10u) << "in all: of both";
  EXPECT_EQ(row.all_bytes, 100u);
  EXPECT_EQ(row.seconds, 4);
  EXPECT_EQ(row.init, 0.25);
  EXPECT_EQ(row.lost, 3);
  EXPECT_EQ(table.rows()[1].processes, 1u);
}

TEST(ReportTable, TellsApartWhatDiffersInAnything) {
  const ReportRow row = requests("alltoall", "a");
  EXPECT_TRUE(row.alike(requests("alltoall", "a", 9)));
  const auto differs = [&](auto change) {
    ReportRow other = row;
    change(other);
    return !row.alike(other) && !other.alike(row);
  };
  EXPECT_TRUE(differs([](ReportRow& r) { r.one_shot = true; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.folded = true; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.ranks = 7; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.operation = "alltoallv"; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.what = "b"; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.algorithm = "torus"; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.variant = "v"; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.channel = "shared"; }));
  EXPECT_TRUE(differs([](ReportRow& r) { r.reason = "wisdom"; }));
}

std::string kind(std::size_t k) { return "kind " + std::to_string(k); }

TEST(ReportTable, FoldsByOperationWhatIsMoreThanItHolds) {
  constexpr std::size_t most = ReportTable::most_kinds;
  ReportTable table;
  table.join(1);
  for (std::size_t k = 0; k < most + 1000; ++k)
    table.add(requests(k % 2 ? "halo" : "alltoall", kind(k)));
  for (std::size_t k = 0; k < most; ++k) table.add(requests("halo", kind(k)));
  ASSERT_EQ(table.rows().size(), most + 2) << "known kinds keep their rows";
  std::uint64_t folded = 0;
  for (const ReportRow& row : table.rows().subspan(most)) {
    EXPECT_TRUE(row.folded);
    EXPECT_EQ(row.algorithm.view(), "several");
    folded += row.requests;
  }
  EXPECT_EQ(folded, 1000 + most / 2) << "halos of even numbers were no kind before";
}

TEST(ReportTable, HoldsAnyNumberOfOperations) {
  ReportTable table;
  table.join(1);
  for (int k = 0; k < 500; ++k) {
    ReportRow row = requests(("operation " + std::to_string(k)).c_str(), "a");
    row.one_shot = k % 2;
    table.add(row);
  }
  ASSERT_EQ(table.rows().size(), ReportTable::most_rows);
  std::uint64_t requests = 0;
  for (const ReportRow& row : table.rows()) requests += row.requests;
  EXPECT_EQ(requests, 500u);
}

// Another rank's rows are added up before they are compared with this one's.
TEST(ReportTable, MergesSeveralKindsIntoOneFoldedRow) {
  ReportTable here, there;
  here.join(1), there.join(1);
  for (std::size_t k = 0; k < ReportTable::most_kinds + 5; ++k) here.add(requests("halo", kind(k)));
  for (std::size_t k = 100; k < 103; ++k) there.add(requests("halo", kind(k)));
  here.merge(there);
  const ReportRow& folded = here.rows().back();
  ASSERT_TRUE(folded.folded);
  EXPECT_EQ(folded.requests, 5u) << "the most of a rank: not 5 + 3, nor one of three";
  EXPECT_EQ(folded.all_messages, 2u * (5 + 3));
  EXPECT_EQ(folded.processes, 2u);
  there.merge(here);
  EXPECT_EQ(there.rows().size(), ReportTable::most_kinds + 1);
}

TEST(ShortText, KeepsTheBeginningOfWhatIsTooLong) {
  const ShortText<8> fits = std::string("12345678"), cut = "123456789";
  EXPECT_EQ(fits.view(), "12345678");
  EXPECT_EQ(cut.view(), "12345...");
  EXPECT_TRUE(ShortText<8>().empty() && !fits.empty());
  EXPECT_EQ(ShortText<8>("1"), ShortText<8>("1"));
}

}  // namespace
