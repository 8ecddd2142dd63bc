// SPDX-License-Identifier: BSD-3-Clause
// The race between tonari and basic by a clock that is made up: who is slower is what a test says,
// not what the machine does.
#include <gtest/gtest.h>
#include <petscsf.h>
#include <tonari/petsc.h>

#include <array>
#include <vector>

#include "petsc/forest.hpp"

namespace {

// Stands still, except that the second look within an exchange's end is later by what it takes.
struct MadeUpClock {
  bool used = false, looked = false;
  double now = 0, takes = 0;

  double look() {
    const double seen = looked ? now + takes : now;
    looked = true;
    return seen;
  }
  void finish() { now += takes, takes = 0; }
} made_up;

}  // namespace

// In place of MPI's, for the libraries, too.
extern "C" double MPI_Wtime() { return made_up.used ? made_up.look() : PMPI_Wtime(); }

namespace tonari::test {
namespace {

// A star forest whose exchanges take as long as the test says.
class TimedForest {
 public:
  TimedForest() {
    EXPECT_EQ(static_cast<int>(make_forest(make_ring(), "tonari", &sf_)), 0);
    made_up = {.used = true};
  }
  ~TimedForest() {
    made_up = {};
    PetscSFDestroy(&sf_);
  }

  // Seconds of one exchange.
  double by_tonari = 1, by_basic = 1;

  // Whether tonari did it. Checks what arrives.
  bool broadcast() {
    const std::vector<PetscInt> roots = numbers<PetscInt>(leaves, uses_);
    std::vector<PetscInt> found(leaves, -1);
    const std::int64_t before = tonari_petsc_exchanges();
    EXPECT_EQ(PetscSFBcastBegin(sf_, MPIU_INT, roots.data(), found.data(), MPI_REPLACE), 0);
    const bool tonari = tonari_petsc_exchanges() > before;
    made_up.looked = false, made_up.takes = tonari ? by_tonari : by_basic;
    EXPECT_EQ(PetscSFBcastEnd(sf_, MPIU_INT, roots.data(), found.data(), MPI_REPLACE), 0);
    made_up.finish();
    EXPECT_EQ(found, of_next(uses_)) << "broadcast " << uses_;
    ++uses_;
    return tonari;
  }

  // The last exchange of so many that tonari did on any rank; -1: none. The same on all ranks.
  int last_by_tonari(int exchanges) {
    int last = -1;
    for (int k = 0; k < exchanges; ++k)
      if (broadcast()) last = k;
    std::array<int, 2> range{last, -last};
    MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(range[0], -range[1]) << "ranks went different ways";
    return last;
  }

 private:
  static constexpr std::size_t leaves = 40;

  // Leaves are roots of the next rank, backward.
  static Graph make_ring() {
    Graph graph{.roots = leaves, .leaves = {}, .remote = {}};
    const int next = (world_rank() + 1) % world_size();
    for (PetscInt k = 0; k < graph.roots; ++k) {
      graph.leaves.push_back(k);
      graph.remote.push_back({next, graph.roots - 1 - k});
    }
    return graph;
  }

  // What numbers() gives there, backward.
  static std::vector<PetscInt> of_next(int use) {
    const int next = (world_rank() + 1) % world_size();
    std::vector<PetscInt> wanted;
    for (int k = static_cast<int>(leaves) - 1; k >= 0; --k)
      wanted.push_back((k * 7 + next * 31 + use * 13) % 101);
    return wanted;
  }

  PetscSF sf_ = nullptr;
  int uses_ = 0;
};

// Exchanges of one kind until the end of each heat: two before ranks connect, some by tonari, and
// the turns of both.
constexpr int first_heat = 2 + 4 + 24, second_heat = first_heat + 60 + 24,
              third_heat = second_heat + 300 + 48;
constexpr int more = 8;  // exchanges after a heat

class Race : public testing::Test {
  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "one rank has nothing to exchange";
  }
};

TEST_F(Race, WhatIsFarBehindIsHandedOverByTheFirstHeat) {
  TimedForest forest;
  forest.by_tonari = 1.6;
  const int last = forest.last_by_tonari(first_heat + more);
  EXPECT_LT(last, first_heat);
  EXPECT_GE(last, first_heat - 2) << "before the turns were over";
}

TEST_F(Race, WhatIsBehindIsHandedOverByTheSecondHeat) {
  TimedForest forest;
  forest.by_tonari = 1.3;
  const int last = forest.last_by_tonari(second_heat + more);
  EXPECT_LT(last, second_heat);
  EXPECT_GE(last, second_heat - 2);
}

TEST_F(Race, WhatIsALittleBehindIsHandedOverByTheLastHeat) {
  TimedForest forest;
  forest.by_tonari = 1.05;
  const int last = forest.last_by_tonari(third_heat + more);
  EXPECT_LT(last, third_heat);
  EXPECT_GE(last, third_heat - 2);
}

TEST_F(Race, WhatIsFasterStays) {
  TimedForest forest;
  forest.by_tonari = 0.99;
  EXPECT_EQ(forest.last_by_tonari(third_heat + more), third_heat + more - 1);
}

// A kind that is used less often than the last heat needs has a winner, too.
TEST_F(Race, AClearWinnerRunsNoFurtherHeat) {
  for (const double takes : {0.5, 0.85}) {
    TimedForest forest;
    forest.by_tonari = takes;
    const int end = takes < 0.8 ? first_heat : second_heat;
    EXPECT_EQ(forest.last_by_tonari(end), end - 2);
    for (int k = 0; k < 60 + 24; ++k) ASSERT_TRUE(forest.broadcast()) << takes << ", " << k;
  }
}

TEST_F(Race, TheSlowestRankDecides) {
  TimedForest forest;
  forest.by_tonari = world_rank() == 1 ? 3 : 0.5;
  EXPECT_LT(forest.last_by_tonari(first_heat + more), first_heat);
}

// By what it had become, not by what it was at first.
TEST_F(Race, WhatFallsBehindLaterIsHandedOver) {
  TimedForest forest;
  forest.by_tonari = 0.95;
  EXPECT_EQ(forest.last_by_tonari(second_heat + 1), second_heat);
  forest.by_tonari = 1.2;
  EXPECT_LT(forest.last_by_tonari(third_heat - second_heat), third_heat - second_heat - 2);
  EXPECT_FALSE(forest.broadcast());
}

TEST_F(Race, WithoutARaceItStays) {
  PetscOptionsSetValue(nullptr, "-sf_tonari_race", "0");
  TimedForest forest;
  PetscOptionsClearValue(nullptr, "-sf_tonari_race");
  forest.by_tonari = 9;
  EXPECT_EQ(forest.last_by_tonari(first_heat + more), first_heat + more - 1);
}

}  // namespace
}  // namespace tonari::test
