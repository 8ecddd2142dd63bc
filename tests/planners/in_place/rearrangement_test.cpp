// SPDX-License-Identifier: BSD-3-Clause
// The general in-place all-to-all without MPI: every rank's bookkeeping over a simulated network,
// under kind and unkind schedules, against out of place.
#include "planners/in_place/rearrangement.hpp"

#include "planners/in_place/network.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace test;
using test::error_of;

using Sizes = std::vector<std::vector<std::uint64_t>>;  // by sender and receiver

// Blocks of these sizes one behind the other in this order, with gaps of up to most_gap.
std::vector<Slots> lay_out(Random& random, const std::vector<std::uint64_t>& sizes,
                           std::vector<int> order, Slot begin, std::uint64_t most_gap) {
  std::vector<Slots> blocks(sizes.size());
  for (int j : order) {
    begin += pick(random, 0, most_gap);
    blocks[j] = {begin, begin + sizes[j]};
    begin += sizes[j];
  }
  return blocks;
}

std::vector<int> random_order(Random& random, int n, bool shuffled) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  return order;
}

std::vector<std::uint64_t> column(const Sizes& sizes, int j) {
  std::vector<std::uint64_t> all;
  for (const auto& row : sizes) all.push_back(row[j]);
  return all;
}

Case random_places(Random& random, const Sizes& sizes) {
  Case c;
  const int n = static_cast<int>(sizes.size());
  const bool shuffled = random() % 2;
  const std::uint64_t gap = random() % 2 ? 0 : pick(random, 0, 4),
                      offset = random() % 2 ? 0 : pick(random, 0, 20);
  for (int r = 0; r < n; ++r)
    c.ranks.push_back(
        {lay_out(random, sizes[r], random_order(random, n, shuffled), pick(random, 0, offset), gap),
         lay_out(random, column(sizes, r), random_order(random, n, shuffled),
                 pick(random, 0, offset), gap)});
  return c;
}

void random_limits(Random& random, Case& c) {
  const int kind = static_cast<int>(pick(random, 0, 3));
  for (int r = 0; r < c.size(); ++r) {
    const std::uint64_t room = kind == 0   ? 1
                               : kind == 1 ? pick(random, 0, 5)
                               : kind == 2 ? pick(random, 8, 40)
                                           : 1000;
    c.limits.push_back({room, random() % 4 ? pick(random, 1, 12) : pick(random, 0, 1000)});
  }
}

Schedule random_schedule(Random& random) {
  Schedule s;
  s.seed = static_cast<std::uint32_t>(random());
  s.which = static_cast<decltype(s.which)>(pick(random, 0, 2));
  s.window = static_cast<int>(pick(random, 1, 6));
  s.victim = static_cast<int>(pick(random, 0, 8)) - 4;
  s.shorten = random() % 4 == 0;
  if (random() % 2)
    for (int& weight : s.weights) weight = random() % 2 ? 0 : static_cast<int>(pick(random, 1, 30));
  if (std::accumulate(s.weights.begin(), s.weights.end(), 0) == 0) s.weights[random() % 4] = 1;
  return s;
}

enum class Shape { random, sparse, rotation, transpose, to_one, from_one, cycle, count };

Sizes sizes_of(Random& random, Shape shape, int n) {
  Sizes sizes(n, std::vector<std::uint64_t>(n, 0));
  const std::uint64_t most = pick(random, 1, 12), shift = pick(random, 0, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) switch (shape) {
        case Shape::random:
          sizes[i][j] = pick(random, 0, most);
          break;
        case Shape::sparse:
          sizes[i][j] = random() % 4 ? 0 : pick(random, 0, 3 * most);
          break;
        case Shape::rotation:
          sizes[i][j] = j == (i + static_cast<int>(shift)) % n ? 4 * most : 0;
          break;
        case Shape::transpose:
          sizes[i][j] = most;
          break;
        case Shape::to_one:
          sizes[i][j] = j == static_cast<int>(shift) % n ? pick(random, 0, most) : 0;
          break;
        case Shape::from_one:
          sizes[i][j] = i == static_cast<int>(shift) % n ? pick(random, 0, most) : 0;
          break;
        default:
          sizes[i][j] = j == (i + 1) % n || j == (i + 2) % n ? most : 0;
      }
  return sizes;
}

void expect_exchanged(const Case& c, const Schedule& schedule) { Network(c, schedule).run(); }

TEST(Rearrangement, RandomCasesUnderRandomSchedules) {
  for (std::uint32_t seed = 0; seed < random_cases(6000u); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int ranks = static_cast<int>(random() % 4 ? pick(random, 1, 6) : pick(random, 1, 12));
    Case c = random_places(
        random,
        sizes_of(random, static_cast<Shape>(seed % static_cast<unsigned>(Shape::count)), ranks));
    random_limits(random, c);
    expect_exchanged(c, random_schedule(random));
    if (testing::Test::HasFailure()) return;
  }
}

// Every buffer is full, and one slot is all the room there is: each way to permute blocks, under
// each schedule that prefers one thing to all others.
TEST(Rearrangement, FullBuffersWithRoomForOneSlot) {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (int shift = 0; shift < ranks; ++shift)
      for (int preferred = 0; preferred < 4; ++preferred)
        for (int victim = -1; victim < ranks; ++victim) {
          Sizes sizes(ranks, std::vector<std::uint64_t>(ranks, 0));
          for (int i = 0; i < ranks; ++i)
            sizes[i][(i + shift) % ranks] += 5, sizes[i][(i + 1) % ranks] += 3;
          Random random(static_cast<unsigned>(ranks * 100 + shift));
          Case c;
          for (int r = 0; r < ranks; ++r)
            c.ranks.push_back(
                {lay_out(random, sizes[r], random_order(random, ranks, shift % 2), 0, 0),
                 lay_out(random, column(sizes, r), random_order(random, ranks, shift % 2), 0, 0)});
          c.limits.assign(ranks, {1, 100});
          Schedule schedule{7, {0, 0, 0, 0}, Schedule::oldest, victim, 3};
          schedule.weights[preferred] = 1;
          expect_exchanged(c, schedule);
          if (testing::Test::HasFailure())
            FAIL() << ranks << " ranks, shift " << shift << ", " << preferred << " first, victim "
                   << victim;
        }
}

// Two ranks, blocks of at most two slots, every place of every block.
TEST(Rearrangement, AllSmallCasesOfTwoRanks) {
  Random none(1);
  std::uint32_t seed = 0;
  for (int number = 0; number < 81; ++number) {
    const Sizes sizes = {
        {static_cast<unsigned>(number % 3), static_cast<unsigned>(number / 3 % 3)},
        {static_cast<unsigned>(number / 9 % 3), static_cast<unsigned>(number / 27)}};
    for (int places = 0; places < 4 * 4 * 4 * 4; ++places) {
      Case c;
      for (int r = 0; r < 2; ++r) {
        const int place = r ? places / 16 : places % 16;
        const auto side = [&](int bits, const std::vector<std::uint64_t>& of) {
          return lay_out(none, of, bits & 1 ? std::vector{1, 0} : std::vector{0, 1},
                         bits & 2 ? 1 : 0, 0);
        };
        c.ranks.push_back({side(place & 3, sizes[r]), side(place >> 2, column(sizes, r))});
      }
      c.limits.assign(2, {1, 1 + seed % 3});
      Schedule schedule;
      schedule.seed = ++seed;
      expect_exchanged(c, schedule);
      if (testing::Test::HasFailure()) FAIL() << number << ' ' << places;
    }
  }
}

// A swap of two full buffers: data is parked once at most, and pieces keep their full length.
TEST(Rearrangement, ALargeSwapAsksForFullPieces) {
  Case c;
  for (int r = 0; r < 2; ++r) {
    std::vector<Slots> blocks(2);
    blocks[1 - r] = {0, 4096};
    c.ranks.push_back({blocks, blocks});
  }
  c.limits.assign(2, {256, 64});
  Schedule schedule;
  schedule.cut = false;
  Network network(c, schedule);
  network.run();
  EXPECT_EQ(network.messages(), 2u * 2 * 4096 / 64);
}

// Whatever fits without anybody being in the way goes in pieces of full length even without room.
TEST(Rearrangement, WithoutOverlapNoRoomIsNeeded) {
  const Rearrangement machine(0, {{{0, 0}, {0, 100}}, {{0, 0}, {100, 200}}}, {1, 64});
  EXPECT_EQ(machine.room(), 0u);
  EXPECT_EQ(machine.propose()->to, (Slots{100, 164}));
}

TEST(Rearrangement, WhatStaysTakesNoPart) {
  Rearrangement machine(0, {{{0, 50}, {50, 60}}, {{0, 50}, {50, 60}}}, {1000, 1000});
  EXPECT_EQ(machine.room(), 10u);
  EXPECT_EQ(machine.propose()->to, (Slots{50, 60}));
}

TEST(Rearrangement, OverlappingBlocksAreRefused) {
  const auto send = error_of(
      [] { Rearrangement(0, {{{0, 5}, {10, 20}, {4, 6}}, {{0, 0}, {0, 0}, {0, 0}}}, {}); });
  EXPECT_EQ(send.code(), Errc::buffers);
  EXPECT_EQ(
      std::string(send.what()),
      "the send blocks for the ranks 0 and 2 overlap; only send blocks with receive blocks may");
  const auto recv = error_of([] { Rearrangement(0, {{{0, 0}, {0, 0}}, {{7, 9}, {0, 8}}}, {}); });
  EXPECT_EQ(recv.code(), Errc::buffers);
  EXPECT_NE(std::string(recv.what()).find("receive blocks"), std::string::npos);
  // Also where one of them stays in its place.
  EXPECT_EQ(error_of([] { Rearrangement(0, {{{0, 5}, {4, 6}}, {{0, 5}, {0, 0}}}, {}); }).code(),
            Errc::buffers);
}

TEST(Rearrangement, AskingForWhatIsNotThereIsAnError) {
  Rearrangement machine(0, {{{0, 0}, {0, 8}}, {{0, 0}, {0, 8}}}, {});
  std::vector<Slots> places;
  EXPECT_EQ(error_of([&] { machine.take(1, 4, 5, places); }).code(), Errc::internal);
  EXPECT_EQ(error_of([&] { machine.take(1, 9, 0, places); }).code(), Errc::internal);
  machine.take(1, 4, 4, places);
  EXPECT_EQ(places, (std::vector<Slots>{{4, 8}}));
}

}  // namespace
}  // namespace tonari
