// SPDX-License-Identifier: BSD-3-Clause
// Schedules as GOAL text, there and back.
#include "simulate/goal.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "simulate/engine.hpp"
#include "simulate/schedules.hpp"

namespace tonari::sim {
namespace {

std::string goal_of(const Schedule& schedule) {
  std::ostringstream out;
  write_goal(out, schedule);
  return out.str();
}

Ticks end_of(const Schedule& schedule, const Machine& machine) {
  return run(schedule, machine).end;
}

TEST(Goal, TextIsWhatTheGrammarSays) {
  ScheduleBuilder builder;
  builder.add(Act::calc, 100'000'000);
  builder.add(Act::send, 8, 1, 0);
  builder.require(1, 0);
  builder.end_rank();
  builder.add(Act::recv, 8, 0, 1);
  builder.end_rank();
  const Schedule schedule = builder.take();
  EXPECT_EQ(goal_of(schedule),
            "num_ranks 2\nrank 0 {\nl0: calc 100\nl1: send 8b to 1 tag 0\nl1 requires l0\n}\n"
            "rank 1 {\nl0: recv 8b from 0 tag 0\n}\n");
}

// A long message from a rank to itself may be what its receive waits for: those never end.
TEST(Goal, RandomSchedulesComeBackAndTakeTheSameTimeToTheBit) {
  int ended = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    Schedule schedule = random_schedule(random, 1 + below(random, 6), 1 + below(random, 25), 0);
    for (Step& step : schedule.steps)
      if (step.act == Act::calc) step.size *= 1'000'000;
    Machine machine = without_classes(random_machine(random));
    for (Ticks* part : {&machine.network.latency, &machine.network.overhead, &machine.network.gap})
      *part *= 1'000'000;
    machine = without_classes(machine);
    const std::string text = goal_of(schedule);
    const Schedule back = read_goal(text, "a file");
    ASSERT_EQ(goal_of(back), text);
    Ticks end = 0;
    const bool ends = !error_of([&] { end = end_of(schedule, machine); });
    ASSERT_EQ(ends, !error_of([&] { end_of(back, machine); }));
    if (!ends) continue;
    ++ended;
    ASSERT_EQ(end_of(back, machine), end) << "seed " << seed;
  }
  EXPECT_GT(ended, 500);
}

TEST(Goal, EverythingThatTheGrammarAllowsIsRead) {
  const Schedule schedule = read_goal(
      "// a comment\n\nnum_ranks 2\r\nrank 0 { /* a long\n one */\n send 10b to 1\n"
      "  later : calc 5 cpu 0\nsend 3 b to 1 tag 7 cpu 0 nic 0\nx: calc 1\nx irequires later\n}\n"
      "\nrank 1 {\nrecv 10b from -1\nrecv 3b from 0 tag -1\n}\n",
      "a file");
  ASSERT_EQ(schedule.steps.size(), 6u);
  EXPECT_EQ(schedule.ranks, 2u);
  EXPECT_EQ(schedule.steps[2].other, 7u);
  EXPECT_EQ(schedule.steps[3].waits, 1u);
  EXPECT_EQ(schedule.steps[4].peer, any);
  EXPECT_EQ(schedule.steps[5].other, any);
  ASSERT_EQ(schedule.after.size(), 1u);
  EXPECT_TRUE(schedule.after[0].started);
  Machine machine;
  machine.network = {10, 1, 0, 0, true};
  EXPECT_EQ(end_of(schedule, without_classes(machine)), naive(schedule, without_classes(machine)));
}

struct Wrong {
  const char *text, *sentence;
};
class Refused : public testing::TestWithParam<Wrong> {};

TEST_P(Refused, SaysTheLineAndWhatIsExpected) {
  const auto error = error_of([&] { read_goal(GetParam().text, "f.goal"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::file);
  EXPECT_EQ(std::string(error->what()), std::string("f.goal: line ") + GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Goal, Refused,
    testing::Values(
        Wrong{"", "1: 'num_ranks' is expected, and the file ends"},
        Wrong{"num_ranks 0\n", "1: num_ranks must be at least 1, and the line ends"},
        Wrong{"num_ranks 2147483648",
              "1: num_ranks must be a number from 0 to 1073741823, not "
              "'2147483648'"},
        Wrong{"num_ranks 2\nrank 1 {\n",
              "2: ranks must come in order, and rank 0 is next, not '{'"},
        Wrong{"num_ranks 1\nrank 0 {\nsend 1b to 1\n}",
              "3: a rank must be a number from 0 to 0, not '1'"},
        Wrong{"num_ranks 1\nrank 0 {\nrecv 1b to 0\n}", "3: 'from' is expected, not 'to'"},
        Wrong{"num_ranks 1\nrank 0 {\nsend 1 to 0\n}", "3: 'b' is expected, not 'to'"},
        Wrong{"num_ranks 1\nrank 0 {\ncalc -1\n}",
              "3: a calculation must be a number from 0 to 1152921504606, not '-1'"},
        Wrong{"num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}",
              "4: label a is given twice, not 'calc'"},
        Wrong{"num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}",
              "4: label b is not defined before, and the line ends"},
        Wrong{"num_ranks 1\nrank 0 {\na: calc 1\na needs a\n}",
              "4: ':', requires or irequires is expected, not 'needs'"},
        Wrong{"num_ranks 1\nrank 0 {\ncalc 1 cpu 1\n}",
              "3: a rank has one processor and one interface, so cpu and nic must be 0, and the "
              "line ends"},
        Wrong{"num_ranks 1\nrank 0 {\ncalc 1\n",
              "4: a label such as l1 is expected, and the file ends"},
        Wrong{"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}",
              "4: all ranks are there, and nothing more is expected, not 'rank'"}));

TEST(Goal, FilesThatCannotBeReadOrWrittenAreNamed) {
  const auto reading = error_of([] { read_goal_file("/nowhere/f.goal"); });
  ASSERT_TRUE(reading);
  EXPECT_EQ(std::string(reading->what()),
            "/nowhere/f.goal: cannot be read; name a readable file with a GOAL schedule");
  const auto writing = error_of([] { write_goal_file("/nowhere/f.goal", Schedule()); });
  ASSERT_TRUE(writing);
  EXPECT_EQ(writing->code(), Errc::file);
}

TEST(Goal, AStepThatWaitsForItselfNeverEnds) {
  const Schedule schedule = read_goal("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}", "f");
  EXPECT_TRUE(error_of([&] { run(schedule, {}); }));
}

}  // namespace
}  // namespace tonari::sim
