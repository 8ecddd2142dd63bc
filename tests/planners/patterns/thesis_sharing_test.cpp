// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/thesis_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "planners/patterns/data_set.hpp"
#include "planners/patterns/patterns.hpp"
#include "planners/patterns/thesis_pseudocode.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using sharing::any_pattern, sharing::expect_proven, sharing::in_stages, sharing::matrix_of;

using Numbers = std::vector<std::int32_t>;

std::vector<sharing::Ints> as_lists(const std::vector<ThesisPairing>& pairings) {
  std::vector<sharing::Ints> all;
  for (const ThesisPairing& p : pairings) all.push_back({p.most, p.other, p.before, p.after});
  return all;
}

MessageSchedule planned(const CommunicationMatrix& m, int phases) {
  return combine(m, thesis_routes(m, phases));
}

// Fig. 2.3, ranks from 0. One target in common makes 2 the friend of 0, and alpha is 1.
TEST(ThesisSharing, Figure23) {
  const CommunicationMatrix m = matrix_of(5, {{0, 1}, {0, 2}, {0, 3}, {2, 3}, {2, 4}});
  const ThesisSenders phase = thesis_senders(m);
  EXPECT_EQ(phase.sender, (Numbers{0, 0, 2, 2, 2}));
  EXPECT_EQ(phase.counted, (Numbers{2, 0, 2, 0, 0}));
  EXPECT_EQ(as_lists(phase.pairings), (std::vector<sharing::Ints>{{0, 2, 3, 2}, {0, 2, 2, 2}}));
  const MessageSchedule schedule = planned(m, 1);
  expect_proven(m, schedule, "Fig. 2.3", 1);
  EXPECT_EQ(schedule_text(m, schedule),
            "tonari schedule 1\n"
            "ranks 5\n"
            "# stage from to: blocks\n"
            "0 0 1: 0-1\n"
            "0 0 2: 0-2 0-3\n"  // M(1,3) = {m(1,3), m(1,4)}
            "0 2 4: 2-4\n"
            "1 2 3: 0-3 2-3\n");  // M(3,4) = {m(1,4), m(3,4)}
}

// Figs. 4.1 and 4.2: three messages stay with either, and one goes each way between them, which the
// thesis does not count.
TEST(ThesisSharing, Figure42) {
  std::vector<Flow> flows;
  for (int a : {0, 1})
    for (int t = 2; t < 8; ++t) flows.push_back({a, t, 1});
  const CommunicationMatrix m(8, flows);
  const ThesisSenders phase = thesis_senders(m);
  EXPECT_EQ(phase.sender, (Numbers{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(phase.counted, (Numbers{3, 3, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(as_lists(phase.pairings), (std::vector<sharing::Ints>{{0, 1, 6, 3}, {0, 1, 3, 3}}));
  expect_proven(m, planned(m, 1), "Fig. 4.2", 1);
  EXPECT_EQ(planned(m, 1).metrics(m).sent, (std::vector<int>{4, 4, 0, 0, 0, 0, 0, 0}));
}

// Figs. 4.3 to 4.5: SendSet(0) = {1,2,3} and SendSet(3) = {0,1,2} have 1 and 2 in common, and each
// rank is the sender of its own. Then alpha = (2 + 0) / 2, in ascending order of targets.
TEST(ThesisSharing, Figures43To45) {
  const CommunicationMatrix m = matrix_of(
      4, {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}});
  ThesisSenders state = thesis_start(m);
  EXPECT_EQ(state.sender, (Numbers{0, 0, 0, 1, 1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(state.counted, (Numbers{3, 2, 2, 3}));
  thesis_pair(m, 0, 3, state);
  EXPECT_EQ(state.sender, (Numbers{3, 0, 0, 1, 1, 2, 2, 3, 3, 0}));
  EXPECT_EQ(state.counted, (Numbers{2, 2, 2, 2}));
}

// §4.2.2: 100 and 80 messages. Of 10 common ones all go to the friend, of 40 alpha = 30.
TEST(ThesisSharing, TheExamplesOfSection422) {
  for (const auto& [common, most, other] : {std::tuple(10, 90, 80), {40, 70, 70}}) {
    std::vector<Flow> flows;
    for (int t = 2; t < 102; ++t) flows.push_back({0, t, 1});
    for (int t = 102 - common; t < 182 - common; ++t) flows.push_back({1, t, 1});
    const CommunicationMatrix m(182, flows);
    ThesisSenders state = thesis_start(m);
    ASSERT_EQ(state.counted[0], 100);
    ASSERT_EQ(state.counted[1], 80);
    thesis_pair(m, 0, 1, state);
    EXPECT_EQ(state.counted[0], most);
    EXPECT_EQ(state.counted[1], other);
    EXPECT_EQ(std::ranges::count(state.sender, 1), other + 100 - most);
  }
}

// Rank r of three sends to 3, ..., 8, and `giver` has given its blocks for 3, 4 and 5 to 2.
struct Trio {
  explicit Trio(int giver) {
    std::vector<Flow> flows;
    for (int a : {0, 1, 2})
      for (int t = 3; t < 9; ++t) flows.push_back({a, t, 1});
    m = CommunicationMatrix(9, flows);
    state = thesis_start(m);
    for (int t : {3, 4, 5}) state.sender[m.find(giver, t)] = 2;
    state.counted[giver] -= 3;
  }
  Numbers senders(int rank) const {
    return {state.sender.begin() + 6 * rank, state.sender.begin() + 6 * (rank + 1)};
  }
  CommunicationMatrix m{0, {}};
  ThesisSenders state;
};

// Case 2, Fig. 4.7: P_max gives to 2 what P_friend sends through it. Then both have 3 messages, for
// the same targets: alpha = 1.
TEST(ThesisSharing, SingletonToNonSingleton) {
  Trio trio(1);
  thesis_pair(trio.m, 0, 1, trio.state);
  EXPECT_EQ(trio.senders(0), (Numbers{2, 2, 2, 1, 0, 0}));
  EXPECT_EQ(trio.senders(1), (Numbers{2, 2, 2, 1, 0, 0}));
  EXPECT_EQ(trio.senders(2), (Numbers{2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(trio.state.counted, (Numbers{2, 1, 6, 0, 0, 0, 0, 0, 0}));
}

// Case 3, Fig. 4.8: the same from the other side.
TEST(ThesisSharing, NonSingletonToSingleton) {
  Trio trio(0);
  thesis_pair(trio.m, 0, 1, trio.state);
  EXPECT_EQ(trio.senders(0), (Numbers{2, 2, 2, 1, 0, 0}));
  EXPECT_EQ(trio.senders(1), (Numbers{2, 2, 2, 1, 0, 0}));
  EXPECT_EQ(trio.state.counted, (Numbers{2, 1, 6, 0, 0, 0, 0, 0, 0}));
}

// Case 4, Fig. 4.9: 0 sends to 4 through 2, and 1 to 5 through 3. Each gives to the other's group,
// but for messages to its own one. 6 is shared at last.
TEST(ThesisSharing, NonSingletonToNonSingleton) {
  const CommunicationMatrix m = matrix_of(
      7, {{0, 2}, {0, 4}, {0, 5}, {0, 6}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {2, 4}, {3, 2}, {3, 5}});
  ThesisSenders state = thesis_start(m);
  state.sender[m.find(0, 4)] = 2;
  state.sender[m.find(1, 5)] = 3;
  --state.counted[0], --state.counted[1];
  thesis_pair(m, 0, 1, state);
  EXPECT_EQ(state.sender[m.find(0, 5)], 3);
  EXPECT_EQ(state.sender[m.find(1, 4)], 2);
  EXPECT_EQ(state.sender[m.find(0, 6)], 0);  // alpha = (1 + 2 - 2) / 2 = 0: 1 gives
  EXPECT_EQ(state.sender[m.find(1, 6)], 0);
  EXPECT_EQ(state.counted, (Numbers{2, 1, 1, 2, 0, 0, 0}));
}

// The example of Case 3: 0 sends to 4 through 3, so its message to 3 stays, though 1 writes there.
TEST(ThesisSharing, KeepsTheMessageToItsGroup) {
  const CommunicationMatrix m =
      matrix_of(8, {{0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {1, 3}, {1, 5}, {3, 4}});
  ThesisSenders state = thesis_start(m);
  state.sender[m.find(0, 4)] = 3;
  --state.counted[0];
  thesis_pair(m, 0, 1, state);
  EXPECT_EQ(state.sender[m.find(0, 3)], 0);
  EXPECT_EQ(state.sender[m.find(0, 5)], 1);
  EXPECT_EQ(state.counted[0], 3);
}

// Two ranks that both write to one target, and nothing else: alpha = (1 + 1 - 1) / 2 = 0, so the
// friend gives its message, P_max keeps its own, and Phase I stops.
TEST(ThesisSharing, StopsThoughOthersCouldGoOn) {
  const CommunicationMatrix m = matrix_of(8, {{0, 6}, {0, 7}, {1, 7}, {1, 5}, {2, 3}, {4, 3}});
  const ThesisSenders phase = thesis_senders(m);
  EXPECT_EQ(as_lists(phase.pairings), (std::vector<sharing::Ints>{{0, 1, 2, 2}}));
  EXPECT_EQ(phase.sender[m.find(1, 7)], 0);
  EXPECT_EQ(phase.sender[m.find(2, 3)], 2) << "2 and 4 were never P_max";
  EXPECT_EQ(phase.counted, (Numbers{2, 1, 1, 0, 1, 0, 0, 0}));
}

// 0 alone writes, to 1, ..., 4. Two messages go over 1, then the one to 1 over 2. Now 1 is P_max,
// and has no message of its own to give.
TEST(ThesisSharing, PhaseTwoByHand) {
  const CommunicationMatrix m = matrix_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  EXPECT_EQ(thesis_senders(m).pairings.size(), 1u);
  const ThesisHelpers phase = thesis_helpers(m);
  EXPECT_EQ(phase.helper, (Numbers{2, 1, 1, ThesisHelpers::nobody}));
  EXPECT_EQ(phase.counted, (Numbers{1, 2, 1, 0, 0}));
  EXPECT_EQ(as_lists(phase.pairings),
            (std::vector<sharing::Ints>{{0, 1, 4, 2}, {0, 2, 2, 1}, {1, 3, 2, 2}}));
  expect_proven(m, planned(m, 2), "Phase II", 1);
  EXPECT_EQ(planned(m, 2).metrics(m).sent, (std::vector<int>{3, 2, 1, 0, 0}));
}

// Rank 1 gives 0 four messages, of which that to 2 is not counted: 0 writes there anyway. When 0 is
// P_max, this is the only one that it could give, and it stays.
TEST(ThesisSharing, PhaseTwoDoesNotPassOnWhatWasGiven) {
  std::vector<Flow> flows{{0, 2, 1}};
  for (int t = 2; t < 12; ++t) {
    flows.push_back({1, t, 1});
    flows.push_back({t, 1, 1});
  }
  const CommunicationMatrix after(12, flows);
  const ThesisHelpers phase = thesis_helpers(after);
  EXPECT_EQ(as_lists(phase.pairings),
            (std::vector<sharing::Ints>{{1, 0, 10, 6}, {1, 2, 6, 4}, {0, 3, 4, 4}}));
  EXPECT_EQ(phase.helper[after.find(1, 2)], 0);
  EXPECT_EQ(phase.helper[after.find(0, 2)], ThesisHelpers::nobody);
}

// The three rules of §5, for what Phase I made of Fig. 2.3.
TEST(ThesisSharing, MatrixOfPhaseTwo) {
  const CommunicationMatrix m = matrix_of(5, {{0, 1}, {0, 2}, {0, 3}, {2, 3}, {2, 4}});
  const CommunicationMatrix after = second_hop_matrix(m, {thesis_senders(m).sender});
  ASSERT_EQ(after.blocks(), 4u);
  EXPECT_EQ(after.words(after.find(0, 2)), 2u);
  EXPECT_EQ(after.words(after.find(2, 3)), 2u);
}

void expect_as_written(const CommunicationMatrix& m, unsigned seed) {
  const sharing::Pseudocode one = sharing::phase_one(m);
  const ThesisSenders phase = thesis_senders(m);
  ASSERT_EQ(phase.sender, one.sender) << seed;
  ASSERT_EQ(phase.counted, one.outgoing_size) << seed;
  ASSERT_EQ(as_lists(phase.pairings), one.iterations) << seed;
  const CommunicationMatrix after = second_hop_matrix(m, {phase.sender});
  const sharing::Pseudocode two = sharing::phase_two(after);
  const ThesisHelpers helpers = thesis_helpers(after);
  ASSERT_EQ(helpers.helper, two.helper) << seed;
  ASSERT_EQ(helpers.counted, two.outgoing_size) << seed;
  ASSERT_EQ(as_lists(helpers.pairings), two.iterations) << seed;
}

// §4.1: a target in common is left to one of the pair, or both still write there. Every iteration
// but the last lowers P_max, which sends the most; a sender in between has something for the
// target itself.
void expect_rules(const CommunicationMatrix& m, unsigned seed) {
  const ThesisSenders phase = thesis_senders(m);
  for (std::size_t k = 0; k < phase.pairings.size(); ++k) {
    const auto& [most, other, before, after] = phase.pairings[k];
    ASSERT_NE(most, other) << seed;
    ASSERT_EQ(after < before, k + 1 < phase.pairings.size()) << seed;
    ASSERT_TRUE(k == 0 || before <= phase.pairings[k - 1].before) << seed;
  }
  for (BlockNumber b = 0; b < m.blocks(); ++b)
    ASSERT_NE(m.find(phase.sender[b], m.target(b)), CommunicationMatrix::none) << seed;
}

TEST(ThesisSharing, IsThePseudocodeAndProvenOnAnyPattern) {
  std::mt19937 random(7);
  int helped = 0, friends_of_one = 0, friends_of_many = 0;
  for (unsigned seed = 0; seed < test::random_cases(400u); ++seed) {
    const CommunicationMatrix m = any_pattern(random, 40);
    expect_as_written(m, seed);
    expect_rules(m, seed);
    for (int phases : {1, 2}) {
      const Routes routes = thesis_routes(m, phases);
      expect_proven(m, combine(m, routes), "thesis", seed);
      expect_proven(m, in_stages(m, routes), "thesis in stages", seed);
      ASSERT_LE(sharing::most_hops(routes), 2 * phases);
      helped += combine(m, routes).metrics(m).most_sent < m.statistics().most_sent;
    }
    if (HasFatalFailure()) return;
    const ThesisSenders phase = thesis_senders(m);
    for (const ThesisPairing& p : phase.pairings) {
      const sharing::Pseudocode begin = sharing::start(m);
      const std::size_t both = sharing::common(begin, p.most, p.other).size();
      friends_of_one += both == 1 && p.after < p.before;
      friends_of_many += p.after < p.before && both > 1;
    }
  }
  EXPECT_GT(helped, test::random_cases(150));
  EXPECT_GT(friends_of_one, test::random_cases(5));
  EXPECT_GT(friends_of_many, test::random_cases(100));
}

TEST(ThesisSharing, NothingToShare) {
  for (int ranks : {0, 1, 2}) {
    const CommunicationMatrix m(ranks, {});
    for (int phases : {1, 2}) EXPECT_TRUE(planned(m, phases).messages().empty());
  }
  const CommunicationMatrix m = matrix_of(2, {{0, 1}, {1, 0}});
  EXPECT_EQ(planned(m, 2).messages().size(), 2u);
  for (int phases : {0, 3}) {
    const Error error = test::error_of([&] { thesis_routes(m, phases); });
    EXPECT_EQ(error.code(), Errc::argument);
    EXPECT_STREQ(
        error.what(),
        ("message sharing with " + std::to_string(phases) + " phases: give 1 or 2").c_str());
  }
}

// Messages of the average and of the busiest rank, at 512 ranks.
TEST(ThesisSharing, BundledMatrices) {
  struct Expected {
    const char* name;
    double average[2];
    int most[2];
  };
  for (const Expected& e : {Expected{"sparsine", {62.9, 62.7}, {127, 65}},
                            {"bcsstk29", {6.4, 6.6}, {8, 8}},
                            {"fe_pwt", {6.1, 6.4}, {9, 8}},
                            {"finan512", {4.9, 5.0}, {7, 6}}}) {
    const auto m = sharing::bundled(e.name);
    ASSERT_TRUE(m) << e.name;
    for (int phases : {1, 2}) {
      const MessageSchedule schedule = planned(*m, phases);
      expect_proven(*m, schedule, e.name, 1);
      const ScheduleMetrics cost = schedule.metrics(*m);
      EXPECT_EQ(std::round(cost.average_sent * 10) / 10, e.average[phases - 1]) << e.name;
      EXPECT_EQ(cost.most_sent, e.most[phases - 1]) << e.name;
    }
  }
}

}  // namespace
}  // namespace tonari
