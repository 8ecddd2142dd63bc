// SPDX-License-Identifier: BSD-3-Clause
// How many messages leave, and what they wait for.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plan/sabotage.hpp"
#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;

// Steps of the routing that lead from one rank to another.
std::map<int, int> steps_to(const OffsetVariant& schedule, int rank) {
  const Grid& grid = schedule.near().grid;
  std::map<int, int> steps;
  for (const Vec& step : schedule.routing().steps())
    ++steps[grid.rank_at(grid.coordinates(rank) + step)];
  return steps;
}

void check_one_message_per_step(const OffsetVariant& schedule, const Plan& plan) {
  std::map<int, int> messages;
  std::set<std::pair<int, Kind>> seen;  // step and direction
  for (const Operation& o : plan.operations()) {
    if (o.kind == Kind::copy) continue;
    EXPECT_TRUE(seen.emplace(o.tag, o.kind).second)
        << schedule.label() << ": two messages in step " << o.tag;
    if (o.kind == Kind::send) ++messages[o.peer];
  }
  const std::map<int, int> steps = steps_to(schedule, plan.rank());
  for (const auto& [peer, count] : messages)
    EXPECT_LE(count, steps.at(peer))
        << schedule.label() << " on " << test::describe(schedule.near());
}

TEST(Messages, AllBlocksOfOneStepTravelTogether) {
  Random random(11);
  for (int k = 0; k < 150; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 4), 30);
    const auto near = std::make_shared<const Neighborhood>(
        Neighborhood{grid, test::random_offsets(random, grid, 14)});
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      test::for_each_schedule(near, collective, [&](const OffsetVariant& schedule) {
        for (const Plan& plan : test::plans_of_all_ranks(schedule))
          check_one_message_per_step(schedule, plan);
      });
  }
}

// The pairs of ranks that have anything to say to each other.
std::set<std::pair<int, int>> talking(const Neighborhood& near) {
  std::set<std::pair<int, int>> pairs;
  for (int rank = 0; rank < near.grid.ranks(); ++rank)
    for (std::size_t i = 0; i < near.offsets.size(); ++i)
      if (const int target = near.target(rank, i); target >= 0 && target != rank)
        pairs.emplace(rank, target);
  return pairs;
}

TEST(Messages, LinearSendsExactlyOneToEveryNeighbor) {
  Random random(12);
  for (int k = 0; k < 200; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 4), 40);
    const Neighborhood near{grid, test::random_offsets(random, grid, 20)};
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      std::multiset<std::pair<int, int>> sent;
      for (const Plan& plan :
           test::plans_of_all_ranks(test::first_schedule("linear", near, collective)))
        for (const Operation& o : plan.operations())
          if (o.kind == Kind::send) sent.emplace(plan.rank(), o.peer);
      const auto expected = talking(near);
      EXPECT_EQ(sent, (std::multiset<std::pair<int, int>>(expected.begin(), expected.end())))
          << test::describe(near);
    }
  }
}

TEST(Messages, LinearAlsoOffersAMessagePerBlock) {
  const auto near = std::make_shared<const Neighborhood>(
      Neighborhood{test::torus({4}), {Vec{1}, Vec{1}, Vec{5}, Vec{0}, Vec{2}}});
  const std::vector<OffsetVariant> schedules = offset_linear.variants(near, Collective::alltoall);
  ASSERT_EQ(schedules.size(), 2u);
  EXPECT_EQ(schedules[0].rounds(), 2u);
  EXPECT_EQ(schedules[1].rounds(), 4u);
  EXPECT_EQ(schedules[1].variant(), "a message per block");
  EXPECT_EQ(schedules[1].label(), "linear (a message per block)");
  EXPECT_EQ(offset_linear.variants(near, Collective::allgather).size(), 1u);
}

// Plus and minus along one dimension do not wait for each other; with one port they do.
TEST(Messages, IndependentRoundsAreSideBySide) {
  const Neighborhood near{test::torus({5, 5}), {Vec{1, 0}, Vec{-1, 0}, Vec{1, 1}, Vec{-1, -1}}};
  for (const char* algorithm : {"torus", "torus-direct"}) {
    const OffsetVariant schedule = test::first_schedule(algorithm, near, Collective::alltoall);
    EXPECT_EQ(schedule.rounds(), 4u);
    EXPECT_EQ(schedule.plan(0).depth(), 2) << algorithm;
    EXPECT_EQ(schedule.plan(0, {Storage::separate, 1}).depth(), 4) << algorithm;
    EXPECT_EQ(schedule.plan(0, {Storage::separate, 2}).depth(), 2) << algorithm;
  }
  EXPECT_EQ(test::first_schedule("linear", near, Collective::alltoall).plan(0).depth(), 1);
}

// Longest simultaneous set of open rounds: with p ports, message k may start only after both
// messages of k - p.
TEST(Messages, PortsBoundWhatIsUnderWay) {
  const Neighborhood near{test::torus({9}), {Vec{1}, Vec{2}, Vec{3}, Vec{-1}, Vec{-2}, Vec{-3}}};
  for (int ports = 1; ports <= 7; ++ports)
    EXPECT_EQ(test::first_schedule("linear", near, Collective::alltoall)
                  .plan(0, {Storage::separate, ports})
                  .depth(),
              (6 + ports - 1) / ports);
}

TEST(Messages, AlternatingStorageNeedsOneScratchBlockPerBlockAtMost) {
  const Neighborhood near{test::torus({9, 9}), {Vec{3, 4}, Vec{1, 0}, Vec{0, -2}, Vec{-4, 4}}};
  const OffsetVariant schedule = test::first_schedule("torus", near, Collective::alltoall);
  // (1, 0) needs none
  EXPECT_EQ(schedule.plan(0, {Storage::alternate, 0}).scratch_like().size(), 3u);
  EXPECT_EQ(schedule.plan(0, {Storage::separate, 0}).scratch_like().size(), 6u + 0 + 1 + 7);
}

// Every edge of a plan without port limits is needed: without it the executor finds a race, unless
// other edges imply it.
bool implied(const Plan& plan, OpId before, OpId after) {
  std::set<OpId> reached;
  std::vector<OpId> open;
  for (OpId next : plan.successors(before))
    if (next != after) open.push_back(next);
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    if (op == after) return true;
    if (reached.insert(op).second)
      open.insert(open.end(), plan.successors(op).begin(), plan.successors(op).end());
  }
  return false;
}

int break_every_edge(const OffsetVariant& schedule, Storage storage, const Delivery& delivery) {
  std::vector<Plan> plans = test::plans_of_all_ranks(schedule, {storage, 0});
  const Plan right = plans[0];
  int broken = 0;
  for (OpId before = 0; before < right.size(); ++before)
    for (OpId after : right.successors(before)) {
      plans[0] = test::without_edge(right, before, after);
      const bool still_fine = implied(right, before, after);
      const Proof proof = prove(plans, delivery);
      EXPECT_EQ(proof.ok, still_fine) << schedule.label() << ' ' << before << " -> " << after
                                      << " on " << test::describe(schedule.near());
      EXPECT_TRUE(proof.ok || proof.what.ends_with("in no certain order")) << proof.what;
      broken += !proof.ok;
    }
  return broken;
}

TEST(Messages, EveryDependencyIsNeeded) {
  Random random(13);
  int broken = 0;
  for (int k = 0; k < 250; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 3), 12);
    const Neighborhood near{grid, test::random_offsets(random, grid, 8)};
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      const std::vector<std::uint64_t> bytes(
          collective == Collective::alltoall ? near.offsets.size() : 1, 3);
      const Delivery delivery = expected_delivery(near, collective, bytes);
      test::for_each_schedule(std::make_shared<const Neighborhood>(near), collective,
                              [&](const OffsetVariant& schedule) {
                                for (Storage storage : {Storage::separate, Storage::alternate})
                                  broken += break_every_edge(schedule, storage, delivery);
                              });
    }
  }
  EXPECT_GT(broken, 500);
}

}  // namespace
}  // namespace tonari
