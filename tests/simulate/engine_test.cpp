// SPDX-License-Identifier: BSD-3-Clause
// The engine against the naive simulation of the same rules, to the bit.
#include "simulate/engine.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "simulate/schedules.hpp"

namespace tonari::sim {
namespace {

TEST(SimulateEngine, OneMessageTakesWhatTheModelSays) {
  ScheduleBuilder builder;
  builder.add(Act::send, 11, 1, 0);
  builder.end_rank();
  builder.add(Act::recv, 11, 0, 0);
  builder.end_rank();
  Machine m;
  m.network = {1000, 300, 50, 7, true};
  const Outcome outcome = run(builder.take(), m);
  EXPECT_EQ(outcome.end, 300u + 1000 + 300 + 10 * 7);
  EXPECT_EQ(outcome.events, 3u);
}

TEST(SimulateEngine, SendsOfOneRankAreApartByTheGap) {
  ScheduleBuilder builder;
  for (std::uint32_t k = 0; k < 3; ++k) builder.add(Act::send, 1, 1, k);
  builder.end_rank();
  for (std::uint32_t k = 0; k < 3; ++k) builder.add(Act::recv, 1, 0, k);
  builder.end_rank();
  Machine m;
  m.network = {1000, 10, 400, 0, true};
  EXPECT_EQ(run(builder.take(), m).end, 2u * 400 + 10 + 1000 + 10);
}

TEST(SimulateEngine, EqualsTheNaiveOneOnRandomSchedules) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const std::uint32_t ranks = 1 + below(random, 6);
    const Schedule schedule = random_schedule(random, ranks, 1 + below(random, 25), 0);
    const Machine machine = random_machine(random);
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << "seed " << seed;
  }
}

TEST(SimulateEngine, EqualsTheNaiveOneWithNodesInterfacesHopsAndNoise) {
  const char* const networks[] = {"flat", "torus:4x3", "fat-tree:2", "dragonfly:2,1"};
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Schedule schedule = random_schedule(random, 2 + below(random, 6), 25, 0);
    Machine machine = random_machine(random);
    machine.ranks_per_node = 1 + below(random, 3);
    machine.ranks_per_nic = 1 + below(random, 3);
    machine.noise = {3 + below(random, 20), 1 + below(random, 2), seed};
    machine.topology = topology_from_text(networks[seed % std::size(networks)]);
    machine.hop = below(random, 4);
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << "seed " << seed;
  }
}

// A receive that takes any tag may take what another waits for: those never end.
TEST(SimulateEngine, EqualsTheNaiveOneWhereTagsRepeat) {
  int ended = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    Schedule schedule = random_schedule(random, 2 + below(random, 4), 20, 1 + below(random, 3));
    Machine machine = random_machine(random);
    machine.eager = 100;
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << "seed " << seed;
    for (Step& step : schedule.steps)
      if (step.act == Act::recv && below(random, 4) == 0) step.other = any;
    Ticks end = 0;
    if (error_of([&] { end = run(schedule, machine).end; })) continue;
    ASSERT_EQ(end, naive(schedule, machine)) << "seed " << seed;
    ++ended;
  }
  EXPECT_GT(ended, 300);
}

// By hand: each number of the machine as often as ranks share a core, and a turn for each of them.
TEST(SimulateEngine, RanksThatShareCoresTakeTurns) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const std::uint32_t cores = 1 + below(random, 2), each = 1 + below(random, 3);
    const Schedule schedule = random_schedule(random, cores * each, 25, 0);
    Machine machine = random_machine(random), by_hand = machine;
    machine.ranks_per_node = by_hand.ranks_per_node = 2;
    machine.sharing = {1, cores, 5};
    Schedule longer = schedule;
    for (Step& step : longer.steps)
      if (step.act == Act::calc) step.size *= each;
    for (Link* link : {&by_hand.self, &by_hand.node, &by_hand.network})
      for (Ticks Link::* number : {&Link::overhead, &Link::gap, &Link::byte}) link->*number *= each;
    for (Ticks* waits : {&by_hand.node.latency, &by_hand.network.latency, &by_hand.rendezvous})
      *waits += each > 1 ? each * 5 : 0;
    ASSERT_EQ(run(schedule, machine).end, run(longer, by_hand).end) << "seed " << seed;
    machine.sharing = {each, 0, 5};
    ASSERT_EQ(run(schedule, machine).end, run(longer, by_hand).end) << "seed " << seed;
  }
}

// Three ranks on two cores take half as long again; with a core each, all is as before.
TEST(SimulateEngine, CoresAreSharedByAllRanks) {
  ScheduleBuilder builder;
  for (int rank = 0; rank < 3; ++rank) {
    builder.add(Act::calc, 1000);
    builder.end_rank();
  }
  const Schedule schedule = builder.take();
  Machine m;
  m.sharing.cores = 2;
  EXPECT_EQ(run(schedule, m).end, 1500u);
  m.sharing.cores = 3;
  EXPECT_EQ(run(schedule, m).end, 1000u);
}

TEST(SimulateEngine, NoiseMakesItNoFasterAndItsSeedMatters) {
  Random random(7);
  const Schedule schedule = random_schedule(random, 8, 60, 0);
  Machine machine = random_machine(random);
  const Ticks quiet = run(schedule, machine).end;
  machine.noise = {50, 20, 1};
  const Ticks one = run(schedule, machine).end;
  EXPECT_GT(one, quiet);
  std::vector<Ticks> ends;
  for (machine.noise.seed = 1; machine.noise.seed < 9; ++machine.noise.seed)
    ends.push_back(run(schedule, machine).end);
  EXPECT_EQ(ends.front(), one);
  EXPECT_NE(std::count(ends.begin(), ends.end(), one), 8);
}

TEST(SimulateMachine, ScalesOneParameterOfItsNetwork) {
  Machine m;
  m.network = {1000, 300, 50, 7, true};
  m.node = m.self = {10, 20, 30, 40, false};
  for (const char* name : {"L", "o", "g", "G"}) {
    const Machine twice = scaled(m, name, 2);
    for (const char* other : {"L", "o", "g", "G"})
      EXPECT_EQ(parameter_of(twice, other),
                parameter_of(m, other) * (std::string(other) == name ? 2 : 1));
    EXPECT_EQ(twice.node.latency, 10u);
    EXPECT_EQ(twice.self.overhead, 20u);
  }
  EXPECT_EQ(parameter_of(scaled(m, "G", 0.5), "G"), 4u);  // the nearest
  const auto unknown = error_of([&] { scaled(m, "l", 2); });
  ASSERT_TRUE(unknown);
  EXPECT_STREQ(unknown->what(), "there is no parameter 'l'; choose L, o, g or G");
  const auto below = error_of([&] { scaled(m, "L", -1); });
  ASSERT_TRUE(below);
  EXPECT_STREQ(below->what(), "the factor of L is -1; it must be 0 or more");
}

std::string refusal(const Schedule& schedule, const Machine& machine) {
  const auto error = error_of([&] { run(schedule, machine); });
  return error ? error->what() : "";
}

TEST(SimulateEngine, SaysWhichRankWaitsForever) {
  ScheduleBuilder builder;
  builder.end_rank();
  builder.add(Act::recv, 1, 0, 7);
  builder.end_rank();
  builder.schedule().matched = false;
  EXPECT_EQ(refusal(builder.take(), {}),
            "the schedule never ends: 1 steps wait for each other, the first of them on rank 1");
}

TEST(SimulateEngine, RefusesWhatItHasNoRoomFor) {
  Schedule schedule;
  schedule.ranks = 500'000'000;
  schedule.dims = {500'000'000};
  schedule.shifts.resize(1);
  schedule.steps.resize(10);
  schedule.after_begin.resize(11);
  EXPECT_NE(refusal(schedule, {}).find("use fewer ranks"), std::string::npos);
  ScheduleBuilder builder;
  builder.add(Act::calc, longest_time);
  builder.end_rank();
  EXPECT_NE(refusal(builder.take(), {}).find("use smaller blocks"), std::string::npos);
}

}  // namespace
}  // namespace tonari::sim
