// SPDX-License-Identifier: BSD-3-Clause
// The race between tonari and basic by a clock that is made up: who is slower is what a test says,
// not what the machine does.
#include <gtest/gtest.h>
#include <petscsf.h>
#include <sys/syscall.h>
#include <time.h>
#include <tonari/petsc.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "petsc/forest.hpp"
#include "support/fresh_wisdom.hpp"

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

// In place of MPI's and of that of processor time, for the libraries, too.
extern "C" double MPI_Wtime() { return made_up.used ? made_up.look() : PMPI_Wtime(); }

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock != CLOCK_THREAD_CPUTIME_ID || !made_up.used)
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const double seconds = made_up.look();
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - static_cast<double>(time->tv_sec)) * 1e9);
  return 0;
}

namespace tonari::test {
namespace {

// A star forest whose exchanges take as long as the test says.
class TimedForest {
 public:
  explicit TimedForest(std::size_t leaves = 40) : leaves_(leaves) {
    EXPECT_EQ(static_cast<int>(make_forest(make_ring(), "tonari", &sf_)), 0);
    made_up = {.used = true};
  }
  ~TimedForest() {
    made_up = {};
    PetscSFDestroy(&sf_);
  }

  // Seconds of one exchange.
  double by_tonari = 1, by_basic = 1;

  // Whether tonari does it.
  bool begin() {
    roots_ = numbers<PetscInt>(leaves_, uses_);
    found_.assign(leaves_, -1);
    const std::int64_t before = tonari_petsc_exchanges();
    EXPECT_EQ(PetscSFBcastBegin(sf_, MPIU_INT, roots_.data(), found_.data(), MPI_REPLACE), 0);
    return tonari_ = tonari_petsc_exchanges() > before;
  }

  // Whether tonari did it. Checks what arrives.
  bool end() {
    made_up.looked = false, made_up.takes = tonari_ ? by_tonari : by_basic;
    EXPECT_EQ(PetscSFBcastEnd(sf_, MPIU_INT, roots_.data(), found_.data(), MPI_REPLACE), 0);
    made_up.finish();
    EXPECT_EQ(found_, of_next(uses_)) << "broadcast " << uses_;
    ++uses_;
    return tonari_;
  }

  bool broadcast() {
    begin();
    return end();
  }

  // The last exchange of so many that tonari did on any rank; -1: none. The same on all ranks.
  int last_by_tonari(int exchanges) {
    int last = -1;
    for (int k = 0; k < exchanges; ++k)
      if (broadcast()) last = k;
    return agreed(last);
  }

  static int agreed(int last) {
    std::array<int, 2> range{last, -last};
    MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(range[0], -range[1]) << "ranks went different ways";
    return last;
  }

 private:
  // Leaves are roots of the next rank, backward.
  Graph make_ring() const {
    Graph graph{.roots = static_cast<PetscInt>(leaves_), .leaves = {}, .remote = {}};
    const int next = (world_rank() + 1) % world_size();
    for (PetscInt k = 0; k < graph.roots; ++k) {
      graph.leaves.push_back(k);
      graph.remote.push_back({next, graph.roots - 1 - k});
    }
    return graph;
  }

  // What numbers() gives there, backward.
  std::vector<PetscInt> of_next(int use) const {
    const int next = (world_rank() + 1) % world_size();
    std::vector<PetscInt> wanted;
    for (int k = static_cast<int>(leaves_) - 1; k >= 0; --k)
      wanted.push_back((k * 7 + next * 31 + use * 13) % 101);
    return wanted;
  }

  std::size_t leaves_;
  PetscSF sf_ = nullptr;
  int uses_ = 0;
  bool tonari_ = false;  // did what was begun last
  std::vector<PetscInt> roots_, found_;
};

// Collective, by a request that exchanges nothing.
bool ranks_share_cores() {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
  tonari_request_info about{};
  EXPECT_EQ(tonari_neighborhood_create_adjacent(PETSC_COMM_WORLD, 0, nullptr, nullptr, 0, nullptr,
                                                nullptr, MPI_INFO_NULL, &near),
            TONARI_SUCCESS);
  EXPECT_EQ(
      tonari_alltoall_init(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, near, MPI_INFO_NULL, &request),
      TONARI_SUCCESS);
  EXPECT_EQ(tonari_request_get_info(request, &about), TONARI_SUCCESS);
  EXPECT_GE(about.ranks_per_core, 1);
  EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
  EXPECT_EQ(tonari_neighborhood_free(&near), TONARI_SUCCESS);
  return about.ranks_per_core > 1;
}

// Exchanges of one kind until a heat is over: two before ranks connect, some by tonari, and the
// turns of both. During the next one, by tonari, ranks agree on what it has shown.
constexpr int first_heat = 2 + 4 + 24, second_heat = first_heat + 1 + 4 + 24,
              third_heat = second_heat + 1 + 60 + 48;
constexpr int more = 8;  // exchanges after a heat
constexpr int row = 4;   // that basic does at the end of a heat

class Race : public testing::Test {
  void SetUp() override {
    setenv("TONARI_TUNE", "off", 1);  // tonari has chosen from the beginning
    if (world_size() == 1) GTEST_SKIP() << "one rank has nothing to exchange";
  }
  void TearDown() override { unsetenv("TONARI_TUNE"); }
};

TEST_F(Race, WhatIsFarBehindIsHandedOverByTheFirstHeat) {
  TimedForest forest;
  forest.by_tonari = 2.1;
  EXPECT_EQ(forest.last_by_tonari(first_heat + more), first_heat);
}

TEST_F(Race, WhatIsBehindIsHandedOverByTheSecondHeat) {
  TimedForest forest;
  forest.by_tonari = 1.3;
  EXPECT_EQ(forest.last_by_tonari(second_heat + more), second_heat);
}

TEST_F(Race, WhatIsALittleBehindIsHandedOverByTheLastHeat) {
  TimedForest forest;
  forest.by_tonari = 1.05;
  EXPECT_EQ(forest.last_by_tonari(third_heat + more), third_heat);
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
    EXPECT_EQ(forest.last_by_tonari(end), end - 1 - row);
    for (int k = 0; k < 1 + 60 + 48; ++k) ASSERT_TRUE(forest.broadcast()) << takes << ", " << k;
  }
}

// Others wait for it; where ranks share cores, they work meanwhile.
TEST_F(Race, TheSlowestRankDecidesUnlessRanksShareCores) {
  TimedForest forest;
  forest.by_tonari = world_rank() == 1 ? 2.1 : 0.1;
  const double mean = (2.1 + 0.1 * (world_size() - 1)) / world_size();
  const int last = forest.last_by_tonari(third_heat + more);
  if (!ranks_share_cores())
    EXPECT_EQ(last, first_heat);
  else
    EXPECT_EQ(last == third_heat + more - 1, mean <= 1) << mean;
}

TEST_F(Race, AllRanksTogetherDecideWhereTheyShareCores) {
  TimedForest forest;
  forest.by_tonari = 0.1 + (world_rank() == 1 ? 2 * world_size() : 0);
  EXPECT_EQ(forest.last_by_tonari(first_heat + more), first_heat);
}

// While tonari tries its own ways, what it takes says little.
TEST_F(Race, WhatIsBehindStaysUntilTonariHasChosen) {
  const FreshWisdom wisdom("0.05");
  setenv("TONARI_TUNE", "online", 1);
  TimedForest forest;
  forest.by_tonari = 1.3;
  EXPECT_EQ(forest.last_by_tonari(second_heat + more), second_heat + more - 1);
}

// The first exchange after the other one has to do with both.
TEST_F(Race, ExchangesRightAfterTheOtherDoNotDecide) {
  TimedForest forest;
  bool before = true;
  int last = -1;
  for (int k = 0; k < first_heat + more; ++k) {
    const bool by_tonari = forest.begin();
    forest.by_tonari = by_tonari == before ? 1 : 9;
    forest.by_basic = by_tonari == before ? 1.7 : 0.1;
    before = by_tonari;
    if (forest.end()) last = k;
  }
  EXPECT_EQ(TimedForest::agreed(last), first_heat + more - 1);
}

// By what it had become, not by what it was at first.
TEST_F(Race, WhatFallsBehindLaterIsHandedOver) {
  TimedForest forest;
  forest.by_tonari = 0.95;
  EXPECT_EQ(forest.last_by_tonari(second_heat + 1), second_heat);
  forest.by_tonari = 1.2;
  EXPECT_EQ(forest.last_by_tonari(third_heat - second_heat), third_heat - second_heat - 1);
  EXPECT_FALSE(forest.broadcast());
}

TEST_F(Race, WithoutARaceItStays) {
  PetscOptionsSetValue(nullptr, "-sf_tonari_race", "0");
  TimedForest forest;
  PetscOptionsClearValue(nullptr, "-sf_tonari_race");
  forest.by_tonari = 9;
  EXPECT_EQ(forest.last_by_tonari(first_heat + more), first_heat + more - 1);
}

// Two star forests whose exchanges are under way at the same time.
struct TwoForests {
  explicit TwoForests(std::size_t leaves) : slow(leaves), fast(leaves) {
    slow.by_tonari = 2.1, fast.by_tonari = 0.5;
  }

  // The slow one first, or the other.
  void exchange(bool begin_slow, bool end_slow) {
    (begin_slow ? slow : fast).begin();
    (begin_slow ? fast : slow).begin();
    for (TimedForest* forest : {end_slow ? &slow : &fast, end_slow ? &fast : &slow})
      if (forest->end()) (forest == &slow ? last_slow : last_fast) = uses;
    ++uses;
  }

  TimedForest slow, fast;
  int uses = 0, last_slow = -1, last_fast = -1;  // exchanges by tonari
};

// PETSc's own types allow that. Long messages need both ranks for all of their parts.
TEST_F(Race, ForestsThatRanksEndInDifferentOrdersHaveTheirOwnWinners) {
  for (const std::size_t leaves : {40, 60000}) {
    TwoForests forests(leaves);
    while (forests.uses < first_heat + more) forests.exchange(true, world_rank() % 2 == 0);
    EXPECT_EQ(TimedForest::agreed(forests.last_slow), first_heat);
    EXPECT_EQ(TimedForest::agreed(forests.last_fast), first_heat + more - 1);
  }
}

// They ask in different orders, too, so that no answer is of one race.
TEST_F(Race, ForestsThatRanksBeginInDifferentOrdersRunTheirHeatAgain) {
  constexpr int connected = 6, again = first_heat + 1 + 4 + 24;
  TwoForests forests(40);
  while (forests.uses < again) {
    const bool slow_first = world_rank() % 2 == 0 || forests.uses < connected;
    forests.exchange(slow_first, slow_first);
  }
  EXPECT_EQ(TimedForest::agreed(forests.last_slow), again - 1 - row);
  EXPECT_EQ(TimedForest::agreed(forests.last_fast), again - 1 - row);
}

}  // namespace
}  // namespace tonari::test
