// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/store_and_forward.hpp"

#include "planners/patterns/data_set.hpp"
#include "planners/patterns/patterns.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using sharing::any_pattern, sharing::expect_proven, sharing::matrix_of;

// Fig. 3.1, with dimensions in our order: from 0 to 8 of a mesh of 3 x 3.
TEST(StoreAndForward, GoesDimensionByDimension) {
  const CommunicationMatrix m = matrix_of(9, {{0, 2}, {0, 8}});
  const Routes routes = forward_routes(m, std::vector{3, 3});
  EXPECT_EQ(std::vector<std::int32_t>(routes[0].begin(), routes[0].end()),
            (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(std::vector<std::int32_t>(routes[1].begin(), routes[1].end()),
            (std::vector<std::int32_t>{0, 2, 8}));
  EXPECT_EQ(store_and_forward(m, 2).metrics(m).sent[0], 1);
}

// 7 ranks as 3 x 3: from 6 to 4 by way of 7, which is missing; 4, one layer below, is the target
// itself.
TEST(StoreAndForward, GoesAroundMissingRanks) {
  const CommunicationMatrix m = matrix_of(7, {{6, 1}, {6, 4}});
  const Routes routes = forward_routes(m, std::vector{3, 3});
  EXPECT_EQ(std::vector<std::int32_t>(routes[0].begin(), routes[0].end()),
            (std::vector<std::int32_t>{6, 4, 1}));
  EXPECT_EQ(std::vector<std::int32_t>(routes[1].begin(), routes[1].end()),
            (std::vector<std::int32_t>{6, 4}));
  EXPECT_EQ(test::error_of([&] { forward_routes(m, std::vector{3, 2}); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { forward_routes(m, std::vector{3, 4}); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { forward_routes(m, std::vector{7, 0}); }).code(), Errc::argument);
}

// Proven, and within the bounds of the header, for every n.
TEST(StoreAndForward, EveryNumberOfDimensionsIsProvenOnAnyPattern) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < test::random_cases(150u); ++seed) {
    const CommunicationMatrix m = any_pattern(random, 64);
    for (int n = 1; n <= most_dimensions(m.ranks()); ++n) {
      const std::vector<int> sizes = virtual_topology(m.ranks(), n);
      const MessageSchedule schedule = store_and_forward(m, n);
      expect_proven(m, schedule, "store and forward", seed);
      if (HasFatalFailure()) return;
      int bound = 0;
      for (int size : sizes) bound += size - 1;
      const ScheduleMetrics cost = schedule.metrics(m);
      ASSERT_LE(cost.most_sent, bound);
      ASSERT_LE(cost.most_received, 2 * bound);
      ASSERT_LE(cost.stages, n);
    }
  }
}

TEST(StoreAndForward, ReachesItsBoundWhereAllTalkToAll) {
  std::vector<Flow> flows;
  for (int a = 0; a < 64; ++a)
    for (int b = 0; b < 64; ++b) flows.push_back({a, b, 1});
  const CommunicationMatrix m(64, flows);
  for (const auto& [n, messages] : {std::pair(1, 63), {2, 14}, {3, 9}, {6, 6}}) {
    const ScheduleMetrics cost = store_and_forward(m, n).metrics(m);
    EXPECT_EQ(cost.most_sent, messages);
    EXPECT_EQ(cost.average_sent, messages);
    EXPECT_EQ(cost.stages, n);
  }
}

// Average and maximum messages, words.
struct Known {
  const char* name;
  int n;
  double average;
  int most;
  double words;
};

void expect_known(const CommunicationMatrix& m, const Known& known) {
  const ScheduleMetrics cost = store_and_forward(m, known.n).metrics(m);
  EXPECT_NEAR(cost.average_sent, known.average, 0.051) << known.name;
  EXPECT_EQ(cost.most_received, known.most) << known.name;
  EXPECT_NEAR(cost.words, known.words, 0.0051) << known.name;
}

// The numbers of shared/data/README.md. They are for the dimensions in the other order; these
// patterns are symmetric, so what was sent there is received here.
TEST(StoreAndForward, KnownNumbersOfTheDataSet) {
  int found = 0;
  for (const Known& row : {Known{"sparsine", 2, 34.9, 46, 1.54},
                           {"sparsine", 3, 18.2, 21, 2.04},
                           {"Andrews", 2, 30.6, 43, 1.24},
                           {"Andrews", 3, 17.6, 21, 1.61},
                           {"bcsstk29", 2, 7.7, 15, 1.20},
                           {"model-TSOPF", 3, 15.2, 20, 2.73},
                           {"CA-AstroPh", 2, 39.5, 46, 1.70}}) {
    const auto m = sharing::data_set(row.name);
    if (!m) continue;
    ++found;
    expect_known(*m, row);
  }
  if (!found) GTEST_SKIP() << "shared/data is not here";
}

TEST(StoreAndForward, KnownNumbersOfBundledMatrices) {
  for (const Known& row : {Known{"sparsine", 2, 34.9, 46, 1.54},
                           {"sparsine", 3, 18.2, 21, 2.04},
                           {"bcsstk29", 2, 7.7, 15, 1.20},
                           {"bcsstk29", 3, 7.3, 12, 1.46},
                           {"fe_pwt", 2, 6.6, 13, 1.13},
                           {"fe_pwt", 3, 6.6, 12, 1.42},
                           {"finan512", 2, 6.0, 10, 1.02},
                           {"finan512", 3, 5.9, 9, 1.17}}) {
    const auto m = sharing::bundled(row.name);
    ASSERT_TRUE(m) << row.name;
    expect_known(*m, row);
  }
}

}  // namespace
}  // namespace tonari
