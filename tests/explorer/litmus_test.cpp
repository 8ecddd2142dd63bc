// SPDX-License-Identifier: BSD-3-Clause
// The explorer finds exactly the outcomes that the standard allows, for the small programs by which
// memory models are told apart (Maranget et al. 2012; Lahav et al. 2017).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "explorer/explorer.hpp"

namespace tonari::explorer {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;

using Outcomes = std::set<std::string>;

// Two atomic words, one ordinary, and what ranks have read.
struct World {
  std::atomic<int>*x, *y;
  int* data;
  std::array<int, 4> r{};

  std::string read(std::size_t count) const {
    std::string text;
    for (std::size_t k = 0; k < count; ++k) text += std::to_string(r[k]);
    return text;
  }
  std::string final() const { return std::to_string(*x) + std::to_string(*y); }
};
using Body = std::function<void(World&)>;

std::shared_ptr<World> new_world() {
  auto world = std::make_shared<World>();
  world->x = new (shared_memory(64)) std::atomic<int>(0);
  world->y = new (shared_memory(64)) std::atomic<int>(0);
  world->data = new (shared_memory(64)) int(0);
  return world;
}

Result run(const std::vector<Body>& bodies, const std::function<std::string(World&)>& outcome) {
  return explore([&] {
    const auto world = new_world();
    Program program;
    for (const Body& body : bodies) program.ranks.push_back([=] { body(*world); });
    program.outcome = [=] { return outcome(*world); };
    return program;
  });
}

Outcomes reads(std::size_t count, const std::vector<Body>& bodies) {
  const Result result = run(bodies, [=](World& w) { return w.read(count); });
  EXPECT_EQ(result.failure, "");
  return result.outcomes;
}

Outcomes finals(const std::vector<Body>& bodies) {
  const Result result = run(bodies, [](World& w) { return w.final(); });
  EXPECT_EQ(result.failure, "");
  return result.outcomes;
}

bool has_race(const std::vector<Body>& bodies) {
  const Result result = run(bodies, [](World&) { return std::string(); });
  EXPECT_TRUE(result.failure.empty() || result.failure.starts_with("data race")) << result.failure;
  return !result.failure.empty();
}

// ---- message passing

Outcomes message_passing(std::memory_order store, std::memory_order load) {
  return reads(2, {[=](World& w) { w.y->store(1, relaxed), w.x->store(1, store); },
                   [=](World& w) { w.r[0] = w.x->load(load), w.r[1] = w.y->load(relaxed); }});
}

TEST(Litmus, MessagePassing) {
  EXPECT_EQ(message_passing(release, acquire), (Outcomes{"00", "01", "11"}));
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(message_passing(relaxed, acquire), all);
  EXPECT_EQ(message_passing(release, relaxed), all);
  EXPECT_EQ(message_passing(relaxed, relaxed), all);
}

Outcomes message_passing_by_fences(std::memory_order before, std::memory_order behind) {
  return reads(2, {[=](World& w) {
                     w.y->store(1, relaxed);
                     std::atomic_thread_fence(before);
                     w.x->store(1, relaxed);
                   },
                   [=](World& w) {
                     w.r[0] = w.x->load(relaxed);
                     std::atomic_thread_fence(behind);
                     w.r[1] = w.y->load(relaxed);
                   }});
}

TEST(Litmus, MessagePassingByFences) {
  EXPECT_EQ(message_passing_by_fences(release, acquire), (Outcomes{"00", "01", "11"}));
  EXPECT_EQ(message_passing_by_fences(acq_rel, acq_rel), (Outcomes{"00", "01", "11"}));
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(message_passing_by_fences(acquire, acquire), all);
  EXPECT_EQ(message_passing_by_fences(release, release), all);
}

Body sends_data(std::memory_order order) {
  return [=](World& w) { *w.data = 1, w.x->store(1, order); };
}
Body reads_data(int after, std::memory_order order) {
  return [=](World& w) {
    if (w.x->load(order) == after) w.r[0] = *w.data;
  };
}

TEST(Litmus, OrdinaryDataMayRace) {
  EXPECT_FALSE(has_race({sends_data(release), reads_data(1, acquire)}));
  EXPECT_TRUE(has_race({sends_data(relaxed), reads_data(1, acquire)}));
  EXPECT_TRUE(has_race({sends_data(release), reads_data(1, relaxed)}));
  EXPECT_TRUE(has_race({[](World& w) { *w.data = 1; }, [](World& w) { *w.data = 2; }}));
  EXPECT_TRUE(has_race({[](World& w) { *w.data = 1; }, [](World& w) { w.r[0] = *w.data; }}));
  EXPECT_FALSE(has_race({[](World& w) { w.r[1] = *w.data; }, [](World& w) { w.r[0] = *w.data; }}));
}

TEST(Litmus, WritingAfterAReadMustBeOrderedToo) {
  const auto reader = [](std::memory_order order) -> Body {
    return [=](World& w) { w.r[0] = *w.data, w.x->store(1, order); };
  };
  const auto writer = [](std::memory_order order) -> Body {
    return [=](World& w) {
      if (w.x->load(order) == 1) *w.data = 1;
    };
  };
  EXPECT_FALSE(has_race({reader(release), writer(acquire)}));
  EXPECT_TRUE(has_race({reader(relaxed), writer(acquire)}));
  EXPECT_TRUE(has_race({reader(release), writer(relaxed)}));
}

// ---- store buffering

Outcomes store_buffering(std::memory_order fence, std::memory_order store, std::memory_order load) {
  const auto body = [=](std::size_t k) -> Body {
    return [=](World& w) {
      (k ? w.y : w.x)->store(1, store);
      std::atomic_thread_fence(fence);
      w.r[k] = (k ? w.x : w.y)->load(load);
    };
  };
  return reads(2, {body(0), body(1)});
}

TEST(Litmus, StoreBuffering) {
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(store_buffering(acq_rel, relaxed, relaxed), all);
  EXPECT_EQ(store_buffering(acq_rel, release, acquire), all);
  EXPECT_EQ(store_buffering(seq_cst, relaxed, relaxed), (Outcomes{"01", "10", "11"}));
}

// ---- coherence

TEST(Litmus, ReadsOfOneWordAreCoherent) {
  EXPECT_EQ(reads(2, {[](World& w) { w.x->store(1, relaxed); },
                      [](World& w) { w.r[0] = w.x->load(relaxed), w.r[1] = w.x->load(relaxed); }}),
            (Outcomes{"00", "01", "11"}));
}

TEST(Litmus, AllAgreeOnTheOrderOfStoresToOneWord) {
  const auto stores = [](int value) -> Body {
    return [=](World& w) { w.x->store(value, relaxed); };
  };
  const Outcomes seen = reads(4, {[&](World& w) {
                                    stores(1)(w);
                                    w.r[0] = w.x->load(relaxed), w.r[1] = w.x->load(relaxed);
                                  },
                                  [&](World& w) {
                                    stores(2)(w);
                                    w.r[2] = w.x->load(relaxed), w.r[3] = w.x->load(relaxed);
                                  }});
  EXPECT_FALSE(seen.contains("1221")) << "rank 0 says 1 before 2, rank 1 says 2 before 1";
  EXPECT_TRUE(seen.contains("1222")) << "only rank 0 sees both";
  EXPECT_TRUE(seen.contains("1121"));
  EXPECT_TRUE(seen.contains("1122"));
}

TEST(Litmus, AReadDoesNotSeeBehindOwnStores) {
  EXPECT_EQ(reads(1, {[](World& w) { w.x->store(1, relaxed), w.x->store(2, relaxed); },
                      [](World& w) {
                        w.x->store(3, relaxed);
                        w.r[0] = w.x->load(relaxed);
                      }}),
            (Outcomes{"1", "2", "3"}))
      << "never what was there before its own store";
}

// ---- several writers and readers

Outcomes independent_reads(std::memory_order load, std::memory_order fence) {
  return reads(4,
               {[](World& w) { w.x->store(1, release); }, [](World& w) { w.y->store(1, release); },
                [=](World& w) {
                  w.r[0] = w.x->load(load);
                  std::atomic_thread_fence(fence);
                  w.r[1] = w.y->load(load);
                },
                [=](World& w) {
                  w.r[2] = w.y->load(load);
                  std::atomic_thread_fence(fence);
                  w.r[3] = w.x->load(load);
                }});
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  const std::string differ = "1010";  // rank 2 says that x came first, rank 3 that y did
  EXPECT_TRUE(independent_reads(relaxed, acq_rel).contains(differ));
  EXPECT_TRUE(independent_reads(acquire, acq_rel).contains(differ));
  const Outcomes agreed = independent_reads(acquire, seq_cst);
  EXPECT_FALSE(agreed.contains(differ));
  EXPECT_EQ(agreed.size(), 15u);
}

Outcomes two_and_two_writes(std::memory_order order, std::memory_order fence) {
  const auto body = [=](bool swapped) -> Body {
    return [=](World& w) {
      (swapped ? w.y : w.x)->store(1, order);
      std::atomic_thread_fence(fence);
      (swapped ? w.x : w.y)->store(2, order);
    };
  };
  return finals({body(false), body(true)});
}

TEST(Litmus, TwoAndTwoWrites) {
  const Outcomes all{"11", "12", "21", "22"};
  EXPECT_EQ(two_and_two_writes(relaxed, acq_rel), all);
  EXPECT_EQ(two_and_two_writes(release, acq_rel), all);
  EXPECT_EQ(two_and_two_writes(relaxed, seq_cst), (Outcomes{"12", "21", "22"}));
}

Outcomes write_to_read_causality(std::memory_order store, std::memory_order load) {
  return reads(3, {[=](World& w) { w.x->store(1, relaxed); },
                   [=](World& w) { w.r[0] = w.x->load(load), w.y->store(1, store); },
                   [=](World& w) { w.r[1] = w.y->load(load), w.r[2] = w.x->load(relaxed); }});
}

TEST(Litmus, WriteToReadCausality) {
  EXPECT_TRUE(write_to_read_causality(relaxed, relaxed).contains("110"));
  EXPECT_FALSE(write_to_read_causality(release, acquire).contains("110"));
  EXPECT_TRUE(write_to_read_causality(release, acquire).contains("111"));
}

// The standard allows 11 where all is relaxed; threads that run in program order never do that.
TEST(Litmus, LoadBufferingIsNotModeled) {
  const Outcomes seen =
      reads(2, {[](World& w) { w.r[0] = w.x->load(relaxed), w.y->store(1, relaxed); },
                [](World& w) { w.r[1] = w.y->load(relaxed), w.x->store(1, relaxed); }});
  EXPECT_EQ(seen, (Outcomes{"00", "01", "10"}));
}

// ---- read-modify-writes

TEST(Litmus, ReleaseSequencesGoOnByModificationsOnly) {
  const Body adds = [](World& w) { w.x->fetch_add(1, relaxed); };
  const Body overwrites = [](World& w) {
    if (w.x->load(relaxed) == 1) w.x->store(2, relaxed);
  };
  const Body stores_twice = [](World& w) {
    *w.data = 1;
    w.x->store(1, release), w.x->store(2, relaxed);
  };
  EXPECT_FALSE(has_race({sends_data(release), adds, reads_data(2, acquire)}));
  EXPECT_TRUE(has_race({sends_data(relaxed), adds, reads_data(2, acquire)}));
  EXPECT_TRUE(has_race({sends_data(release), overwrites, reads_data(2, acquire)}));
  EXPECT_TRUE(has_race({stores_twice, reads_data(2, acquire)})) << "as of C++20";
}

TEST(Litmus, ModificationsAreIndivisible) {
  const auto adds = [](std::size_t k) -> Body {
    return [=](World& w) { w.r[k] = w.x->fetch_add(1, relaxed); };
  };
  EXPECT_EQ(reads(2, {adds(0), adds(1)}), (Outcomes{"01", "10"}));
  EXPECT_EQ(reads(3, {adds(0), adds(1), adds(2)}).size(), 6u);
  const auto swaps = [](std::size_t k) -> Body {
    return [=](World& w) {
      int nothing = 0;
      w.r[k] = w.x->compare_exchange_strong(nothing, 1, relaxed);
    };
  };
  EXPECT_EQ(reads(2, {swaps(0), swaps(1)}), (Outcomes{"01", "10"}));
}

TEST(Litmus, NothingComesBetweenAModificationAndWhatItRead) {
  const Outcomes seen = finals(
      {[](World& w) { w.x->store(5, relaxed); }, [](World& w) { w.x->fetch_add(1, relaxed); }});
  EXPECT_EQ(seen, (Outcomes{"50", "60"}));
}

// ---- the explorer itself

TEST(Explorer, FindsThatRanksWaitForEachOther) {
  const auto waits = [](bool swapped) -> Body {
    return [=](World& w) {
      await([&] { return (swapped ? w.x : w.y)->load(acquire) == 1; });
      (swapped ? w.y : w.x)->store(1, release);
    };
  };
  const Result result = run({waits(false), waits(true)}, [](World&) { return std::string(); });
  EXPECT_TRUE(result.failure.starts_with("ranks wait in vain")) << result.failure;
}

TEST(Explorer, WaitingForWhatComesEndsAlways) {
  EXPECT_EQ(reads(1, {[](World& w) { w.y->store(1, relaxed), w.x->store(1, release); },
                      [](World& w) {
                        await([&] { return w.x->load(acquire) == 1; });
                        w.r[0] = w.y->load(relaxed);
                      }}),
            (Outcomes{"1"}));
}

Result killed(const std::function<bool()>& sees) {
  return explore([&] {
    const auto world = new_world();
    Program program;
    program.mortal = {true, false};
    program.ranks = {
        [=] { world->x->store(1, relaxed), world->x->store(2, relaxed); },
        [=] { await([&] { return world->x->load(relaxed) == 2 || sees(); }); },
    };
    program.outcome = [=] { return std::to_string(*world->x) + (was_killed(0) ? "k" : ""); };
    return program;
  });
}

TEST(Explorer, KillsARankBeforeEveryStep) {
  const Result result = killed([] { return explored_ended(0); });
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.outcomes, (Outcomes{"0k", "1k", "2"}));
  EXPECT_TRUE(killed([] { return false; }).failure.starts_with("ranks wait in vain"));
}

TEST(Explorer, TellsTheWayToAFailure) {
  const Result result = run({[](World& w) { w.x->store(1, relaxed); },
                             [](World& w) { must(w.x->load(relaxed) == 0, "it was stored"); }},
                            [](World&) { return std::string(); });
  EXPECT_TRUE(
      result.failure.starts_with("it was stored\n  rank 0 stores (relaxed) 1 at byte 0, "
                                 "tests/explorer/litmus_test.cpp:"))
      << result.failure;
}

}  // namespace
}  // namespace tonari::explorer
