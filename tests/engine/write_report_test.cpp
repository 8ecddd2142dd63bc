// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/write_report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace tonari;

TEST(WriteReport, ReadsWhereItGoes) {
  const auto wanted = [](const char* value) {
    setenv("TONARI_REPORT", value, 1);
    const std::optional<std::string> found = report_destination();
    unsetenv("TONARI_REPORT");
    return found;
  };
  EXPECT_EQ(report_destination(), std::nullopt);
  EXPECT_EQ(wanted(""), std::nullopt);
  EXPECT_EQ(wanted("0"), std::nullopt);
  EXPECT_EQ(wanted("1"), "");
  EXPECT_EQ(wanted("report.json"), "report.json");
  EXPECT_EQ(wanted("10"), "10");
}

TEST(WriteReport, PutsRanksBeforeTheEnding) {
  EXPECT_EQ(with_rank("report.json", 3), "report.3.json");
  EXPECT_EQ(with_rank("/a.b/report", 12), "/a.b/report.12");
  EXPECT_EQ(with_rank("a.b/c.d.txt", 1), "a.b/c.d.1.txt");
  EXPECT_EQ(with_rank(".report", 1), ".report.1");
}

}  // namespace
