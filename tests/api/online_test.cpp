// SPDX-License-Identifier: BSD-3-Clause
// Requests that are tuned while they are used (tonari_tune=online): right blocks at every start,
// whatever runs, and whatever else is under way.
#include <unistd.h>

#include <set>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/once.hpp"

namespace {

using namespace tonari::test;

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
        : graph(test.graph) {
      Random own(test.common() + 977u * static_cast<unsigned>(world_rank()));
      b = make_buffers(own, graph, world_rank(), op, sizes);
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

    const Graph& graph;
    Buffers b;
    tonari_request request = TONARI_REQUEST_NULL;
  };

  static std::string chosen(const Tuned& tuned) {
    const std::string words = tuned.describe();
    const std::size_t begin = words.find("chosen: ") + 8;
    return words.substr(begin, words.find(" (", begin) - begin);
  }

  // What varied much is not remembered: often where ranks outnumber the cores.
  static bool steady(const Tuned& tuned) {
    return tuned.describe().find("the times varied much") == std::string::npos;
  }

  const FreshWisdom wisdom{"0.02"};
  const Info online{{"tonari_tune", "online"}};
  Random common{random_seed()};
  Graph graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

constexpr Sizes small{8, 4, true, true, 0};
// More starts than any race takes.
constexpr int enough = 110;

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
  if (world_size() == 1 || ranks_are_slow()) GTEST_SKIP() << "nothing to choose from";
  std::set<std::string> winners;  // of blocks that are contiguous, or not: two questions
  std::string last;
  bool any_steady = false;
  for (int again = 0; again < 150; ++again) {  // what varies much is not remembered
    Tuned tuned(*this, Operation::alltoall, small, online);
    if (again > 0 && std::string(tuned.info().reason) == "wisdom") {
      EXPECT_TRUE(winners.contains(chosen(tuned))) << tuned.describe();
      const Info measured{{"tonari_tune", "auto"}};
      EXPECT_STREQ(Tuned(*this, Operation::alltoall, small, measured).info().reason, "measured")
          << "what few candidates found out is no answer to those who measure all";
      return;
    }
    EXPECT_STREQ(tuned.info().reason, "online");
    EXPECT_EQ(tuned.info().measured_seconds, 0);
    EXPECT_CONTAINS(tuned.describe(), "tuning online, pass 1 of at most 6");
    for (int round = 0; round < enough; ++round) {
      tuned.start(round);
      EXPECT_OK(tonari_wait(tuned.request));
    }
    EXPECT_CONTAINS(tuned.describe(), "tuned online in ");
    EXPECT_CONTAINS(tuned.describe(), "more than the winner would have taken");
    EXPECT_GT(tuned.info().measured_seconds, 0);
    winners.insert(chosen(tuned));
    any_steady |= steady(tuned);
    last = tuned.describe();
  }
  if (!any_steady) GTEST_SKIP() << "all times varied much";
  ADD_FAILURE() << "the winner is never remembered, such as of: " << last;
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
  if (world_size() == 1 || ranks_are_slow()) GTEST_SKIP() << "nothing to choose from";
  std::vector<std::unique_ptr<Tuned>> all;
  bool any_steady = false;
  for (int again = 0; again < 60; ++again) {  // what varies much is not remembered
    all.push_back(std::make_unique<Tuned>(*this, Operation::alltoall, small, online));
    if (std::string(all.back()->info().reason) == "wisdom") return;
    for (int round = 0; round < enough; ++round) {
      all.back()->start(round);
      EXPECT_OK(tonari_wait(all.back()->request));
    }
    any_steady |= steady(*all.back());
  }
  if (!any_steady) GTEST_SKIP() << "all times varied much";
  ADD_FAILURE() << "the winner is known only when a request is freed";
}

// Those that are agreed upon, as with this promise.
TEST_F(OnlineRequests, OneShotCallsFollowThem) {
  if (world_size() == 1 || ranks_are_slow()) GTEST_SKIP() << "nothing to choose from";
  const Info bound{{"cdag_static_buffers", "true"}};
  std::string reason;
  bool any_steady = false;
  for (int again = 0; again < 60 && reason != "wisdom"; ++again) {  // steady times are remembered
    tonari_neighborhood fresh = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                              bound, &fresh));
    Tuned tuned(*this, Operation::alltoall, small, online);
    for (int round = 0; round < enough; ++round) {
      tuned.start(round);
      EXPECT_OK(tonari_wait(tuned.request));
    }
    Random own(common() + 977u * static_cast<unsigned>(world_rank()));
    Buffers b = make_buffers(own, graph, world_rank(), Operation::alltoall, small);
    b.prepare(world_rank(), again);
    tonari_request once = TONARI_REQUEST_NULL;
    ASSERT_OK(icall(b.op, b.out, b.in, fresh, &once));
    tonari_request_info about{};
    EXPECT_OK(tonari_request_get_info(once, &about));
    reason = about.reason;
    any_steady |= steady(tuned);
    EXPECT_OK(tonari_wait(once));
    EXPECT_EQ(b.wrong(graph, world_rank(), again), "");
    EXPECT_OK(tonari_request_free(&once));
    EXPECT_OK(tonari_neighborhood_free(&fresh));
    b.out.free_types(), b.in.free_types();
  }
  if (reason != "wisdom" && !any_steady) GTEST_SKIP() << "all times varied much";
  EXPECT_EQ(reason, "wisdom");
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
