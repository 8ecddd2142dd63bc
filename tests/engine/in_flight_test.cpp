// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in flight of several threads: none keeps another from its own, whatever they are doing.
// This file is also compiled with ThreadSanitizer, as a program of its own and without an MPI: see
// tests/CMakeLists.txt.
#include "engine/wait/in_flight.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace {

using tonari::Pause, tonari::Waiter;

// What a test asks of it. Not atomic where the library must see to it that one thread at a time is
// here.
class Fake final : public tonari::LeafExchange {
 public:
  explicit Fake(std::function<bool()> look, Pause pause = Pause::yield)
      : look_(std::move(look)), pause_(pause) {}
  void start() override { tests_ = 0; }
  bool test() override {
    ++tests_;
    return look_();
  }
  void wait() override {
    while (!test()) std::this_thread::yield();
  }
  Pause pause() const override { return pause_; }
  int messages() const override { return 0; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }
  int tests() const { return tests_; }

 private:
  std::function<bool()> look_;
  Pause pause_;
  int tests_ = 0;
};

// A test that lasts until it is opened.
class Gate {
 public:
  bool pass() {
    reached_ = true;
    while (!open_) std::this_thread::yield();
    return true;
  }
  void await() const {
    while (!reached_) std::this_thread::yield();
  }
  void open() { open_ = true; }

 private:
  std::atomic<bool> reached_ = false, open_ = false;
};

constexpr auto never = [] { return false; };
const auto failing = []() -> bool { tonari::fail(tonari::Errc::mpi, "it failed"); };

// Only a library in which it is stuck takes so long.
bool ends(std::future<void>& work) {
  return work.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
}

// Thread A waits, and is inside of a test of another exchange for as long as the gate is closed.
class BesideAWaitingThread : public testing::Test {
 protected:
  void SetUp() override {
    tonari::make_room_in_flight();
    tonari::enlist(awaited);
    tonari::enlist(driven);
    a = std::async(std::launch::async, [this] { tonari::wait_and_drive(awaited); });
    gate.await();
  }
  void TearDown() override {
    gate.open();
    come = true;
    a.get();
    tonari::discharge(driven);
    EXPECT_FALSE(tonari::any_in_flight());
  }

  std::atomic<bool> come = false;
  Gate gate;
  Fake awaited{[this] { return come.load(); }}, driven{[this] { return gate.pass(); }};
  std::future<void> a;
};

TEST_F(BesideAWaitingThread, OthersStartTestAndWait) {
  std::future<void> b = std::async(std::launch::async, [] {
    for (int k = 0; k < 1000; ++k) {
      int left = 3;
      Fake mine([&] { return --left <= 0; });
      tonari::enlist(mine);
      if (k % 2) {
        EXPECT_FALSE(Waiter().test(mine));
      }
      tonari::wait_and_drive(mine);
      EXPECT_EQ(mine.tests(), 3) << "nobody else drove it";
    }
  });
  EXPECT_TRUE(ends(b)) << "it is stuck behind the test that the other thread is in";
  gate.open();
  b.get();
}

TEST_F(BesideAWaitingThread, OthersDriveAndTestInVain) {
  int tests = 0;
  Fake unfinished([&] { return ++tests > 100; });
  tonari::enlist(unfinished);
  std::future<void> b = std::async(std::launch::async, [&] {
    Waiter waiter;
    for (int k = 0; k < 100; ++k) {
      EXPECT_FALSE(waiter.test(driven)) << "another thread is at it";
      EXPECT_FALSE(waiter.test(unfinished));
      waiter.drive();
    }
    EXPECT_EQ(tests, 100) << "the other thread drives";
  });
  EXPECT_TRUE(ends(b)) << "a test blocks";
  gate.open();
  b.get();
  tonari::discharge(unfinished);
}

TEST_F(BesideAWaitingThread, WhoDischargesWaitsForTheTest) {
  std::atomic<bool> opened = false;
  std::thread b([&] {
    // for the other to come to where it waits
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    opened = true;
    gate.open();
  });
  tonari::discharge(driven);
  EXPECT_TRUE(opened) << "the exchange may be destroyed now, and a test of it still ran";
  const int tests = driven.tests();
  b.join();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(driven.tests(), tests) << "nobody touches it any more";
}

TEST(InFlightExchanges, OnesThatADriverCompletedAreComplete) {
  bool complete = false;
  Fake driven([&] { return complete = true; });
  tonari::enlist(driven);
  std::thread([] { Waiter().drive(); }).join();  // while its own thread sleeps
  EXPECT_TRUE(complete);
  EXPECT_TRUE(tonari::any_in_flight()) << "its own thread must know";
  tonari::wait_and_drive(driven);
  tonari::discharge(driven);
  EXPECT_FALSE(tonari::any_in_flight());
}

TEST(InFlightExchanges, ErrorsShowAtTheirOwnTestAndWait) {
  Fake bad(failing), worse(failing), good([&] { return bad.tests() > 0 && worse.tests() > 0; });
  tonari::enlist(bad);
  tonari::enlist(worse);
  tonari::enlist(good);
  tonari::wait_and_drive(good);
  Waiter().drive();
  EXPECT_EQ(bad.tests(), 1) << "who has failed is not tested again";
  Waiter waiter;
  EXPECT_THROW(waiter.test(bad), tonari::Error);
  EXPECT_THROW(tonari::wait_and_drive(worse), tonari::Error);
  EXPECT_EQ(bad.tests() + worse.tests(), 2);
  EXPECT_FALSE(tonari::any_in_flight());
  Fake later(failing);
  tonari::enlist(later);
  EXPECT_THROW(tonari::wait_and_drive(later), tonari::Error);
  EXPECT_FALSE(tonari::any_in_flight());
  Fake next([] { return true; });  // what it lies in has no error any more
  tonari::enlist(next);
  tonari::wait_and_drive(next);
}

// An agreement inside of what is driven would come by here again.
TEST(InFlightExchanges, DrivingInsideOfATestIsFine) {
  int outer = 0, other = 0;
  Fake nested([&] {
    Waiter().drive();
    return ++outer >= 5;
  });
  Fake driven([&] { return ++other >= 5; });
  tonari::enlist(nested);
  tonari::enlist(driven);
  Waiter().drive();
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(other, 1) << "driven by one of the two";
  tonari::wait_and_drive(nested);
  EXPECT_EQ(outer, 5);
  tonari::wait_and_drive(driven);
}

TEST(InFlightExchanges, AsManyAsYouLike) {
  std::deque<Fake> all;
  int tests = 0;
  for (int k = 0; k < 3000; ++k) tonari::enlist(all.emplace_back([&] { return ++tests > 3000; }));
  Waiter().drive();
  EXPECT_EQ(tests, 3000) << "each of them once";
  for (std::size_t k = 0; k < all.size(); k += 2) tonari::discharge(all[k]);
  for (std::size_t k = 1; k < all.size(); k += 2) tonari::wait_and_drive(all[k]);
  EXPECT_FALSE(tonari::any_in_flight());
}

TEST(InFlightExchanges, ThoseJustTestedAreNotDriven) {
  Fake first(never), second(never);
  tonari::enlist(first);
  Waiter waiter;
  EXPECT_FALSE(waiter.test(first));
  waiter.drive();
  EXPECT_EQ(first.tests(), 1) << "it is alone";
  tonari::enlist(second);
  EXPECT_FALSE(waiter.test(first));
  waiter.drive();
  EXPECT_EQ(second.tests(), 1);
  tonari::discharge(first);
  tonari::discharge(second);
}

// What has left between a driver's look at where it was and its turn there.
TEST(InFlightExchanges, WhatHasLeftIsNotDriven) {
  std::atomic<bool> stop = false;
  Fake awaited([&] { return stop.load(); }, Pause::none), beside(never, Pause::none);
  tonari::enlist(awaited);
  tonari::enlist(beside);
  std::thread driver([&] { tonari::wait_and_drive(awaited); });
  for (int k = 0; k < 100'000; ++k) {
    const auto briefly = std::make_unique<Fake>(never);
    tonari::enlist(*briefly);
    tonari::discharge(*briefly);
  }
  stop = true;
  driver.join();
  tonari::discharge(beside);
  EXPECT_FALSE(tonari::any_in_flight());
}

// Not counted where other processes keep the core busy, so that yields take long.
long times_asleep() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw - static_cast<long>(tonari::naps_taken());
}

constexpr long often = 20;  // a page fault or two would not be

// Whether the thread sleeps between the looks while it waits beside another one in flight; it has
// so many milliseconds to do so.
bool sleeps_while_waiting(Pause awaited, Pause driven, int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  const long before = times_asleep();
  const auto over = [=] {
    return times_asleep() - before > often || std::chrono::steady_clock::now() > end;
  };
  Fake waits(over, awaited), other(never, driven);
  tonari::enlist(waits);
  tonari::enlist(other);
  tonari::wait_and_drive(waits);
  tonari::discharge(other);
  return times_asleep() - before > often;
}

TEST(InFlightExchanges, WhoWaitsLongSleepsBetweenTheLooks) {
  EXPECT_TRUE(sleeps_while_waiting(Pause::sleep, Pause::sleep, 5000));
}

TEST(InFlightExchanges, NobodySleepsWhileAnyGoesOnOrNeedsTheMpi) {
  for (const Pause pause : {Pause::none, Pause::yield}) {
    EXPECT_FALSE(sleeps_while_waiting(pause, Pause::sleep, 100));
    EXPECT_FALSE(sleeps_while_waiting(Pause::sleep, pause, 100));
  }
}

// Threads that start, test, wait for and discharge exchanges, each of them needing many tests, by
// whomever.
TEST(InFlightExchanges, OfManyThreads) {
  constexpr int threads = 4, rounds = 300;
  const auto work = [](unsigned seed) {
    std::minstd_rand random(seed);
    for (int round = 0; round < rounds; ++round) {
      std::deque<Fake> mine;
      std::array<int, 4> left{};
      for (int& l : left) {
        l = static_cast<int>(random() % 40);
        const auto pause = static_cast<Pause>(random() % 2);
        tonari::enlist(mine.emplace_back([&l] { return l <= 0 || --l == 0; }, pause));
      }
      Waiter waiter;
      while (!waiter.test(mine[0])) waiter.pass();
      tonari::discharge(mine[0]);
      tonari::wait_and_drive(mine[2]);
      tonari::discharge(mine[1]);
      while (!waiter.test(mine[3])) waiter.pass(Pause::none);
      tonari::discharge(mine[3]);
      EXPECT_EQ(left[0] + left[2] + left[3], 0);
    }
  };
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(work, t + 1);
  for (std::thread& thread : all) thread.join();
  EXPECT_FALSE(tonari::any_in_flight());
}

}  // namespace
