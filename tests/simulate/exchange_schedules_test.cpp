// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in place and of ghosts as schedules, against the papers' counts and the naive
// simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "planners/in_place/swap_steps.hpp"
#include "simulate/alike.hpp"
#include "simulate/halo_schedule.hpp"
#include "simulate/schedules.hpp"
#include "simulate/swap_schedule.hpp"
#include "support/errors.hpp"

namespace tonari::sim {
namespace {

constexpr SwapOrder every_order[] = {SwapOrder::mpich, SwapOrder::linear_shift,
                                     SwapOrder::hierarchical_sets};
constexpr HaloWay every_way[] = {HaloWay::pack, HaloWay::basic, HaloWay::layout, HaloWay::memmap};

LogGP without_copies() {
  LogGP model;
  model.copy_block = model.copy_byte = 0;
  return model;
}

// Both partners of a swap wait for each other, and each of its messages takes 100 ticks.
Machine in_steps() {
  Machine machine;
  machine.network = {100, 0, 0, 0, true};
  machine.eager = 0;
  return machine;
}

// Steps from the first to the last, without the swaps of ranks with themselves.
int steps_of(SwapOrder order, std::int32_t ranks) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(partners(order, rank, ranks));
    std::erase(all.back(), rank);
  }
  int last = 0;
  for (const auto& row : swap_steps(all))
    last = std::max(last, *std::max_element(row.begin(), row.end()));
  return last;
}

TEST(SwapSchedule, TakesAsManyStepsAsTheOrderHas) {
  for (SwapOrder order : every_order)
    for (std::uint32_t ranks = 2; ranks <= 17; ++ranks)
      for (const std::size_t eager : {8, 0}) {  // the block at once, or first that there is room
        LogGP model = without_copies();
        model.eager = eager;
        const Schedule schedule = swap_schedule(order, ranks, 1, 0, model);
        const auto steps = static_cast<Ticks>(steps_of(order, static_cast<std::int32_t>(ranks)));
        EXPECT_EQ(run(schedule, in_steps()).end, (eager > 0 ? 100 : 200) * steps)
            << tonari::name(order) << " on " << ranks;
      }
}

TEST(SwapSchedule, WithMemoryForAllSwapsRunAtOneTime) {
  for (SwapOrder order : every_order)
    EXPECT_EQ(run(swap_schedule(order, 9, 10, 80, without_copies()), in_steps()).end, 100u);
}

TEST(SwapSchedule, EqualsTheNaiveSimulation) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Machine machine = random_machine(random);
    LogGP copies;
    copies.copy_block = 1e-15 * below(random, 3);
    copies.copy_byte = 1e-15 * below(random, 3);
    const std::uint32_t ranks = 1 + below(random, 7), bytes = 1 + below(random, 8);
    const Schedule schedule =
        swap_schedule(every_order[seed % 3], ranks, bytes, below(random, 5) * bytes, copies);
    EXPECT_EQ(schedule.total_steps(), (bytes > copies.eager ? 5u : 3u) * ranks * (ranks - 1));
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << "seed " << seed;
  }
}

TEST(SwapSchedule, NeedsRanksAndBytes) {
  const auto make = [](std::uint32_t ranks, std::uint64_t bytes) {
    return test::error_of([=] { swap_schedule(SwapOrder::mpich, ranks, bytes, 0, LogGP()); });
  };
  test::expect_sentence(make(0, 8), Errc::argument, {"needs a rank"});
  test::expect_sentence(make(4, 0), Errc::argument, {"blocks of a byte"});
}

std::uint64_t total(const std::vector<HaloMessage>& messages) {
  return std::accumulate(messages.begin(), messages.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HaloMessage& m) { return sum + m.bytes; });
}

// Zhao 2021, Table 1, third dimension.
TEST(HaloSchedule, HasThePapersNumbersOfMessages) {
  const HaloCube cube{.size = 32};
  const std::uint64_t cells = 48 * 48 * 48 - 32 * 32 * 32;
  for (const auto& [way, count] : {std::pair{HaloWay::pack, 26u},
                                   {HaloWay::basic, 98u},
                                   {HaloWay::layout, 42u},
                                   {HaloWay::memmap, 26u}}) {
    EXPECT_EQ(halo_messages(way, cube).size(), count) << name(way);
    EXPECT_EQ(total(halo_messages(way, cube)), 8 * cells) << name(way);
  }
}

// In the smallest cube only the corners of the surface have bricks: 56 times a neighbor needs one.
TEST(HaloSchedule, LeavesOutEmptyMessages) {
  for (HaloWay way : every_way) {
    const std::vector<HaloMessage> messages = halo_messages(way, {.size = 16});
    if (way == HaloWay::basic)
      EXPECT_EQ(messages.size(), 56u);
    else if (way == HaloWay::layout)
      EXPECT_LT(messages.size(), 42u);
    else
      EXPECT_EQ(messages.size(), 26u) << name(way);
    for (const HaloMessage& message : messages) EXPECT_GT(message.bytes, 0u);
  }
}

TEST(HaloSchedule, LargerPagesArePaddedInMappedMemoryOnly) {
  for (HaloWay way : every_way) {
    const std::uint64_t small = total(halo_messages(way, {.size = 32})),
                        large = total(halo_messages(way, {.size = 32, .page = 65536}));
    EXPECT_EQ(large > small, way == HaloWay::memmap) << name(way);
  }
}

TEST(HaloSchedule, EqualsTheNaiveSimulation) {
  const bool periodic[] = {true, true, true};
  const int shapes[][3] = {{1, 1, 1}, {2, 1, 3}, {2, 2, 2}, {3, 3, 3}};
  LogGP copies;
  copies.copy_block = 1e-15;
  copies.copy_byte = 0;
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    Random random(seed);
    const Machine machine = random_machine(random);
    const Schedule schedule =
        halo_schedule(every_way[seed % 4], {.size = 2, .ghost = 1, .brick = 1, .page = 16},
                      Grid(shapes[seed / 4], periodic), copies);
    ASSERT_EQ(run(schedule, machine).end, naive(schedule, machine)) << "seed " << seed;
    if (const auto one = run_alike(schedule, machine)) {
      ASSERT_EQ(one->end, run(schedule, machine).end);
    }
  }
}

TEST(HaloSchedule, RefusesWhatDoesNotFit) {
  const int two[] = {2, 2}, three[] = {2, 2, 2};
  const bool periodic[] = {true, true, true}, not_all[] = {true, false, true};
  const auto make = [&](const HaloCube& cube, const Grid& ranks) {
    return test::error_of([&] { halo_schedule(HaloWay::layout, cube, ranks, LogGP()); });
  };
  const Grid torus(three, periodic), plane(two, std::span(periodic).first(2));
  for (const Grid& ranks : {plane, Grid(three, not_all)})
    test::expect_sentence(make({}, ranks), Errc::topology, {"torus of three dimensions"});
  test::expect_sentence(make({.ghost = 0}, torus), Errc::argument, {"one at least"});
  test::expect_sentence(make({.size = 60}, torus), Errc::argument, {"no multiple of the brick"});
  for (HaloWay way : every_way) EXPECT_EQ(halo_way_named(name(way)), way);
  EXPECT_FALSE(halo_way_named("datatypes"));
}

}  // namespace
}  // namespace tonari::sim
