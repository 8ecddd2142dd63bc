// SPDX-License-Identifier: BSD-3-Clause
// Plans as schedules, and what one rank says of all.
#include "simulate/plan_steps.hpp"

#include <gtest/gtest.h>

#include "analysis/patterns.hpp"
#include "planners/registry.hpp"
#include "simulate/alike.hpp"
#include "simulate/schedules.hpp"

namespace tonari::sim {
namespace {

std::shared_ptr<const tonari::Neighborhood> torus(const std::string& pattern, std::vector<int> dims,
                                                  bool periodic = true) {
  const bool all[] = {periodic, periodic, periodic};
  return std::make_shared<const tonari::Neighborhood>(tonari::Neighborhood{
      Grid(dims, std::span(all).first(dims.size())), parse_pattern(pattern).offsets});
}

std::vector<OffsetVariant> all_variants(std::shared_ptr<const tonari::Neighborhood> near) {
  std::vector<OffsetVariant> found;
  for (const AlgorithmRow& row : algorithms())
    if (row.offsets && row.offsets->applicable(*near, Collective::alltoall).empty())
      for (OffsetVariant& variant : row.offsets->variants(near, Collective::alltoall))
        found.push_back(std::move(variant));
  return found;
}

struct Case {
  const char* pattern;
  std::vector<int> dims;
};
const Case cases[] = {{"moore:1:1", {1}},       {"moore:1:2", {3}},      {"moore:2:1", {2, 3}},
                      {"moore:2:1", {5, 4}},    {"star:3:2", {5, 3, 2}}, {"octant:3", {3, 3, 3}},
                      {"moore:3:1", {4, 3, 5}}, {"shells:2:1,3", {7, 8}}};

TEST(PlanSteps, OneRankSaysWhatAllDoToTheBit) {
  int alike = 0, all = 0;
  for (const Case& c : cases)
    for (const OffsetVariant& variant : all_variants(torus(c.pattern, c.dims)))
      for (std::uint64_t bytes : {0, 1, 8, 500})
        for (double G : {0.0, 1e-10, 1e-8}) {
          LogGP model;
          model.G = G;
          const Machine machine = machine_of(model);
          const Schedule schedule = schedule_of(variant, variant.near().grid, bytes, model);
          const Outcome each = run(schedule, machine);
          const std::optional<Outcome> one = run_alike(schedule, machine);
          ++all;
          if (!one) continue;
          ++alike;
          ASSERT_EQ(one->end, each.end) << c.pattern << " " << variant.label();
          ASSERT_EQ(one->events, each.events);
        }
  EXPECT_GT(4 * alike, 3 * all) << "of " << all;
}

// Machines of small numbers, on which much happens at one time.
TEST(PlanSteps, OneRankSaysWhatAllDoOnMachinesOfSmallNumbers) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Machine machine = random_machine(random);
    machine.eager = 1 << 20;
    if (seed % 2 == 1) machine.sharing = {1, 1 + below(random, 3), below(random, 4)};
    LogGP model;
    model.copy_block = 1e-15;
    model.copy_byte = 0;
    for (const Case& c : cases)
      for (const OffsetVariant& variant : all_variants(torus(c.pattern, c.dims))) {
        const Schedule schedule = schedule_of(variant, variant.near().grid, 1, model);
        const std::optional<Outcome> one = run_alike(schedule, machine);
        if (!one) continue;
        ASSERT_EQ(one->end, run(schedule, machine).end) << c.pattern << " seed " << seed;
      }
  }
}

// After its send, a rank has two calculations. A neighbor's message comes during the first one, and
// got its number when the second became ready.
TEST(PlanSteps, OneRankKeepsStillWhereNumbersDecide) {
  ScheduleBuilder builder;
  builder.add(Act::recv, 1, 0, 1);
  builder.add(Act::send, 1, 1, 0);
  for (std::uint32_t calc = 2; calc < 4; ++calc) {
    builder.add(Act::calc, 100);
    builder.require(calc, 1);
  }
  builder.add(Act::calc, 50);
  builder.require(4, 0);
  builder.end_rank();
  Schedule schedule = builder.take();
  schedule.ranks = 3;
  schedule.dims = {3};
  schedule.shifts = {{{2}, false}, {{1}, false}};
  Machine machine;
  machine.network = {10, 1, 0, 0, true};
  EXPECT_EQ(run(schedule, machine).end, naive(schedule, machine));
  EXPECT_FALSE(run_alike(schedule, machine));
  machine.network.latency = 1000;  // it comes later
  ASSERT_TRUE(run_alike(schedule, machine));
  EXPECT_EQ(run_alike(schedule, machine)->end, run(schedule, machine).end);
}

TEST(PlanSteps, SharedProgramsEqualTheNaiveSimulation) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Machine machine = random_machine(random);
    machine.ranks_per_node = machine.ranks_per_nic = 1 + seed % 3;
    for (const OffsetVariant& variant : all_variants(torus("moore:2:1", {3, 4}))) {
      const Schedule schedule = schedule_of(variant, variant.near().grid, 3, LogGP());
      ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << variant.label();
    }
  }
}

// The same plans once by shifts and once by ranks.
TEST(PlanSteps, SharedProgramsEqualThoseOfEachRank) {
  for (const Case& c : cases)
    for (const OffsetVariant& variant : all_variants(torus(c.pattern, c.dims))) {
      const Machine machine = machine_of(LogGP());
      std::vector<Plan> plans;
      for (int rank = 0; rank < variant.near().grid.ranks(); ++rank)
        plans.push_back(variant.plan(rank));
      const std::vector<BlockBytes> bytes(plans.size(), [](Slice) { return 8; });
      const Schedule own = schedule_of(plans, bytes, LogGP());
      const Schedule shared = schedule_of(variant, variant.near().grid, 8, LogGP());
      ASSERT_EQ(own.total_steps(), shared.total_steps());
      ASSERT_EQ(run(own, machine).end, run(shared, machine).end) << c.pattern << variant.label();
    }
}

TEST(PlanSteps, MeshesEqualTheNaiveSimulation) {
  for (const OffsetVariant& variant : all_variants(torus("moore:2:1", {4, 3}, false))) {
    const Machine machine = machine_of(LogGP());
    const Schedule schedule = schedule_of(variant, variant.near().grid, 8, LogGP());
    EXPECT_FALSE(schedule.shared());
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << variant.label();
  }
}

TEST(PlanSteps, NativeSendsEveryBlockByItself) {
  const auto near = torus("moore:1:2", {3});  // two blocks for each of two ranks
  const Schedule schedule = native_schedule(*near, 8);
  EXPECT_EQ(schedule.total_steps(), 3u * 8);
  const Machine machine = machine_of(LogGP());
  EXPECT_EQ(run(schedule, machine).end, naive(schedule, machine));
  const auto mesh = torus("moore:1:2", {3}, false);
  const Schedule fewer = native_schedule(*mesh, 8);
  EXPECT_EQ(fewer.total_steps(), 2u * 6);
  EXPECT_EQ(run(fewer, machine).end, naive(fewer, machine));
}

}  // namespace
}  // namespace tonari::sim
