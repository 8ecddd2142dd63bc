// SPDX-License-Identifier: BSD-3-Clause
// Contests of made-up exchanges: which one wins by a made-up clock, and what becomes of the others
// where one rank's exchange fails.
#include "engine/tune/contest.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/wait/agree.hpp"
#include "support/contains.hpp"
#include "support/counting.hpp"
#include "support/duplicate.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

// Moves nothing; its start or wait fails when it has run so often.
class Failing final : public tonari::LeafExchange {
 public:
  Failing(int good, bool in_wait) : left_(good), in_wait_(in_wait) {}
  void start() override {
    if (!in_wait_) count();
  }
  bool test() override { return true; }
  void wait() override {
    if (in_wait_) count();
  }
  int messages() const override { return 0; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }
  void give_up() override { ++gave_up; }

  int gave_up = 0;

 private:
  void count() {
    if (left_-- == 0) tonari::fail(tonari::Errc::mpi, "the MPI of rank ", world_rank(), " failed");
  }
  int left_;
  bool in_wait_;
};

// Wherever it is: in the first round, within a batch, or at the end of one.
TEST(Contest, AFailureOnOneRankIsThrownOnAll) {
  const auto comm = duplicate_of_all();
  constexpr int never = 1 << 30;
  for (const int who : {0, world_size() - 1})
    for (int good = 0; good < (ranks_are_slow() ? 8 : 40); ++good)
      for (const bool in_wait : {false, true}) {
        // alone: two that take no time would drop out by chance
        Failing fails(world_rank() == who ? good : never, in_wait);
        const std::array<tonari::Exchange*, 2> exchanges{nullptr, &fails};
        const auto error = tonari::error_of([&] {
          tonari::run_collectively(comm->get(),
                                   [&] { tonari::time_in_turns(comm->get(), exchanges, 1); });
        });
        ASSERT_TRUE(error) << "rank " << who << " fails after " << good;
        EXPECT_EQ(error->code(), tonari::Errc::mpi);
        EXPECT_CONTAINS(std::string(error->what()), "rank " + std::to_string(who) + " failed");
        EXPECT_EQ(fails.gave_up, world_rank() == who ? 1 : 0);
        int sum = 1;  // the next collective call finds all ranks
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm->get());
        EXPECT_EQ(sum, world_size());
      }
}

// ---- Times, by a clock that goes on only while an exchange runs

using Takes = std::function<double(int)>;  // seconds of the k-th exchange on this rank

double time_now = 0;

class Timed final : public tonari::LeafExchange {
 public:
  explicit Timed(Takes takes) : takes_(std::move(takes)) {}
  void start() override { time_now += takes_(ran++); }
  bool test() override { return true; }
  void wait() override {}
  int messages() const override { return 0; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }

  int ran = 0;

 private:
  Takes takes_;
};

Takes always(double seconds) {
  return [seconds](int) { return seconds; };
}

class TimedContest : public testing::Test {
 protected:
  void add(Takes takes) { timed.push_back(std::make_unique<Timed>(std::move(takes))); }

  std::vector<tonari::Standing> standings(double budget) {
    std::vector<tonari::Exchange*> exchanges;
    for (const auto& each : timed) exchanges.push_back(each.get());
    return tonari::time_in_turns(comm->get(), exchanges, budget);
  }
  // The names are a, b, c and so on.
  tonari::Decision decide(tonari::Tune tune, std::size_t native = SIZE_MAX) {
    tonari::Alternatives all;
    for (std::size_t k = 0; k < timed.size(); ++k)
      all.names.emplace_back(1, static_cast<char>('a' + k));
    all.make = [](std::size_t) {};
    all.timed = [&](std::size_t k) -> tonari::Exchange& { return *timed[k]; };
    all.question = "which is the fastest", all.native = native;
    return tonari::decide(context, tune, all);
  }

  static std::shared_ptr<tonari::SharedComm> shared_by_all() {
    const std::shared_ptr<tonari::SharedComm> shared = tonari::SharedComm::of(MPI_COMM_WORLD);
    tonari::run_collectively(shared->comm(), [&] { shared->update_nodes(); });
    return shared;
  }

  const std::shared_ptr<const tonari::OwnedComm> comm = duplicate_of_all();
  const FreshWisdom wisdom{"0.0004"};
  const OtherClock clock{[] { return time_now; }};
  tonari::Context context{shared_by_all()};
  std::vector<std::unique_ptr<Timed>> timed;
};

TEST_F(TimedContest, TheTimeIsThatOfTheSlowestRank) {
  const int last = world_size() - 1;
  add([&](int) { return world_rank() == last ? 9e-6 : 1e-6; });
  add([&](int) { return world_rank() == 0 ? 8e-6 : 2e-6; });
  const std::vector<tonari::Standing> all = standings(1e-3);
  ASSERT_EQ(all.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(all[k].seconds, k == 0 ? 9e-6 : 8e-6, 1e-9) << k;
    EXPECT_TRUE(all[k].finished && all[k].steady) << k;
    EXPECT_EQ(all[k].rounds, all[0].rounds);
  }
}

// A quarter of the times is short, and a quarter long.
TEST_F(TimedContest, TheTimeIsBetweenLowerQuartileAndMedian) {
  add([](int k) { return std::array{6e-6, 8e-6, 10e-6, 50e-6}[static_cast<std::size_t>(k % 4)]; });
  const std::vector<tonari::Standing> all = standings(1e-3);
  EXPECT_GE(all[0].seconds, 6.9e-6);
  EXPECT_LE(all[0].seconds, 9.1e-6);
  EXPECT_TRUE(all[0].steady);
}

TEST_F(TimedContest, WhatVariesMuchIsNotSteady) {
  add([](int k) { return k % 3 == 0 ? 6e-6 : 20e-6; });
  EXPECT_FALSE(standings(1e-3)[0].steady);
}

TEST_F(TimedContest, WhatIsMuchSlowerLeaves) {
  add(always(10e-6)), add(always(16e-6)), add(always(18e-6)), add(always(2000e-6));
  const std::vector<tonari::Standing> all = standings(1e-2);
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k].finished, k < 2) << k;
  EXPECT_LT(timed[2]->ran, timed[1]->ran);
  EXPECT_LT(timed[3]->ran, timed[2]->ran);
}

// Whatever the order in which they are listed.
TEST_F(TimedContest, TheFastestWinsAndTheOthersFollowInOrder) {
  std::vector<double> seconds{6e-6, 7e-6, 8e-6, 9e-6};
  do {
    timed.clear();
    for (const double each : seconds) add(always(each));
    const tonari::Decision decision = decide(tonari::Tune::measure, 1);
    const auto fastest = std::ranges::min_element(seconds) - seconds.begin();
    EXPECT_EQ(decision.winner, static_cast<std::size_t>(fastest)) << decision.details;
    EXPECT_EQ(decision.reason, "measured");
    EXPECT_NEAR(decision.measured, 6e-6, 1e-9);
    EXPECT_NEAR(decision.times.seconds, 6e-6, 1e-9);
    EXPECT_NEAR(decision.times.native, seconds[1], 1e-9);
    std::string lines;
    for (const char* us : {"6", "7", "8", "9"}) {
      const auto at = std::ranges::find(seconds, std::atof(us) * 1e-6) - seconds.begin();
      lines += std::string("  ") + static_cast<char>('a' + at) + ": " + us + " us\n";
    }
    EXPECT_TRUE(decision.details.ends_with("rounds:\n" + lines)) << decision.details;
  } while (std::ranges::next_permutation(seconds).found && !HasFailure());
}

// It was slow at first, and the others are slower now than it was then.
TEST_F(TimedContest, WhatHasLeftDoesNotWin) {
  add([](int k) { return k == 0 ? 1e-4 : 1e-6; });
  add([](int k) { return k == 0 ? 1e-6 : 3e-4; });
  add([](int k) { return k == 0 ? 1e-6 : 2e-4; });
  const tonari::Decision decision = decide(tonari::Tune::measure);
  EXPECT_EQ(decision.winner, 2u) << decision.details;
  EXPECT_LT(decision.details.find("b: "), decision.details.find("a: ")) << decision.details;
}

// Starts choose among two or more.
TEST_F(TimedContest, TheOneThatIsLeftIsNotChosenByStarts) {
  for (const std::size_t left : {1, 2}) {
    tonari::Alternatives all;
    all.names = {"a", "b"};
    all.make = [&](std::size_t k) {
      if (k >= left) tonari::fail(tonari::Errc::algorithm, "there is no such way here");
    };
    all.question = "which may start";
    const tonari::Decision decision = tonari::decide(context, tonari::Tune::online, all);
    EXPECT_EQ(decision.made.size(), left);
    EXPECT_EQ(decision.reason, left > 1 ? "online" : "fixed rule");
  }
}

TEST_F(TimedContest, TheWinnerIsRememberedIfItsTimesAreSteady) {
  add([](int k) { return k % 3 == 0 ? 6e-6 : 20e-6; }), add(always(30e-6));
  for (int again = 0; again < 2; ++again) {
    const tonari::Decision unsteady = decide(tonari::Tune::automatic);
    EXPECT_EQ(unsteady.winner, 0u) << unsteady.details;
    EXPECT_EQ(unsteady.reason, "measured");
    EXPECT_CONTAINS(unsteady.details, "the times varied much");
  }
  timed.clear();
  add(always(9e-6)), add(always(8e-6));
  EXPECT_EQ(decide(tonari::Tune::automatic).reason, "measured");
  timed[0] = std::make_unique<Timed>(always(1e-6));  // nobody looks any more
  const tonari::Decision known = decide(tonari::Tune::automatic);
  EXPECT_EQ(known.reason, "wisdom");
  EXPECT_EQ(known.winner, 1u);
  EXPECT_NEAR(known.times.seconds, 8e-6, 1e-8);
}

}  // namespace
