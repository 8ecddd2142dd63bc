// SPDX-License-Identifier: BSD-3-Clause
// Requests that are tuned while they are used (tonari_tune=online): right blocks at every start,
// whatever runs, and whatever else is under way.
#include <unistd.h>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/one_shot.hpp"
#include "support/turn_clock.hpp"

namespace {

using namespace tonari::test;

constexpr Sizes small{8, 4, true, true, 0};
// More starts than any race takes.
constexpr int enough = 330;

class OnlineRequests : public GraphExchange {
 protected:
  void SetUp() override {
    do graph = random_graph(common, world_size());
    while (world_size() > 1 && degrees_of(graph).most() < 1);
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                              MPI_INFO_NULL, &near));
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  // A request with its buffers.
  struct Tuned {
    Tuned(OnlineRequests& test, Operation op, const Sizes& sizes, MPI_Info info)
        : Tuned(test, op, sizes, info, test.common()) {}
    // Those of one seed have the same blocks on each rank.
    Tuned(OnlineRequests& test, Operation op, const Sizes& sizes, MPI_Info info, std::uint32_t seed)
        : graph(test.graph), b(blocks(graph, op, sizes, seed)) {
      EXPECT_OK(init(op, b.out, b.in, test.near, info, &request));
      b.out.free_types(), b.in.free_types();
    }
    ~Tuned() { EXPECT_OK(tonari_request_free(&request)); }
    Tuned(const Tuned&) = delete;
    Tuned& operator=(const Tuned&) = delete;

    void start(int round) {
      b.prepare(world_rank(), round);
      EXPECT_OK(tonari_start(request));
    }
    void expect(int round) {
      EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << "round " << round << "\n"
                                                         << tonari_request_describe(request);
    }
    std::string describe() const { return tonari_request_describe(request); }
    tonari_request_info info() const {
      tonari_request_info about{};
      EXPECT_OK(tonari_request_get_info(request, &about));
      return about;
    }

    static Buffers blocks(const Graph& graph, Operation op, const Sizes& sizes,
                          std::uint32_t seed) {
      Random own(seed + 977u * static_cast<unsigned>(world_rank()));
      return make_buffers(own, graph, world_rank(), op, sizes);
    }

    const Graph& graph;
    Buffers b;
    tonari_request request = TONARI_REQUEST_NULL;
  };
  // All ask for the same, so what one of them finds out answers the next one.
  Tuned make(MPI_Info info) { return {*this, Operation::alltoall, small, info, 1}; }

  // Every start of a race takes a millionth of a second, whatever runs. So no times vary, and every
  // winner is remembered.
  class SteadyTimes {
   public:
    static void tune(Tuned& tuned) {
      for (int round = 0; round < enough; ++round) run(tuned, round, 1e-6);
    }
    static void let_second_win(Tuned& tuned) {
      for (int round = 0; round < enough; ++round)
        run(tuned, round, TurnClock::where_second_wins(round));
    }

   private:
    static void run(Tuned& tuned, int round, double seconds) {
      TurnClock::next(seconds);
      tuned.start(round);
      EXPECT_OK(tonari_wait(tuned.request));
      tuned.expect(round);
    }
    TurnClock clock_;
  };

  static std::string chosen(const Tuned& tuned) {
    const std::string words = tuned.describe();
    const std::size_t begin = words.find("chosen: ") + 8;
    return words.substr(begin, words.find(" (", begin) - begin);
  }

  // Each rank sends to the next one: every MPI's own collective delivers that.
  void use_ring() {
    EXPECT_OK(tonari_neighborhood_free(&near));
    const int ranks = world_size();
    graph.of.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      Lists lists;
      lists.sources = {(rank + ranks - 1) % ranks}, lists.targets = {(rank + 1) % ranks};
      graph.of.push_back(lists);
    }
    find_origins(graph);
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                              MPI_INFO_NULL, &near));
  }
  static bool says(const Tuned& tuned, const std::string& words) {
    return tuned.describe().find(words) != std::string::npos;
  }

  const FreshWisdom wisdom{"0.02"};
  const Info online{{"tonari_tune", "online"}};
  Random common{random_seed()};
  Graph graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(OnlineRequests, DeliverRightBlocksAtEveryStart) {
  for (const Operation op : all_operations)
    for (int again = 0; again < 2; ++again) {
      const Sizes sizes = random_sizes(common, op, true);
      Tuned tuned(*this, op, sizes, online);
      const int starts = ranks_are_slow() ? 30 : enough;
      for (int round = 0; round < starts; ++round) {
        tuned.start(round);
        EXPECT_OK(complete(tuned.request, (world_rank() + round) % 2));
        tuned.expect(round);
        if (HasFailure()) return;
      }
    }
}

TEST_F(OnlineRequests, StartWithReachesAllThatMayRun) {
  Tuned tuned(*this, Operation::alltoallv, {4, 40, true, false, 0}, online);
  std::vector<Byte> out = tuned.b.out.memory, in = tuned.b.in.memory;
  for (int round = 0; round < 60; ++round) {
    if (round % 3) tuned.b.out.memory.swap(out), tuned.b.in.memory.swap(in);
    tuned.b.prepare(world_rank(), round);
    EXPECT_OK(tonari_start_with(tuned.request, tuned.b.out.buffer(), tuned.b.in.buffer()));
    EXPECT_OK(tonari_wait(tuned.request));
    tuned.expect(round);
  }
}

// Each rank starts and completes them in an order of its own.
TEST_F(OnlineRequests, SeveralAreInFlightInAnyOrder) {
  constexpr std::size_t count = 4;
  std::vector<std::unique_ptr<Tuned>> all;
  for (std::size_t k = 0; k < count; ++k) {
    const Operation op = all_operations[pick(common, 0, 5)];
    all.push_back(std::make_unique<Tuned>(*this, op, random_sizes(common, op, true), online));
  }
  Random own(static_cast<unsigned>(world_rank()) + 5);
  std::array<std::size_t, count> order{0, 1, 2, 3};
  for (int round = 0; round < (ranks_are_slow() ? 20 : 80); ++round) {
    std::ranges::shuffle(order, own);
    for (const std::size_t k : order) all[k]->start(round);
    std::array<tonari_request, count> requests{};
    std::ranges::shuffle(order, own);
    for (std::size_t k = 0; k < count; ++k) requests[k] = all[order[k]]->request;
    EXPECT_OK(tonari_waitall(count, requests.data()));
    for (const auto& tuned : all) tuned->expect(round);
    if (HasFailure()) return;
  }
}

// A rank that comes late is waited for; other ranks' other exchanges go on meanwhile.
TEST_F(OnlineRequests, ARankMayBeLate) {
  Tuned tuned(*this, Operation::alltoall, small, online);
  for (int round = 0; round < 60; ++round) {
    if (round % world_size() == world_rank() && round % 5 == 0) usleep(3000);
    tuned.start(round);
    EXPECT_OK(complete(tuned.request, round % 2 == 0));
    tuned.expect(round);
  }
}

// However far it is, and whatever comes next on the same tags.
TEST_F(OnlineRequests, CanBeFreedInTheMiddle) {
  const Live before = live();
  for (int starts = 0; starts < 40; starts += ranks_are_slow() ? 7 : 1) {
    Tuned tuned(*this, Operation::alltoall, small, online);
    for (int round = 0; round < starts; ++round) {
      tuned.start(round);
      EXPECT_OK(tonari_wait(tuned.request));
    }
    if (starts > 0) tuned.expect(starts - 1);
  }
  EXPECT_EQ(live().datatypes, before.datatypes);
  EXPECT_LE(live().requests - before.requests, 0);
}

TEST_F(OnlineRequests, SayHowFarTheyAreAndAreRemembered) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  const SteadyTimes times;
  std::string winner;
  {
    Tuned tuned = make(online);
    EXPECT_STREQ(tuned.info().reason, "online");
    EXPECT_EQ(tuned.info().measured_seconds, 0);
    EXPECT_CONTAINS(tuned.describe(), "tuning online, pass 1 of at most 6");
    times.tune(tuned);
    tuned.expect(enough - 1);
    EXPECT_CONTAINS(tuned.describe(), "tuned online in 6 passes");
    EXPECT_CONTAINS(tuned.describe(), "more than the winner would have taken");
    EXPECT_NEAR(tuned.info().measured_seconds, 1e-6, 1e-9);
    winner = chosen(tuned);
  }
  (void)make(online);  // tries what is left
  const Tuned known = make(online);
  EXPECT_STREQ(known.info().reason, "wisdom") << known.describe();
  EXPECT_EQ(chosen(known), winner) << known.describe();
}

// MPI's own collective must prove its blocks on copies, so the first one does not try it.
TEST_F(OnlineRequests, LaterOnesTryWhatNoneHasTried) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  use_ring();
  const SteadyTimes times;
  {
    Tuned first = make(online);
    EXPECT_FALSE(says(first, "native")) << first.describe();
    times.tune(first);
  }
  {
    Tuned second = make(online);
    EXPECT_STREQ(second.info().reason, "online");
    EXPECT_CONTAINS(second.describe(), "beside it starts try native");
    EXPECT_STREQ(make(online).info().reason, "wisdom") << "one request tries it";
    times.let_second_win(second);
    EXPECT_EQ(chosen(second), "native") << second.describe();
  }
  Tuned third = make(online);
  EXPECT_STREQ(third.info().reason, "wisdom") << third.describe();
  EXPECT_EQ(chosen(third), "native");
  times.tune(third);
}

// Two are made before either has decided; what is tried meanwhile is not tried again.
TEST_F(OnlineRequests, WhatIsTriedStaysTriedWhoeverDecidesLater) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  use_ring();
  const SteadyTimes times;
  Tuned one = make(online), other = make(online);
  times.tune(one);
  EXPECT_CONTAINS(make(online).describe(), "beside it starts try native");
  times.tune(other);
  EXPECT_STREQ(make(online).info().reason, "wisdom");
}

TEST_F(OnlineRequests, WhatDeliversWrongBlocksIsNotTried) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  use_ring();
  const SteadyTimes times;
  {
    Tuned first = make(online);
    times.tune(first);
  }
  spoil_neighborhoods(true);
  {
    Tuned second = make(online);
    EXPECT_STREQ(second.info().reason, "wisdom");
    EXPECT_CONTAINS(second.describe(), "native is not tried");
    times.tune(second);
  }
  spoil_neighborhoods(false);
  const Tuned third = make(online);
  EXPECT_FALSE(says(third, "native")) << "it has had its trial: " << third.describe();
}

// Windows and MPI's own collective, one by one. Which of them the first one tries, the model says.
TEST_F(OnlineRequests, EachExpensiveWayBetweenNodesIsTriedOnce) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  const Nodes nodes;
  Nodes::set("1");
  use_ring();
  const SteadyTimes times;
  int races = 0;
  std::string tried;
  for (int k = 0; k < 6; ++k) {
    Tuned tuned = make(online);
    if (std::string(tuned.info().reason) == "wisdom") continue;
    EXPECT_EQ(races, k) << "none races after one that has nothing to try";
    ++races;
    tried += tuned.describe();
    times.tune(tuned);
  }
  EXPECT_GE(races, 2);
  EXPECT_LE(races, 3);
  EXPECT_CONTAINS(tried, "onesided");
  EXPECT_CONTAINS(tried, "native");
}

// What is forced to go one way leaves nothing.
TEST_F(OnlineRequests, LaterOnesTryOnlyWhatTheSettingsAllow) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  use_ring();
  const Info packed{{"tonari_tune", "online"}, {"tonari_channel", "p2p-packed"}};
  const SteadyTimes times;
  {
    Tuned first = make(packed);
    times.tune(first);
  }
  EXPECT_FALSE(says(make(packed), "native"));
}

TEST_F(OnlineRequests, AreNoAnswerToThoseWhoMeasureAll) {
  if (world_size() == 1 || ranks_are_slow()) GTEST_SKIP() << "nothing to choose from";
  {
    const SteadyTimes times;
    Tuned tuned = make(online);
    times.tune(tuned);
  }
  const Info measured{{"tonari_tune", "auto"}};
  EXPECT_STREQ(make(measured).info().reason, "measured");
}

// Whatever they find out later, the words that the program has been given stay what they were.
TEST_F(OnlineRequests, TellInWordsThatStay) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  Tuned tuned(*this, Operation::alltoall, small, online);
  std::vector<std::pair<const char*, std::string>> told;
  for (int round = 0; round < enough; ++round) {
    tuned.start(round);
    EXPECT_OK(tonari_wait(tuned.request));
    const tonari_request_info about = tuned.info();
    for (const char* words : {about.algorithm, about.variant, about.channel, about.channel_detail})
      told.emplace_back(words, words);
  }
  for (const auto& [words, then] : told) EXPECT_EQ(words, then);
}

// Whoever makes a second request while the first still lives knows what its starts have decided.
TEST_F(OnlineRequests, AreRememberedBeforeTheyAreFreed) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  const SteadyTimes times;
  Tuned tuned = make(online);
  times.tune(tuned);
  (void)make(online);  // tries what is left
  EXPECT_STREQ(make(online).info().reason, "wisdom");
}

// Those that are agreed upon, as with this promise.
TEST_F(OnlineRequests, OneShotCallsFollowThem) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  const SteadyTimes times;
  Tuned tuned = make(online);
  times.tune(tuned);
  tonari_neighborhood fresh = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                            Info{{"cdag_static_buffers", "true"}}, &fresh));
  Buffers b = Tuned::blocks(graph, Operation::alltoall, small, 1);
  b.prepare(world_rank(), 1);
  tonari_request once = TONARI_REQUEST_NULL;
  ASSERT_OK(icall(b.op, b.out, b.in, fresh, &once));
  tonari_request_info about{};
  EXPECT_OK(tonari_request_get_info(once, &about));
  EXPECT_STREQ(about.reason, "wisdom") << tonari_request_describe(once);
  EXPECT_OK(tonari_wait(once));
  EXPECT_EQ(b.wrong(graph, world_rank(), 1), "");
  EXPECT_OK(tonari_request_free(&once));
  EXPECT_OK(tonari_neighborhood_free(&fresh));
  b.out.free_types(), b.in.free_types();
}

// Without any info key.
TEST_F(OnlineRequests, AreTheDefault) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  Tuned tuned(*this, Operation::alltoall, small, MPI_INFO_NULL);
  EXPECT_STREQ(tuned.info().reason, "online");
  EXPECT_EQ(tuned.info().lost_seconds, 0) << "nothing is decided";
}

// What can be tuned at init only keeps to that, and what is forced needs no race.
TEST_F(OnlineRequests, LeaveAloneWhatHasNoChoice) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  const Info forced{
      {"tonari_tune", "online"}, {"tonari_algorithm", "linear"}, {"tonari_channel", "p2p-typed"}},
      thread{{"tonari_tune", "online"}, {"tonari_progress", "thread"}};
  const std::string one = Tuned(*this, Operation::alltoall, small, forced).describe();
  EXPECT_CONTAINS(one, "chosen: linear/p2p-typed");
  EXPECT_CONTAINS(Tuned(*this, Operation::alltoall, small, thread).info().reason, "measured");
}

}  // namespace
