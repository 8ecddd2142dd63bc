// SPDX-License-Identifier: BSD-3-Clause
#include "memory/wait.hpp"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "memory/child.hpp"
#include "memory/made_up_time.hpp"
#include "memory/naps.hpp"

namespace tonari {
namespace {

using Then = Wait::Then;

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Waits for nothing for so long; what idle() said and what the process did meanwhile.
struct Waited {
  long calls = 0, progress = 0, tells = 0, checks = 0;
  std::vector<double> check_times;
  double wall = 0;
};

Waited wait_for(Wait& wait, double time) {
  Waited waited;
  const double start = seconds(CLOCK_MONOTONIC);
  while ((waited.wall = seconds(CLOCK_MONOTONIC) - start) < time) {
    ++waited.calls;
    switch (wait.idle()) {
      case Then::look:
        break;
      case Then::progress:
        ++waited.progress;
        break;
      case Then::tell:
        ++waited.tells;
        break;
      case Then::check:
        ++waited.checks, waited.check_times.push_back(seconds(CLOCK_MONOTONIC) - start);
        break;
    }
  }
  return waited;
}

TEST(Wait, PatientAtFirst) {
  for (int again = 0; again < 2; ++again) {
    Wait wait({});
    for (int k = 0; k < Wait::patient; ++k) ASSERT_EQ(wait.idle(), Then::look) << k;
    long progress = 0;
    for (int k = 0; k < 640; ++k) progress += wait.idle() == Then::progress;
    EXPECT_EQ(progress, 10) << "every 64th call";
    wait.reset();
    for (int k = 0; k < Wait::patient; ++k)
      ASSERT_EQ(wait.idle(), Then::look) << "after a reset, " << k;
  }
}

TEST(Wait, LetsTheMpiProceedOftenWhenCrowded) {
  Wait wait({true, 10});
  long progress = 0;
  for (int k = 0; k < 816; ++k) progress += wait.idle() == Then::progress;
  EXPECT_GE(progress, 95);
  EXPECT_LE(progress, 102);
}

// A first look, and any in the patient phase, makes no system call: in this process each would be
// deadly.
TEST(Wait, NoSystemCallWhilePatient) {
  test::Child child([](test::Line&) {
    Wait wait({});
    // all but read, write and exit kill
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(3);
    for (int k = 0; k < Wait::patient; ++k) wait.idle();
    syscall(SYS_exit, 0);
  });
  const int status = child.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) GTEST_SKIP() << "no seccomp";
  EXPECT_EQ(status, 0);
}

// All threads to come run on the first of the cores that there are.
void stay_on_one_core() {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

// Two threads take turns on one core. Who spins until its time slice is over takes milliseconds of
// processor time for each turn. `undisturbed`: the same if no other process keeps that core busy.
void take_turns_on_one_core(WaitPolicy policy, double seconds_per_turn, double undisturbed) {
  ASSERT_NO_FATAL_FAILURE(stay_on_one_core());
  constexpr int turns = 2000;
  std::atomic<int> turn{0};
  std::atomic<std::uint64_t> naps{0};
  auto play = [&](int me) {
    Wait wait(policy);
    for (int k = me; k < turns; k += 2) {
      wait.reset();
      while (turn.load() != k) wait.idle();
      turn.store(k + 1);
    }
    naps += naps_taken();
  };
  const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), turns);
  const double each = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / turns;
  EXPECT_LT(each, naps == 0 ? undisturbed : seconds_per_turn) << naps << " naps";
}

// Somebody else on the only core gets it at once, not when the waiting one's time is up.
TEST(Wait, GivesTheCoreAwayWhenCrowded) {
  test::Child child([](test::Line&) { take_turns_on_one_core({true, 10}, 0.0003, 0.0003); });
  child.finish();
}

// The system may put two ranks on one core, although there are enough. Who spins for 50 us before
// it gives the core away would take more than that for each turn.
TEST(Wait, GivesTheCoreAwayAtOnceWhereItIsSeenToBeShared) {
  test::Child child([](test::Line&) { take_turns_on_one_core({false, 10}, 0.0005, 0.00002); });
  child.finish();
}

// A thread that never waits keeps the core for its slice at a yield. How long that is depends on
// the system, and one that is held up after the yield has not seen it, so only many of them say so.
TEST(Wait, SleepsBesideABusyThread) {
  test::Child child([](test::Line&) {
    ASSERT_NO_FATAL_FAILURE(stay_on_one_core());
    std::atomic<bool> over = false;
    std::thread busy([&] {
      while (!over.load(std::memory_order_relaxed)) continue;
    });
    int long_yields = 0;
    const double end = seconds(CLOCK_MONOTONIC) + 1;
    for (double before = 0; (before = seconds(CLOCK_MONOTONIC)) < end;) {
      give_core_away();
      long_yields += seconds(CLOCK_MONOTONIC) - before > 2 * Naps::long_yield;
    }
    over = true;
    busy.join();
    if (long_yields > 20) {
      EXPECT_GT(naps_taken(), 0U);
    }
  });
  child.finish();
}

int naps_in_a_row(Naps& naps) {
  int taken = 0;
  while (naps.take()) ++taken;
  return taken;
}

TEST(Naps, AreTwiceAsManyAfterEachLongYield) {
  Naps naps;
  EXPECT_EQ(naps_in_a_row(naps), 0);
  for (int expected = 4; expected <= 1024; expected *= 2) {
    EXPECT_TRUE(naps.yielded(4e-3));
    EXPECT_EQ(naps_in_a_row(naps), expected);
  }
  EXPECT_TRUE(naps.yielded(4e-3));
  EXPECT_EQ(naps_in_a_row(naps), 1024) << "no more than that";
  EXPECT_EQ(naps.taken(), 4U + 8 + 16 + 32 + 64 + 128 + 256 + 512 + 1024 + 1024);
}

// How many naps follow a long yield, if each takes so long.
int naps_that_take(Naps& naps, double seconds) {
  EXPECT_TRUE(naps.yielded(4e-3));
  int taken = 0;
  for (; naps.take(); ++taken) naps.slept(seconds);
  return taken;
}

TEST(Naps, EndWhereTheyEndLate) {
  Naps naps;
  for (const int ignored : {1, 2, 4, 8, 16, 32, 64, 64}) {
    EXPECT_EQ(naps_that_take(naps, 1e-3), 2) << "and the core is not had back sooner";
    for (int k = 0; k < ignored; ++k) EXPECT_EQ(naps_that_take(naps, 1e-4), 0) << k;
  }
  EXPECT_EQ(naps_that_take(naps, 1e-4), 4) << "they are tried again";
  EXPECT_EQ(naps_that_take(naps, 1e-4), 8);
  EXPECT_EQ(naps_that_take(naps, 1e-3), 2);
  EXPECT_EQ(naps_that_take(naps, 1e-4), 0) << "all is forgotten after naps that end in time";
  EXPECT_EQ(naps_that_take(naps, 1e-4), 4);
}

TEST(Naps, GoOnAfterALateOne) {
  Naps naps;
  EXPECT_TRUE(naps.yielded(4e-3));
  for (int k = 0; k < 4; ++k) {
    ASSERT_TRUE(naps.take());
    naps.slept(k % 2 == 0 ? 1e-3 : 1e-4);
  }
  EXPECT_FALSE(naps.take());
  EXPECT_EQ(naps_that_take(naps, 1e-4), 8);
}

TEST(Naps, AreForgottenWhereTheCoreIsFreeAgain) {
  Naps naps;
  for (const int shorts : {63, 64}) {
    for (int k = 0; k < 2; ++k) {
      EXPECT_TRUE(naps.yielded(4e-3));
      EXPECT_GT(naps_in_a_row(naps), 0);
    }
    for (int k = 0; k < shorts; ++k) EXPECT_FALSE(naps.yielded(1e-6));
    EXPECT_EQ(naps_in_a_row(naps), 0);
    EXPECT_TRUE(naps.yielded(4e-3));
    EXPECT_EQ(naps_in_a_row(naps), shorts == 64 ? 4 : 16) << shorts << " short ones";
  }
}

TEST(Wait, SleepsAfterAWhile) {
  const test::MadeUpTime time;
  for (const bool crowded : {false, true}) {
    Wait wait({crowded, 10});
    wait_for(wait, 0.1);
    const Waited waited = wait_for(wait, 0.3);
    EXPECT_LT(waited.calls, waited.wall / 0.0002 * 8 / 7 + 16)
        << "seven of eight calls sleep, 0.2 ms each; crowded: " << crowded;
    EXPECT_GT(waited.calls, 0.3 / 0.002) << "each sleep is short";
    EXPECT_GT(waited.progress, waited.calls / 10);
    EXPECT_EQ(waited.checks, 0);
  }
}

// While waiting has been short so is each sleep.
TEST(Wait, SleepsArePartOfTheWaitSoFar) {
  const test::MadeUpTime time;
  for (const bool crowded : {false, true}) {
    Wait wait({crowded, 10});
    const double start = seconds(CLOCK_MONOTONIC);
    std::vector<double> early, late;
    for (double before = start, after; before < start + 0.3; before = after) {
      wait.idle();
      after = seconds(CLOCK_MONOTONIC);
      (before < start + 0.0015 ? early : late).push_back(after - before);
    }
    ASSERT_FALSE(early.empty());
    EXPECT_LT(*std::ranges::max_element(early), 0.0001) << "no sleep yet";
    EXPECT_LT(*std::ranges::max_element(late), 0.00021) << "0.2 ms at most";
  }
}

TEST(Wait, ChecksAgainAndAgain) {
  const test::MadeUpTime time;
  for (const bool crowded : {false, true}) {
    Wait wait({crowded, 0.1});
    const Waited waited = wait_for(wait, 0.45);
    ASSERT_EQ(waited.checks, 4) << "crowded: " << crowded;
    double last = 0;
    for (double check : waited.check_times) {
      EXPECT_NEAR(check - last, 0.1, 0.001);
      last = check;
    }
    wait.reset();
    EXPECT_EQ(wait_for(wait, 0.05).checks, 0) << "a new wait has its own time";
  }
}

// About once a second, checks or not, and says how long it has been.
TEST(Wait, TellsOfAWaitThatIsLong) {
  const test::MadeUpTime time;
  for (const double look_after : {10., 0.7}) {
    Wait wait({true, look_after});
    EXPECT_EQ(wait_for(wait, 0.5).tells, 0);
    const Waited waited = wait_for(wait, 0.8);
    EXPECT_EQ(waited.checks, look_after < 1);
    EXPECT_EQ(waited.tells, look_after > 1) << "a check tells, too";
    EXPECT_NEAR(wait.waited(), std::min(1., look_after), 0.001);
    wait.reset();
    EXPECT_EQ(wait_for(wait, 0.5).tells, 0) << "a new wait has its own time";
  }
}

// Nobody who wants to check all the time keeps the MPI from proceeding.
TEST(Wait, ChecksLeaveRoomForProgress) {
  const test::MadeUpTime time;
  for (const bool crowded : {false, true}) {
    Wait wait({crowded, 0});
    const Waited waited = wait_for(wait, 0.05);
    EXPECT_GT(waited.checks, 0);
    EXPECT_GT(waited.progress, 0);
  }
}

TEST(IdleTests, ProgressOftenAndCheckAfterAWhile) {
  IdleTests tests;
  int progress = 0, checks = 0;
  const auto look = [&](const WaitPolicy& policy, int times) {
    progress = checks = 0;
    for (int k = 0; k < times; ++k) {
      const Wait::Then then = tests.idle(policy);
      progress += then == Wait::Then::progress, checks += then == Wait::Then::check;
    }
  };
  look({false, 1000}, 2048);
  EXPECT_EQ(progress, 128);
  EXPECT_EQ(checks, 0) << "long before the time";
  tests.reset();
  look({true, 0}, 2048);
  EXPECT_EQ(checks, 64);
  EXPECT_EQ(progress, 64);
}

TEST(IdleTests, TellOfAWaitThatIsLong) {
  const test::MadeUpTime made_up;
  IdleTests tests;
  const auto tells = [&](double time) {
    int found = 0;
    const double start = seconds(CLOCK_MONOTONIC);
    while (seconds(CLOCK_MONOTONIC) - start < time)
      found += tests.idle({.look_after = 10}) == Then::tell;
    return found;
  };
  EXPECT_EQ(tells(0.5), 0);
  EXPECT_EQ(tells(0.8), 1);
  EXPECT_NEAR(tests.waited(), 1, 0.001);
  tests.reset();
  EXPECT_EQ(tells(0.5), 0);
}

TEST(Crowded, RanksAndProcessors) {
  Cpus all{};
  EXPECT_TRUE(is_crowded(1, all)) << "nothing is known";
  all[0] = 0b1011, all[15] = std::uint64_t{1} << 63;
  EXPECT_FALSE(is_crowded(1, all));
  EXPECT_FALSE(is_crowded(4, all));
  EXPECT_TRUE(is_crowded(5, all));
  EXPECT_EQ(ranks_per_processor(4, all), 1);
  EXPECT_EQ(ranks_per_processor(5, all), 2);
  EXPECT_EQ(ranks_per_processor(8, all), 2);
  EXPECT_EQ(ranks_per_processor(9, all), 3);
}

TEST(Crowded, AllowedCpusAreTheSystems) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) GTEST_SKIP() << "more than 1024 processors";
  auto expect_same = [&] {
    const Cpus cpus = allowed_cpus();
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      ASSERT_EQ(cpus[cpu / 64] >> (cpu % 64) & 1, CPU_ISSET(cpu, &set) ? 1u : 0u) << cpu;
  };
  expect_same();
  std::thread([&] {  // whose affinity is its own
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) last = cpu;
    CPU_ZERO(&set);
    CPU_SET(last, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    expect_same();
    EXPECT_FALSE(is_crowded(1, allowed_cpus()));
    EXPECT_TRUE(is_crowded(2, allowed_cpus()));
  })
      .join();
}

}  // namespace
}  // namespace tonari
