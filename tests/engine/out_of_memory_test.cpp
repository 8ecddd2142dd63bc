// SPDX-License-Identifier: BSD-3-Clause
// One rank runs out of memory in the middle of a collective call, at its k-th allocation for many
// k: nobody waits for it for ever, all ranks that hear of it return the same code, nothing is left
// behind, and the same call succeeds right afterwards.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <set>
#include <thread>

#include "engine/collective_calls.hpp"
#include "engine/tune/wisdom.hpp"
#include "memory/launched_ranks.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/tune_seconds.hpp"

namespace {

using namespace tonari::test;

// Ends the program, and says where, if ranks wait for each other for too long.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void look_at(const std::string& call, int victim, long k, bool once) {
    std::snprintf(says_, sizeof says_, "%s: rank %d has no memory at its allocation %ld%s",
                  call.c_str(), victim, k, once ? "" : " and later");
    ++beat_;
  }

 private:
  void watch() {
    long seen = beat_;
    auto since = std::chrono::steady_clock::now();
    for (; !over_; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
      if (const long now = beat_; now != seen) seen = now, since = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - since < std::chrono::seconds(limit)) continue;
      std::fprintf(stderr, "rank %d still waits after %d seconds: %s\n", world_rank(), limit,
                   says_);
      std::abort();
    }
  }
  static constexpr int limit = 600;
  std::atomic<bool> over_{false};
  std::atomic<long> beat_{0};
  char says_[200] = "";
  std::thread thread_;
};

class ShortOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
    if (world_size() == 1) GTEST_SKIP() << "nobody waits";
  }
  const TuneSeconds of_few_rounds{"0.002"};

  static void expect_choices_by_model(const char* tune, const char* because);

  // One attempt in which nothing fails, and how many allocations it takes here.
  static long allocations_of(Call& call) {
    call.set_up();
    fail_allocation(0);
    EXPECT_OK(call.make());
    const long taken = allocations();
    call.use();
    call.drop();
    call.tear_down();
    return taken;
  }

  // Rank `victim` has no memory at its k-th allocation of the call. Whether it came so far.
  static bool attempt(Call& call, int victim, long k, bool once) {
    call.set_up();
    fail_allocation(world_rank() == victim ? k : 0, once);
    const int code = call.make();
    const bool reached = allocations() >= k;
    fail_allocation(0);
    const std::string sentence = code == TONARI_SUCCESS ? "" : tonari_last_error();
    std::vector<int> codes(static_cast<std::size_t>(world_size()));
    MPI_Allgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const int told = codes[static_cast<std::size_t>(victim)];
    EXPECT_EQ(code, call.hears_of(victim) ? told : TONARI_SUCCESS) << sentence;
    EXPECT_TRUE(code == TONARI_SUCCESS || code == TONARI_ERR_MEMORY) << sentence;
    if (code == TONARI_SUCCESS) {
      call.use();
      call.drop();
    }
    EXPECT_OK(call.make());
    call.use();
    call.drop();
    call.tear_down();
    return reached;
  }

  static long most_allocations_of(Call& call) {
    long most = allocations_of(call);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }

  // Some of the first n numbers: the first ones, others evenly spread, and random ones.
  static std::set<long> some_of(long n, int wanted, Random& random) {
    std::set<long> some;
    for (long k = 1; k <= std::min<long>(n, wanted / 4); ++k) some.insert(k);
    for (long k = 0; k < wanted / 2; ++k) some.insert(1 + k * n / (wanted / 2));
    for (int k = 0; k < wanted / 4; ++k)
      some.insert(1 + static_cast<long>(random() % static_cast<unsigned long>(n)));
    return some;
  }
};

int open_files() {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++files;
  return files;
}

TEST_F(ShortOfMemory, LookingForRanksLeavesNoFileOpen) {
  const int before = open_files();
  int failures = 0;
  for (long k = 1; k <= 12; ++k) {
    fail_allocation(k);
    try {
      (void)tonari::launched_ranks();
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    fail_allocation(0);
  }
  EXPECT_EQ(failures, 12);
  EXPECT_EQ(open_files(), before);
}

class OutOfMemory : public ShortOfMemory, public testing::WithParamInterface<Named> {};

TEST_P(OutOfMemory, IsTheSameOnAllRanksAndDoesNotLast) {
  const std::unique_ptr<Call> call = GetParam().make();
  Watchdog watchdog;
  const auto try_cleanly = [&] {
    watchdog.look_at(GetParam().name, 0, 0, true);
    allocations_of(*call);
  };
  for (int warm = 0; warm < 3; ++warm) try_cleanly();
  const long most = most_allocations_of(*call);
  const int wanted = call->attempts(world_size() == 2 ? 40 : mpi_spins() ? 8 : 20);
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  constexpr int clean =
      4;  // attempts that tell what the counters do not see, such as what goes with a
          // communicator of the program
  const Live start = live();
  for (int k = 0; k < clean; ++k) try_cleanly();
  const Live before = live();
  int number = 0, reached = 0;
  for (const long k : some_of(most, wanted, random)) {
    const int victim = number % world_size();
    const bool once = number / world_size() % 2 == 0;
    ++number;
    SCOPED_TRACE("rank " + std::to_string(victim) + ", allocation " + std::to_string(k) + " of " +
                 std::to_string(most) + (once ? "" : " and later"));
    watchdog.look_at(GetParam().name, victim, k, once);
    reached += attempt(*call, victim, k, once);
    if (!everywhere(!HasFailure())) break;
  }
  const Live after = live();
  EXPECT_GT(reached, 0);
  const auto unseen = [&](long Live::* kind) {
    return (before.*kind - start.*kind) * number / clean;
  };
  for (long Live::* kind : {&Live::datatypes, &Live::requests, &Live::communicators})
    EXPECT_EQ(after.*kind, before.*kind + unseen(kind));
  EXPECT_LT(after.pieces, before.pieces + unseen(&Live::pieces) + number / 2 + 10)
      << "pieces of memory after " << number << " attempts";
}

INSTANTIATE_TEST_SUITE_P(Calls, OutOfMemory, testing::ValuesIn(calls),
                         [](const auto& info) { return std::string(info.param.name); });

// Inits with this mode, in which one rank's allocations fail one after the other. A choice by the
// model alone says why, and there is one.
void ShortOfMemory::expect_choices_by_model(const char* tune, const char* because) {
  Init call(false, Operation::alltoall, {{"tonari_tune", tune}});
  Watchdog watchdog;
  watchdog.look_at(tune, 0, 0, true);
  for (int warm = 0; warm < 3; ++warm) allocations_of(call);
  const long most = most_allocations_of(call), step = std::max(1L, most / 40);
  int by_model = 0;
  for (long k = 1; k <= most; k += step) {
    const int victim = static_cast<int>(k % world_size());
    watchdog.look_at(tune, victim, k, true);
    call.set_up();
    fail_allocation(world_rank() == victim ? k : 0);
    const int code = call.make();
    fail_allocation(0);
    if (everywhere(code == TONARI_SUCCESS)) {
      tonari_request_info info;
      EXPECT_OK(tonari_request_get_info(call.request, &info));
      const bool model = std::string(info.reason) == "model";
      // which names the rank, except where that has no memory for its number
      const std::string text = tonari_request_describe(call.request), reason = because;
      const std::size_t colon = std::min(reason.find(": "), reason.size());
      const std::string who =
          reason.substr(0, colon) + ": rank " + std::to_string(victim) + reason.substr(colon);
      const bool says = text.find(who) != text.npos || text.find(reason) != text.npos;
      EXPECT_EQ(model, says) << info.reason << "\n" << tonari_request_describe(call.request);
      EXPECT_TRUE(everywhere(model) || everywhere(!model));
      by_model += model;
      call.use();
    }
    call.drop();
    call.tear_down();
  }
  EXPECT_GT(by_model, 0);
}

// A rank without memory for the contest, which needs a second copy of all buffers, may have enough
// for the exchange.
TEST_F(ShortOfMemory, TheModelDecidesWhereAContestCannotTakePlace) {
  expect_choices_by_model("measure", "nothing was measured: out of memory");
}

// Or for one candidate instead of several.
TEST_F(ShortOfMemory, TheModelDecidesWhereStartsCannotChoose) {
  const FreshWisdom wisdom("0.02");
  expect_choices_by_model("online", "starts do not choose");
}

// A rank that forgot a line would choose for itself, while the others take what they remember.
TEST(WisdomWithoutMemory, IsReadWholeOrNotAtAll) {
  if (!counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
  const std::string lines =
      "linear/shared with a long name|1e-6|2e-6\nirecv/p2p-packed, just as long|3e-6|0\n";
  long k = 0, failed = 0;
  for (bool reached = true; reached; failed += reached) {
    std::vector<tonari::Remembered> all;
    fail_allocation(++k);
    const bool complete = !tonari::error_of([&] { all = tonari::remembered_from_lines(lines); });
    reached = allocations() >= k;
    fail_allocation(0);
    EXPECT_EQ(complete, !reached) << "allocation " << k;
    if (!complete) continue;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].label, "irecv/p2p-packed, just as long");
  }
  EXPECT_GE(failed, 3);
}

}  // namespace
