// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/rebalanced.hpp"

#include <algorithm>

#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/patterns.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using sharing::any_pattern, sharing::expect_proven, sharing::matrix_of;

// Rebalances a schedule with these hops of {stage, from, to, block}; what every rank sends then.
std::vector<int> sent(const CommunicationMatrix& m, std::vector<BlockHop> hops) {
  const MessageSchedule schedule = rebalanced(m, MessageSchedule(m, std::move(hops)));
  expect_proven(m, schedule, "rebalanced", 1);
  return schedule.metrics(m).sent;
}

TEST(Rebalanced, HandsTheSmallestMessageToOneWithRoom) {
  const CommunicationMatrix m(4, std::vector<Flow>{{0, 1, 5}, {0, 2, 1}});
  EXPECT_EQ(sent(m, {{0, 0, 1, 0}, {0, 0, 2, 1}}), (std::vector<int>{1, 1, 0, 0}));
}

TEST(Rebalanced, GoesWhereMessagesAreAnyway) {
  const CommunicationMatrix m = matrix_of(3, {{0, 1}, {0, 2}, {2, 1}});
  EXPECT_EQ(sent(m, {{0, 0, 1, 0}, {0, 0, 2, 1}, {1, 2, 1, 2}}), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(sent(m, {{0, 0, 1, 0}, {0, 0, 2, 1}, {0, 2, 1, 2}}), (std::vector<int>{1, 1, 1}))
      << "2 writes to 1 too early";
}

// 1 passes the block for 3 on in stage 1, too early for a detour over 2 that is there in stage 1;
// or in stage 2.
TEST(Rebalanced, KeepsToTheStages) {
  const CommunicationMatrix m = matrix_of(4, {{0, 2}, {0, 3}});
  EXPECT_EQ(sent(m, {{0, 0, 2, 0}, {0, 0, 1, 1}, {1, 1, 3, 1}}), (std::vector<int>{2, 1, 0, 0}));
  EXPECT_EQ(sent(m, {{0, 0, 2, 0}, {0, 0, 1, 1}, {2, 1, 3, 1}}), (std::vector<int>{1, 1, 1, 0}));
}

// 0 sends three messages to ranks that all send two, the average rounded up; so one of these hands
// a message on first.
TEST(Rebalanced, MakesRoomFartherOn) {
  const CommunicationMatrix m =
      matrix_of(6, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 4}, {2, 5}, {3, 4}, {3, 5}});
  std::vector<BlockHop> hops;
  for (BlockNumber b = 0; b < m.blocks(); ++b) hops.push_back({0, m.origin(b), m.target(b), b});
  const std::vector<int> after = sent(m, hops);
  EXPECT_EQ(*std::ranges::max_element(after), 2);
}

TEST(Rebalanced, LeavesHubsAlone) {
  const CommunicationMatrix m = matrix_of(6, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  EXPECT_EQ(sent(m, {{0, 0, 1, 0}, {0, 0, 2, 1}, {0, 0, 3, 2}, {0, 0, 4, 3}}),
            (std::vector<int>{4, 0, 0, 0, 0, 0}));
}

// Whatever the routes: proven, never more messages, nobody above both what it sent and the average,
// and the same again.
TEST(Rebalanced, AnyScheduleIsProvenAndNoWorse) {
  std::mt19937 random(8);
  int rebalanced_some = 0;
  for (unsigned seed = 0; seed < test::random_cases(500u); ++seed) {
    const CommunicationMatrix m = any_pattern(random, 48);
    Routes routes;
    for (BlockNumber b = 0; b < m.blocks(); ++b) {
      const auto helper = static_cast<std::int32_t>(random() % static_cast<unsigned>(m.ranks()));
      routes.add(random() % 4
                     ? std::vector{m.origin(b), m.target(b)}
                     : std::vector{m.origin(b), helper == m.target(b) ? m.origin(b) : helper,
                                   m.target(b)});
    }
    for (const MessageSchedule& before :
         {combine(m, routes), combine(m, sharing_routes(m, share_common_messages(m)))}) {
      const MessageSchedule after = rebalanced(m, before);
      expect_proven(m, after, "rebalanced", seed);
      if (HasFatalFailure()) return;
      const ScheduleMetrics was = before.metrics(m), is = after.metrics(m);
      ASSERT_LE(after.messages().size(), before.messages().size());
      for (int r = 0; r < m.ranks(); ++r)
        ASSERT_LE(is.sent[r], std::max(was.sent[r], static_cast<int>(std::ceil(was.average_sent))));
      rebalanced_some += is.most_sent < was.most_sent;
      const MessageSchedule again = rebalanced(m, before);
      ASSERT_TRUE(std::ranges::equal(after.messages(), again.messages(),
                                     [](const CombinedMessage& a, const CombinedMessage& b) {
                                       return a.stage == b.stage && a.from == b.from &&
                                              a.to == b.to && a.first == b.first &&
                                              a.count == b.count;
                                     }));
    }
  }
  EXPECT_GT(rebalanced_some, test::random_cases(100));
}

}  // namespace
}  // namespace tonari
