// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/message_schedule.hpp"

#include "planners/patterns/patterns.hpp"
#include "planners/patterns/routes.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using sharing::any_pattern, sharing::expect_proven, sharing::in_stages, sharing::matrix_of;

Routes routes_of(std::initializer_list<std::vector<std::int32_t>> all) {
  Routes routes;
  for (const auto& via : all) routes.add(via);
  return routes;
}

// Fig. 2.3 of the thesis, ranks from 0: m(0,3) goes to 2 with m(0,2), and on with m(2,3).
TEST(MessageSchedule, CombinesAsInFigure23) {
  const CommunicationMatrix m = matrix_of(5, {{0, 1}, {0, 2}, {0, 3}, {2, 3}, {2, 4}});
  const Routes routes = routes_of({{0, 1}, {0, 2}, {0, 2, 3}, {2, 3}, {2, 4}});
  const MessageSchedule schedule = combine(m, routes);
  expect_proven(m, schedule, "Fig. 2.3", 1);
  ASSERT_EQ(schedule.messages().size(), 4u);
  const auto blocks = [&](int k) {
    const auto s = schedule.blocks(schedule.messages()[k]);
    return std::vector<BlockNumber>(s.begin(), s.end());
  };
  EXPECT_EQ(blocks(1), (std::vector<BlockNumber>{1, 2}));  // M(0,2)
  EXPECT_EQ(blocks(3), (std::vector<BlockNumber>{2, 3}));  // M(2,3)
  EXPECT_EQ(schedule.messages()[3].stage, 1);
  const ScheduleMetrics cost = schedule.metrics(m);
  EXPECT_EQ(cost.sent, (std::vector<int>{2, 0, 2, 0, 0}));
  EXPECT_EQ(cost.received, (std::vector<int>{0, 1, 1, 1, 1}));
  EXPECT_EQ(cost.words_sent, (std::vector<std::uint64_t>{3, 0, 3, 0, 0}));
  EXPECT_EQ(cost.words, 6.0 / 5);
  EXPECT_EQ(cost.most_words_sent, 1);
  EXPECT_EQ(cost.most_words_received, 2.0 / 2);
  EXPECT_EQ(cost.stages, 2);
  EXPECT_EQ(in_stages(m, routes).metrics(m).average_sent, 5.0 / 5);  // m(2,3) does not wait
}

TEST(MessageSchedule, SaysWhatDoesNotArrive) {
  const CommunicationMatrix m = matrix_of(3, {{0, 1}, {0, 2}});
  EXPECT_EQ(MessageSchedule(m, {{0, 0, 1, 0}, {0, 0, 1, 1}}).metrics(m).delivered, 0.5);
  // leaves in the stage it arrives in
  EXPECT_EQ(MessageSchedule(m, {{0, 0, 1, 0}, {0, 0, 1, 1}, {0, 1, 2, 1}}).metrics(m).delivered,
            0.5);
  EXPECT_EQ(MessageSchedule(m, {{0, 0, 1, 0}, {0, 0, 1, 1}, {1, 1, 2, 1}}).metrics(m).delivered, 1);
  EXPECT_EQ(test::error_of([&] { schedule_plans(m, MessageSchedule(m, {{0, 0, 1, 0}})); }).code(),
            Errc::internal);
  EXPECT_EQ(test::error_of([&] {
              schedule_plans(m, MessageSchedule(m, {{0, 0, 1, 0}, {0, 1, 2, 1}}));
            }).code(),
            Errc::internal);
}

// 0 -> 1 waits for 2 -> 0, that for 1 -> 2, and that for 0 -> 1: only one of them goes in two
// parts.
TEST(Combine, BreaksCircles) {
  const CommunicationMatrix m = matrix_of(3, {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}});
  const Routes routes = routes_of({{0, 1}, {0, 1, 2}, {1, 2, 0}, {1, 2}, {2, 0}, {2, 0, 1}});
  const MessageSchedule schedule = combine(m, routes);
  expect_proven(m, schedule, "circle", 1);
  EXPECT_EQ(schedule.messages().size(), 4u);
}

TEST(Routes, CutLoops) {
  Routes routes = routes_of({{0, 3, 0, 1}, {0, 2, 4, 2, 1}, {5, 5, 6}});
  const auto route = [&](int b) {
    return std::vector<std::int32_t>(routes[b].begin(), routes[b].end());
  };
  EXPECT_EQ(route(0), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(route(1), (std::vector<std::int32_t>{0, 2, 1}));
  EXPECT_EQ(route(2), (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(sharing::most_hops(routes), 2);
}

// Any walks at all, with many circles: as few messages as pairs or a few more, always proven.
TEST(Combine, AnyRoutesAreProven) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const CommunicationMatrix m = any_pattern(random, 24);
    Routes routes;
    for (BlockNumber b = 0; b < m.blocks(); ++b) {
      std::vector<std::int32_t> via{m.origin(b)};
      for (unsigned hops = random() % 4; hops > 0; --hops)
        via.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(m.ranks())));
      via.push_back(m.target(b));
      // A walk that passes its target stops there
      via.erase(std::find(via.begin(), via.end(), m.target(b)) + 1, via.end());
      routes.add(via);
    }
    expect_proven(m, combine(m, routes), "together", seed);
    expect_proven(m, in_stages(m, routes), "in stages", seed);
    expect_proven(m, direct_schedule(m), "direct", seed);
    if (HasFatalFailure()) return;
    EXPECT_LE(combine(m, routes).messages().size(), in_stages(m, routes).messages().size());
    EXPECT_EQ(direct_schedule(m).messages().size(), m.blocks());
  }
}

TEST(SchedulePlan, OneRankAloneIsTheSame) {
  std::mt19937 random(6);
  const CommunicationMatrix m = any_pattern(random, 20);
  const MessageSchedule schedule = direct_schedule(m);
  const std::vector<Plan> all = schedule_plans(m, schedule);
  for (int r = 0; r < m.ranks(); ++r)
    EXPECT_EQ(schedule_plan(m, schedule, r).size(), all[r].size());
}

}  // namespace
}  // namespace tonari
