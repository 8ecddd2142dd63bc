// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that are tuned while they are used: sums without collective calls, and races of made-up
// exchanges by a made-up clock.
#include "engine/tune/online_exchange.hpp"

#include <unistd.h>

#include <numeric>
#include <set>
#include <vector>

#include "engine/wait/agree.hpp"
#include "neighborhood/handles.hpp"
#include "request/prepared.hpp"
#include "support/contains.hpp"
#include "support/counting.hpp"
#include "support/duplicate.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;
using tonari::OnlineExchange;
using tonari::Race;
using tonari::TreeSum;
using Numbers = std::array<double, TreeSum::most_numbers>;

// ---- Sums

double number_of(int rank, int round, std::size_t k) {
  return 1000.0 * round + 10.0 * rank * (static_cast<double>(k) + 1) + 0.1 * rank;
}

void expect_sums(const TreeSum& sum, int round) {
  for (std::size_t k = 0; k < TreeSum::most_numbers; ++k) {
    double expected = 0;
    for (int rank = 0; rank < world_size(); ++rank) expected += number_of(rank, round, k);
    EXPECT_NEAR(sum.sums()[k], expected, 1e-9 * expected) << "round " << round << ", number " << k;
  }
}

Numbers mine(int round) {
  Numbers numbers{};
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = number_of(world_rank(), round, k);
  return numbers;
}

void complete_sum(TreeSum& sum) {
  while (sum.under_way()) sum.advance();
}

TEST(TreeSum, IsWhatAllRanksGave) {
  const auto comm = duplicate_of_all();
  TreeSum sum(comm, 3);
  Random random(7 + static_cast<unsigned>(world_rank()));
  for (int round = 0; round < 100; ++round) {
    if (round % 10 == world_rank()) usleep(static_cast<unsigned>(pick(random, 0, 2000)));
    sum.start(mine(round));
    complete_sum(sum);
    expect_sums(sum, round);
    // bitwise the same, whatever the order in which messages arrived
    auto lowest = sum.sums()[0], highest = lowest;
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(lowest, highest);
  }
}

// Requests that ranks start and complete in different orders, as no collective call allows it.
TEST(TreeSum, ThoseOfSeveralRequestsMayBeStartedInAnyOrder) {
  const auto comm = duplicate_of_all();
  constexpr int count = 6;
  std::vector<std::unique_ptr<TreeSum>> all;
  for (int k = 0; k < count; ++k) all.push_back(std::make_unique<TreeSum>(comm, k));
  Random random(world_rank());
  std::vector<std::size_t> order(count);
  for (int round = 0; round < 50; ++round) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t k : order) all[k]->start(mine(100 * round + static_cast<int>(k)));
    for (bool any = true; any;) {
      any = false;
      for (const auto& sum : all)
        if (sum->under_way()) any = true, sum->advance();
    }
    for (std::size_t k = 0; k < count; ++k) expect_sums(*all[k], 100 * round + static_cast<int>(k));
  }
}

// Receives what nobody else will: numbers of communicators come again.
void drain(MPI_Comm comm) {
  MPI_Barrier(comm);
  for (int looks = 0, flag = 0; looks < 100; ++looks) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    std::array<double, 2 * TreeSum::most_numbers> longer;
    if (flag)
      MPI_Recv(longer.data(), longer.size(), MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, comm,
               MPI_STATUS_IGNORE);
    else
      usleep(20);
  }
  MPI_Barrier(comm);
}

TEST(TreeSum, WhoGivesUpIsHeardByThoseThatWait) {
  if (world_size() == 1) GTEST_SKIP() << "nobody waits";
  const auto comm = duplicate_of_all();
  for (int who = 0; who < world_size(); ++who) {
    TreeSum sum(comm, 10 + who);
    if (world_rank() == who) {
      sum.give_up();
    } else {
      tonari::Errc code = tonari::Errc::success;
      try {
        sum.start(mine(0));
        complete_sum(sum);
      } catch (const tonari::Error& error) {
        code = error.code();
        sum.give_up();  // as an exchange that failed does
      }
      EXPECT_EQ(code, tonari::Errc::peer) << who << " gave up";
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  drain(comm->get());
}

// ---- Races

double seconds = 0;  // of the made-up clock
double made_up() { return seconds; }

// What ran, on this rank.
struct Log {
  std::vector<int> started;
  std::vector<int> freed;
  // the start that fails, counted from 0, and the one whose tests do, counted from 1
  std::size_t fails_at_start = SIZE_MAX, fails_at_test = SIZE_MAX;
};

// Takes as long as it is told.
class Fake final : public tonari::LeafExchange {
 public:
  Fake(int number, Log& log, std::function<double()> takes)
      : number_(number), log_(log), takes_(std::move(takes)) {}
  ~Fake() override { log_.freed.push_back(number_); }
  void start() override {
    EXPECT_EQ(left_, 0) << "it is running";
    fail_if(log_.fails_at_start);
    log_.started.push_back(number_);
    left_ = 3;
    seconds += takes_() / 2;
  }
  bool test() override {
    if (left_ == 1) fail_if(log_.fails_at_test);
    if (left_ > 0 && --left_ == 0) seconds += takes_() / 2;
    return left_ == 0;
  }
  void wait() override {
    while (!test()) continue;
  }
  void rebind(std::span<const std::ptrdiff_t> shifts) override { shift = shifts[0]; }
  int messages() const override { return 100 + number_; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 1; }
  void give_up() override { ++gave_up; }

  std::ptrdiff_t shift = 0;
  int gave_up = 0;

 private:
  void fail_if(std::size_t at) const {
    if (log_.started.size() == at) tonari::fail(tonari::Errc::mpi, "this rank's MPI has failed");
  }

  int number_, left_ = 0;
  Log& log_;
  std::function<double()> takes_;
};

class Online : public testing::Test {
 protected:
  void SetUp() override { seconds = 0, remembered.clear(), remembered.reserve(10); }

  std::unique_ptr<OnlineExchange> make(int tag, Log& log,
                                       const std::vector<std::function<double()>>& takes) {
    std::vector<OnlineExchange::Contender> contenders;
    fakes.clear();
    for (std::size_t c = 0; c < takes.size(); ++c) {
      auto fake = std::make_unique<Fake>(static_cast<int>(c), log, takes[c]);
      fakes.push_back(fake.get());
      contenders.push_back({std::string(1, static_cast<char>('a' + c)), std::move(fake)});
    }
    return std::make_unique<OnlineExchange>(
        std::move(contenders), std::make_unique<TreeSum>(comm, tag),
        OnlineExchange::Options{world_size(), {}, made_up, [this](const OnlineExchange::Result& r) {
                                  remembered.push_back(r);
                                }});
  }
  std::unique_ptr<OnlineExchange> make(int tag, Log& log, const std::vector<double>& takes) {
    std::vector<std::function<double()>> all;
    for (const double t : takes) all.push_back([t] { return t; });
    return make(tag, log, all);
  }
  static void run(OnlineExchange& exchange, bool by_test) {
    exchange.start();
    if (!by_test) return exchange.wait();
    while (!exchange.test()) seconds += 1e-13;  // as others that are driven meanwhile take
  }
  static std::shared_ptr<tonari::SharedComm> shared_by_all() {
    std::shared_ptr<tonari::SharedComm> shared = tonari::SharedComm::of(MPI_COMM_WORLD);
    tonari::run_collectively(shared->comm(), [&] { shared->update_nodes(); });
    return shared;
  }
  // All ranks have run the same.
  static void expect_alike(const Log& log) {
    std::vector<int> first = log.started;
    int length = static_cast<int>(first.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    ASSERT_EQ(static_cast<std::size_t>(length), log.started.size());
    MPI_Bcast(first.data(), length, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(first, log.started);
  }

  std::shared_ptr<const tonari::OwnedComm> comm = duplicate_of_all();
  std::vector<Fake*> fakes;
  std::vector<OnlineExchange::Result> remembered;
};

TEST_F(Online, TheFastestWinsAndTheOthersAreFreed) {
  Log log;
  auto exchange = make(0, log, std::vector<double>{4.5e-6, 2e-6, 20e-6});
  EXPECT_CONTAINS(exchange->report(), "tuning online, pass 1 of at most 6");
  EXPECT_FALSE(exchange->proceeds_by_itself());
  EXPECT_FALSE(exchange->nothing());
  EXPECT_EQ(exchange->messages(), 100);
  int starts = 0;
  for (; !exchange->decided(); ++starts) run(*exchange, starts % 2);
  EXPECT_EQ(starts, 10 + 9) << "c leaves after the first pass, a after the second";
  EXPECT_EQ(exchange->leader(), 1U);
  EXPECT_EQ(exchange->messages(), 101);
  EXPECT_TRUE(log.freed.empty()) << "not while the last exchange may still be looked at";
  run(*exchange, false);
  EXPECT_EQ(log.started.back(), 1);
  EXPECT_EQ(log.freed, (std::vector<int>{0, 2}));
  EXPECT_EQ(exchange->scratch_bytes(), 1U);
  EXPECT_NEAR(exchange->seconds(), 2e-6, 1e-8);
  // 3 + 4 of a lose 2.5 us each, as the one that ended the first pass, 3 of c 18 us
  const OnlineExchange::Regret regret = exchange->regret();
  EXPECT_EQ(regret.starts, 19U);
  EXPECT_NEAR(regret.seconds, 74e-6, 1e-7);
  EXPECT_NEAR(regret.exchanges, 37, 0.1);
  EXPECT_CONTAINS(exchange->report(),
                  "tuned online in 2 passes:\n  4.5 us  a (dropped out)\n  2 us  b\n");
  EXPECT_CONTAINS(exchange->report(), "tuning took 19 starts");
  ASSERT_EQ(remembered.size(), 1U) << "at the decision, once";
  EXPECT_EQ(remembered[0].winner, 1U);
  EXPECT_TRUE(remembered[0].steady);
}

// Whatever each rank sees and however it waits.
TEST_F(Online, RanksRunTheSameAtEachStart) {
  Random common(random_seed()), own(static_cast<unsigned>(world_rank()) + 1);
  for (int round = 0; round < 20; ++round) {
    const int count = pick(common, 2, 4);
    std::vector<std::function<double()>> takes;
    for (int c = 0; c < count; ++c)
      takes.emplace_back(
          [&own, scale = pick(common, 1, 6)] { return 1e-6 * scale * pick(own, 1, 9); });
    Log log;
    auto exchange = make(round % 7, log, takes);
    for (int k = 0; k < 120; ++k) {
      if (pick(own, 0, 40) == 0) usleep(static_cast<unsigned>(pick(own, 1, 500)));
      run(*exchange, pick(own, 0, 1) == 0);
    }
    EXPECT_TRUE(exchange->decided());
    expect_alike(log);
    for (std::size_t k = 110; k < 120; ++k)
      EXPECT_EQ(log.started[k], static_cast<int>(exchange->leader()));
  }
}

// Several at a time, in another order on each rank.
TEST_F(Online, SeveralAreTunedAtOnce) {
  constexpr int count = 4;
  std::array<Log, count> logs;
  std::vector<std::unique_ptr<OnlineExchange>> all;
  for (int k = 0; k < count; ++k)
    all.push_back(
        make(k, logs[static_cast<std::size_t>(k)], std::vector<double>{3e-6, 2e-6, 1e-6}));
  Random own(static_cast<unsigned>(world_rank()));
  std::array<std::size_t, count> order{0, 1, 2, 3};
  for (int round = 0; round < 60; ++round) {
    std::ranges::shuffle(order, own);
    for (const std::size_t k : order) all[k]->start();
    for (bool complete = false; !complete;) {
      complete = true;
      for (const auto& exchange : all) complete = exchange->test() && complete;
    }
  }
  for (int k = 0; k < count; ++k) {
    EXPECT_EQ(all[static_cast<std::size_t>(k)]->leader(), 2U);
    expect_alike(logs[static_cast<std::size_t>(k)]);
  }
}

// After any number of exchanges nothing is under way that others would have to receive.
TEST_F(Online, CanBeFreedAtAnyTime) {
  for (int starts = 0; starts < 40; ++starts) {
    Log log;
    auto exchange = make(0, log, std::vector<double>{3e-6, 2.9e-6, 2.8e-6});
    for (int k = 0; k < starts; ++k) run(*exchange, k % 2);
    exchange.reset();
    EXPECT_EQ(log.freed.size(), 3U);
    MPI_Barrier(MPI_COMM_WORLD);
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->get(), &flag, MPI_STATUS_IGNORE);
    EXPECT_FALSE(flag) << "a message is left after " << starts << " starts";
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_TRUE(remembered.empty()) << "nothing was decided";
}

// What became of a race on this rank, in which one rank's exchange fails.
struct Outcome {
  int leader = -1;  // -1: not decided
  tonari::Errc error = tonari::Errc::success;
};

Outcome run_until_error(OnlineExchange& exchange, int starts) {
  Outcome outcome;
  try {
    for (int k = 0; k < starts; ++k) {
      exchange.start();
      if (k % 2)
        exchange.wait();
      else
        while (!exchange.test()) continue;
    }
  } catch (const tonari::Error& error) {
    outcome.error = error.code();
    exchange.give_up();  // as requests do
  }
  if (exchange.decided()) outcome.leader = static_cast<int>(exchange.leader());
  return outcome;
}

// The largest over all ranks.
int largest(int mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

// Whenever it fails, none waits for ever, and no rank decides otherwise than the rest.
TEST_F(Online, WhereARankFailsTheOthersDecideAlikeOrHearOfIt) {
  constexpr int all = 10 + 5 * 13, starts = all + 5;  // of a race of three in six passes
  std::set<int> when{all - 1};                        // in the exchange that ends the last pass
  // In passes of 13, three apart come to each start of a pass.
  const int apart = ranks_are_slow() ? 9 : every_case() ? 1 : 3;
  for (int at = 0; at < starts; at += apart) when.insert(at);
  int tag = 0, alone = 0;
  for (const int who : std::set{0, world_size() / 2, world_size() - 1})
    for (const int at : when)
      for (const bool in_test : {false, true}) {
        Log log;
        if (world_rank() == who && in_test) log.fails_at_test = static_cast<std::size_t>(at) + 1;
        if (world_rank() == who && !in_test) log.fails_at_start = static_cast<std::size_t>(at);
        auto exchange = make(tag++, log, std::vector<double>{3e-6, 2.9e-6, 2.8e-6});
        const Outcome mine = run_until_error(*exchange, starts);
        const std::string where = tonari::text("rank ", who, " fails at ", at, in_test);
        EXPECT_EQ(mine.error == tonari::Errc::mpi, world_rank() == who) << where;
        if (mine.leader < 0 && world_rank() != who) {
          EXPECT_EQ(mine.error, tonari::Errc::peer) << where;
        }
        if (at >= all) {
          EXPECT_EQ(mine.leader, 2) << where;
        }
        const int leader = largest(mine.leader);
        EXPECT_TRUE(mine.leader < 0 || mine.leader == leader) << where;
        alone += leader >= 0 && mine.leader < 0;
        exchange.reset();
        drain(comm->get());
      }
  EXPECT_GE(largest(alone), world_size() > 1 ? 1 : 0) << "it fails as the last pass ends, too";
}

TEST_F(Online, StartsAndWaitsAllocateNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "sanitizers have a malloc of their own";
  Log log;
  log.started.reserve(1000), log.freed.reserve(10);
  auto exchange = make(0, log, std::vector<double>{3e-6, 2.9e-6, 2.8e-6, 30e-6});
  arm();
  for (int k = 0; k < 130; ++k) run(*exchange, k % 2);
  const Counts counts = disarm();
  EXPECT_TRUE(exchange->decided());
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.collectives, 0) << counts.first;
}

TEST_F(Online, OtherBuffersReachAllThatMayStillRun) {
  Log log;
  auto exchange = make(0, log, std::vector<double>{3e-6, 2.9e-6, 30e-6});
  const std::ptrdiff_t shifts[] = {64};
  exchange->rebind(shifts);
  for (const Fake* fake : fakes) EXPECT_EQ(fake->shift, 64);
  exchange->give_up();
  for (const Fake* fake : fakes) EXPECT_EQ(fake->gave_up, 1);
  drain(comm->get());
}

// Calls that go through a race take longer.
TEST_F(Online, TheWinnerRunsWithoutTheRaceAroundIt) {
  Log log;
  tonari::Prepared prepared(std::make_shared<tonari::Context>(shared_by_all()));
  auto race = make(0, log, std::vector<double>{4.5e-6, 2e-6, 20e-6});
  const Fake* const winner = fakes[1];
  prepared.tuning.emplace(race.get(), std::vector<tonari::Candidate>{});
  prepared.exchange = std::move(race);
  const OnlineExchange& online = *prepared.tuning->online;
  while (!online.decided()) {
    EXPECT_EQ(prepared.exchange.get(), &online) << "it chooses";
    prepared.start();
    prepared.wait();
  }
  for (int again = 0; again < 2; ++again) {
    prepared.start();
    EXPECT_EQ(prepared.exchange.get(), winner);
    EXPECT_EQ(log.started.back(), 1);
    prepared.wait();
    EXPECT_TRUE(prepared.complete());
    EXPECT_EQ(log.freed, (std::vector<int>{0, 2}));
    EXPECT_CONTAINS(online.report(), "tuned online in 2 passes") << "it still tells";
  }
}

TEST(CallTime, IsWhatIsSpentInCallsAndInShortBreaksBetweenThem) {
  tonari::CallTime time;
  for (int again = 0; again < 2; ++again) {
    time.begin();
    time.enter(10), time.leave(10 + 1e-6, false);
    time.enter(11), time.leave(11 + 2e-6, true);         // the program computed in between
    time.enter(11 + 6e-6), time.leave(11 + 7e-6, true);  // it looks again
    time.enter(12), time.leave(12 + 8e-6, true);         // it computed again
    EXPECT_NEAR(time.seconds(), 1e-6 + 2e-6 + 5e-6 + 8e-6, 1e-9);
  }
}

}  // namespace
