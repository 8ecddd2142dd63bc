// SPDX-License-Identifier: BSD-3-Clause
// D, V and W of Träff 2016, §3, from formulas written independently of the planners, against what
// plans really send.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "analysis/patterns.hpp"
#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using test::Random;

struct Sent {
  std::size_t messages = 0, blocks = 0, received = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Sent& s) {
    return out << s.messages << " messages, " << s.blocks << " blocks sent, " << s.received
               << " received";
  }
};

Sent count(const Plan& plan) {
  Sent sent;
  for (const Operation& o : plan.operations()) {
    if (o.kind == Kind::send) ++sent.messages, sent.blocks += o.slice_count;
    if (o.kind == Kind::recv) sent.received += o.slice_count;
  }
  return sent;
}

using Offsets = std::vector<Vec>;

std::size_t rounds_of_torus(const Offsets& offsets) {  // D
  std::size_t rounds = 0;
  for (int j = 0; j < max_dimensions; ++j) {
    int ahead = 0, back = 0;
    for (const Vec& c : offsets) ahead = std::max(ahead, c[j]), back = std::max(back, -c[j]);
    rounds += ahead + back;
  }
  return rounds;
}

std::size_t volume_of_torus(const Offsets& offsets) {  // V
  std::size_t hops = 0;
  for (const Vec& c : offsets)
    for (int coordinate : c) hops += std::abs(coordinate);
  return hops;
}

std::set<int> distinct(const Offsets& offsets, int j) {
  std::set<int> values;
  for (const Vec& c : offsets)
    if (c[j] != 0) values.insert(c[j]);
  return values;
}

std::size_t rounds_of_torus_direct(const Offsets& offsets) {
  std::size_t rounds = 0;
  for (int j = 0; j < max_dimensions; ++j) rounds += distinct(offsets, j).size();
  return rounds;
}

std::size_t volume_of_torus_direct(const Offsets& offsets) {
  std::size_t hops = 0;
  for (const Vec& c : offsets)
    hops += std::count_if(c.begin(), c.end(), [](int coordinate) { return coordinate != 0; });
  return hops;
}

// The trie of §3.2, for dimensions visited in that order: the children of a prefix are the next
// coordinates of the neighbors that share it.
std::map<std::vector<int>, std::set<int>> trie(const Offsets& offsets,
                                               const std::vector<int>& order) {
  std::map<std::vector<int>, std::set<int>> children;
  for (const Vec& c : offsets) {
    std::vector<int> prefix;
    for (int j : order) {
      children[prefix].insert(c[j]);
      prefix.push_back(c[j]);
    }
  }
  return children;
}

// The least W of all orders; weight: what the children of one prefix cost.
template <class Weight>
std::size_t least_volume(const Offsets& offsets, int dimensions, Weight weight) {
  std::vector<int> order(dimensions);
  std::iota(order.begin(), order.end(), 0);
  std::size_t least = std::numeric_limits<std::size_t>::max();
  do {
    std::size_t volume = 0;
    for (const auto& [prefix, children] : trie(offsets, order)) volume += weight(children);
    least = std::min(least, volume);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// Along a line a block passes the nearer places on its way to the farthest, so an edge's weight is
// shared: each prefix pays for its farthest child ahead and its farthest child behind.
std::size_t gather_volume_of_torus(const Offsets& offsets, int dimensions) {
  return least_volume(offsets, dimensions, [](const std::set<int>& children) {
    return std::max(0, *children.rbegin()) + std::max(0, -*children.begin());
  });
}

std::size_t gather_volume_of_torus_direct(const Offsets& offsets, int dimensions) {
  return least_volume(offsets, dimensions, [](const std::set<int>& children) {
    return children.size() - children.count(0);
  });
}

// Offsets within `reach` in `dimensions` dimensions, and grids on which no two of their sums
// coincide.
struct Case {
  int dimensions;
  Offsets offsets;
  Grid torus, mesh;
  int interior;  // a rank of the mesh far from its border
};

Grid wide(int dimensions, int size, bool periodic) {
  const std::vector<int> sizes(dimensions, size);
  std::array<bool, max_dimensions> flags;
  flags.fill(periodic);
  return Grid(sizes, std::span<const bool>(flags).first(dimensions));
}

Case make_case(int dimensions, Offsets offsets, int reach) {
  const Grid mesh = wide(dimensions, 4 * reach + 1, false);
  Vec middle;
  std::fill_n(middle.begin(), dimensions, 2 * reach);
  return {dimensions, std::move(offsets), wide(dimensions, 2 * reach + 2, true), mesh,
          mesh.rank(middle)};
}

Case random_case(Random& random) {
  const int dimensions = random.between(1, 5), reach = random.between(1, dimensions < 4 ? 6 : 3),
            count = random.between(0, 25);
  Offsets offsets;
  for (int i = 0; i < count; ++i) {
    Vec offset;
    for (int j = 0; j < dimensions; ++j)
      offset[j] = random.once_in(3) ? 0 : random.between(-reach, reach);
    offsets.push_back(offset);
  }
  return make_case(dimensions, std::move(offsets), reach);
}

// On the torus any rank, on the mesh an interior one, sends and receives exactly this, and the
// schedule announced it.
void expect_plan(const Case& c, const std::string& algorithm, Collective collective,
                 std::size_t rounds, std::size_t blocks) {
  for (const Grid* grid : {&c.torus, &c.mesh}) {
    const Neighborhood near{*grid, c.offsets};
    const OffsetVariant schedule = test::first_schedule(algorithm, near, collective);
    const std::string where =
        schedule.label() + ' ' + name(collective) + " on " + test::describe(near);
    EXPECT_EQ(schedule.rounds(), rounds) << where;
    EXPECT_EQ(schedule.volume(), blocks) << where;
    EXPECT_EQ(count(schedule.plan(grid == &c.mesh ? c.interior : grid->ranks() / 3)),
              (Sent{rounds, blocks, blocks}))
        << where;
  }
}

void expect_closed_forms(const Case& c) {
  std::set<Vec> distinct_moving(c.offsets.begin(), c.offsets.end());
  distinct_moving.erase(Vec{});
  const std::size_t moving =
      c.offsets.size() - std::count(c.offsets.begin(), c.offsets.end(), Vec{});
  expect_plan(c, "linear", Collective::alltoall, distinct_moving.size(), moving);
  expect_plan(c, "linear", Collective::allgather, distinct_moving.size(), distinct_moving.size());
  expect_plan(c, "torus", Collective::alltoall, rounds_of_torus(c.offsets),
              volume_of_torus(c.offsets));
  expect_plan(c, "torus", Collective::allgather, rounds_of_torus(c.offsets),
              gather_volume_of_torus(c.offsets, c.dimensions));
  expect_plan(c, "torus-direct", Collective::alltoall, rounds_of_torus_direct(c.offsets),
              volume_of_torus_direct(c.offsets));
  expect_plan(c, "torus-direct", Collective::allgather, rounds_of_torus_direct(c.offsets),
              gather_volume_of_torus_direct(c.offsets, c.dimensions));
}

TEST(ClosedForms, HoldForRandomNeighborhoods) {
  Random random(21);
  for (int k = 0; k < 200 && !HasFailure(); ++k) expect_closed_forms(random_case(random));
}

TEST(ClosedForms, HoldForNamedNeighborhoods) {
  for (const auto& [pattern, reach] : std::map<std::string, int>{{"moore:1:3", 3},
                                                                 {"moore:2:1", 1},
                                                                 {"moore:2:3", 3},
                                                                 {"moore:3:1", 1},
                                                                 {"moore:3:3", 3},
                                                                 {"moore:4:1", 1},
                                                                 {"star:3:2", 2},
                                                                 {"octant:3", 1},
                                                                 {"shells:2:3,7", 7}}) {
    const Pattern p = parse_pattern(pattern);
    expect_closed_forms(make_case(p.dimensions, p.offsets, reach));
  }
}

TEST(ClosedForms, ForMooreNeighborhoodsInNumbers) {
  const Case c = make_case(3, parse_pattern("moore:3:3").offsets, 3);
  // 2 r d rounds; per dimension 49 lines with 2 (1 + 2 + 3) hops
  expect_plan(c, "torus", Collective::alltoall, 18, 3 * 49 * 12);
  // W = s: every neighbor receives the block once
  expect_plan(c, "torus", Collective::allgather, 18, 342);
  expect_plan(c, "torus-direct", Collective::alltoall, 18, 3 * 49 * 6);
  expect_plan(c, "torus-direct", Collective::allgather, 18, 342);
  const Case small = make_case(4, parse_pattern("moore:4:1").offsets, 1);
  expect_plan(small, "torus", Collective::alltoall, 8, 4 * 27 * 2);
  expect_plan(small, "torus", Collective::allgather, 8, 80);
}

// The paper counts 12 rounds for its "shales"; coordinates from -7 to 7 in three dimensions make
// 42.
TEST(ClosedForms, ShellsNeedARoundForEveryCoordinate) {
  const Neighborhood near{test::torus({16, 16, 16}), parse_pattern("shells:3:3,7").offsets};
  EXPECT_EQ(test::first_schedule("torus-direct", near, Collective::alltoall).rounds(), 42u);
  EXPECT_EQ(test::first_schedule("torus", near, Collective::alltoall).rounds(), 42u);
  EXPECT_EQ(
      count(test::first_schedule("torus-direct", near, Collective::alltoall).plan(0)).messages,
      42u);
  // 15 values and 0 in 4 lengths each
  EXPECT_LE(test::first_schedule("additive-basis", near, Collective::alltoall).rounds(), 12u);
}

// Other algorithms have no closed form, but what a schedule announces is what an interior rank
// does.
void expect_promise_kept(const Case& c, Collective collective) {
  for (const Grid* grid : {&c.torus, &c.mesh}) {
    const auto near = std::make_shared<const Neighborhood>(Neighborhood{*grid, c.offsets});
    test::for_each_schedule(near, collective, [&](const OffsetVariant& schedule) {
      const Sent sent = count(schedule.plan(grid == &c.mesh ? c.interior : 0));
      const std::string where =
          schedule.label() + ' ' + name(collective) + " on " + test::describe(*near);
      if (collective == Collective::alltoall) {
        EXPECT_EQ(sent.messages, schedule.rounds()) << where;
      }
      EXPECT_LE(sent.messages, schedule.rounds()) << where;
      EXPECT_EQ(sent.blocks, schedule.volume()) << where;
      EXPECT_EQ(sent.received, schedule.volume()) << where;
    });
  }
}

TEST(ClosedForms, EveryScheduleKeepsItsPromise) {
  Random random(22);
  for (int k = 0; k < 12 && !HasFailure(); ++k)
    expect_promise_kept(random_case(random), k % 2 ? Collective::alltoall : Collective::allgather);
}

// Coordinates too large for the exhaustive search of additive bases; of one sign, of both, with
// gaps.
TEST(ClosedForms, EveryScheduleKeepsItsPromiseAlsoFarAway) {
  Random random(24);
  for (int k = 0; k < 8 && !HasFailure(); ++k) {
    const int reach = random.between(8, 24), low = random.once_in(2) ? 1 : -reach;
    Offsets offsets;
    for (int i = random.between(1, 40); i > 0; --i)
      offsets.push_back(
          Vec{random.between(low, reach), random.once_in(2) ? 0 : random.between(low, reach)});
    expect_promise_kept(make_case(2, offsets, reach), Collective::alltoall);
  }
}

// Proposition 2 (§3.2): D rounds, which one port needs, and a block for every neighbor at least.
TEST(ClosedForms, GatheringOnTheTorusTakesTheFewestRounds) {
  Random random(26);
  for (int k = 0; k < 40 && !HasFailure(); ++k) {
    const Case c = random_case(random);
    const Neighborhood near{c.torus, c.offsets};
    const OffsetVariant schedule = test::first_schedule("torus", near, Collective::allgather);
    std::set<Vec> neighbors(c.offsets.begin(), c.offsets.end());
    neighbors.erase(Vec{});
    EXPECT_EQ(schedule.rounds(), rounds_of_torus(c.offsets)) << test::describe(near);
    EXPECT_GE(schedule.volume(), std::max(neighbors.size(), schedule.rounds()));
    EXPECT_LE(schedule.volume(), schedule.hops());
  }
}

// W <= V (§3.2).
TEST(ClosedForms, AllgatherIsNeverMoreThanAlltoall) {
  Random random(23);
  for (int k = 0; k < 15; ++k) {
    const Case c = random_case(random);
    const auto near = std::make_shared<const Neighborhood>(Neighborhood{c.torus, c.offsets});
    test::for_each_schedule(near, Collective::allgather, [&](const OffsetVariant& schedule) {
      EXPECT_LE(schedule.volume(), schedule.hops()) << schedule.label();
    });
  }
}

}  // namespace
}  // namespace tonari
