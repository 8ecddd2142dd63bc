// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of grids that choose while the program runs (tonari_tune=online): right ghosts at every
// start, whatever runs.
#include <optional>

#include "grid/reverse_grid.hpp"
#include "support/contains.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

// More starts than any race takes.
constexpr int enough = 330;

class Exchanging {
 public:
  Exchanging(const TestGrid& t, int copy, MPI_Info info) {
    must(tonari_grid_exchange_init(t.grid, copy, info, &request));
  }
  ~Exchanging() { must(tonari_request_free(&request)); }
  Exchanging(const Exchanging&) = delete;
  Exchanging& operator=(const Exchanging&) = delete;

  void run(bool by_test = false) const {
    must(tonari_start(request));
    must(complete(request, by_test));
  }
  std::string described() const { return tonari_request_describe(request); }
  tonari_request_info info() const {
    tonari_request_info about{};
    must(tonari_request_get_info(request, &about));
    return about;
  }
  std::string chosen() const {
    const tonari_request_info about = info();
    return std::string(about.algorithm) + "/" + about.variant + "/" + about.channel;
  }

  tonari_request request = TONARI_REQUEST_NULL;
};

class GridOnline : public ::testing::Test {
 protected:
  static int starts() { return ranks_are_slow() ? 40 : enough; }

  const FreshWisdom wisdom{"0.02"};
  const Info online{{"tonari_tune", "online"}},
      faces{{"tonari_tune", "online"}, {"tonari_halo_neighbors", "faces"}};
  const Geometry small = plain_geometry(2, 8, 2);
};

TEST_F(GridOnline, GhostsAreRightAtEveryStart) {
  for (const int storage : all_storages) {
    TestGrid t(small, storage);
    const Exchanging exchange(t, 1, online);
    for (int round = 0; round < starts() && !HasFailure(); ++round) {
      t.fill(1, round);
      exchange.run((world_rank() + round) % 2 == 0);
      EXPECT_TRUE(t.holds(1, round, false, false)) << exchange.described();
    }
  }
}

TEST_F(GridOnline, GhostsOfRandomGridsAre) {
  Random random(random_seed());
  for (int dims = 1; dims <= 3; ++dims)
    for (const int storage : all_storages) {
      Geometry g;
      do {
        if (g.ours) MPI_Type_free(&g.shape.type);
        g = draw_geometry(random, dims, storage != TONARI_STORAGE_ARRAY);
      } while (storage == TONARI_STORAGE_MAPPED && g.element_bytes == 12);  // no page holds those
      TestGrid t(g, storage);
      if (g.ours) MPI_Type_free(&g.shape.type);
      const Exchanging exchange(t, 0, online);
      for (int round = 0; round < 26 && !HasFailure(); ++round) {
        t.fill(0, round);
        exchange.run((world_rank() + round) % 2 == 0);
        EXPECT_TRUE(t.holds(0, round, false, false)) << exchange.described();
      }
    }
}

// A shift, which also fills corners, is one of those that run.
TEST_F(GridOnline, GhostsOfFacesAre) {
  for (const int storage : all_storages) {
    TestGrid t(small, storage);
    const Exchanging exchange(t, 0, faces);
    for (int round = 0; round < 40 && !HasFailure(); ++round) {
      t.fill(0, round);
      exchange.run();
      EXPECT_TRUE(t.holds(0, round, true, false) || t.holds(0, round, true, true))
          << exchange.described();
    }
  }
}

TEST_F(GridOnline, SumsAreRightAtEveryStart) {
  for (const int storage : all_storages) {
    const Reverse<double> grid(small, storage, 1);
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_reverse_init(grid.t.grid, 0, nullptr, MPI_SUM, online, &request));
    for (int round = 0; round < starts() && !HasFailure(); ++round) {
      grid.fill(0, round);
      must(tonari_start(request));
      must(complete(request, (world_rank() + round) % 2 == 0));
      grid.expect({}, MPI_SUM, 0, round);
    }
    must(tonari_request_free(&request));
  }
}

TEST_F(GridOnline, OtherArraysReachAllThatMayRun) {
  TestGrid t(small, TONARI_STORAGE_ARRAY);
  const Exchanging exchange(t, 0, online);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const int copy = round % 3 > 0;
    t.fill(copy, round);
    must(tonari_grid_start_with(exchange.request, t.arrays(copy).data()));
    must(tonari_wait(exchange.request));
    EXPECT_TRUE(t.holds(copy, round, false, false)) << exchange.described();
  }
}

// Each rank starts and completes them in an order of its own.
TEST_F(GridOnline, CopiesAreInFlightInAnyOrder) {
  for (const int storage : all_storages) {
    TestGrid t(small, storage);
    const Exchanging first(t, 0, online), second(t, 1, online);
    for (int round = 0; round < 40 && !HasFailure(); ++round) {
      std::array all{first.request, second.request};
      if ((world_rank() + round) % 2) std::swap(all[0], all[1]);
      for (const int copy : {0, 1}) t.fill(copy, round);
      for (const tonari_request request : all) must(tonari_start(request));
      must(tonari_waitall(2, all.data()));
      for (const int copy : {0, 1}) EXPECT_TRUE(t.holds(copy, round, false, false));
    }
  }
}

// However far it is.
TEST_F(GridOnline, CanBeFreedInTheMiddle) {
  for (const int storage : all_storages) {
    TestGrid t(small, storage);
    const auto run = [&](int rounds) {
      const Exchanging exchange(t, 0, online);
      for (int round = 0; round < rounds; ++round) exchange.run();
    };
    run(3);  // what the communicator keeps is there
    const Live before = live();
    long requests = 0;
    for (int rounds = 0; rounds < 34; rounds += ranks_are_slow() ? 11 : 1, ++requests) run(rounds);
    const Live after = live();
    EXPECT_EQ(after.datatypes, before.datatypes) << "storage " << storage;
    EXPECT_EQ(after.communicators, before.communicators) << "storage " << storage;
    EXPECT_LE(after.requests - before.requests, 0) << "storage " << storage;
    EXPECT_LT(after.objects - before.objects, requests) << "storage " << storage;
  }
}

// An exchange would have filled the ghosts.
TEST_F(GridOnline, InitExchangesNothing) {
  for (const int storage : all_storages) {
    TestGrid t(small, storage);
    t.fill(0, 3);
    const std::vector<unsigned char> before = t.all(0);
    for (const Info& info : {std::cref(online), std::cref(faces)}) {
      const Exchanging exchange(t, 0, info);
      EXPECT_TRUE(t.all(0) == before) << "storage " << storage;
      EXPECT_STREQ(exchange.info().reason, "online");
    }
  }
}

// ---- by a made-up clock

// Messages by the MPI decide how long an exchange takes, and nothing else.
class MadeUpTimes {
 public:
  enum Favors { silent, talkative };
  explicit MadeUpTimes(Favors favors) : clock_(favors == silent ? for_silent : for_talkative) {}
  static void tune(const Exchanging& exchange) {
    for (int round = 0; round < enough; ++round) {
      begun_ = now_ + 1, looks_ = 0;  // the program works as long as ever
      arm();
      exchange.run();
      disarm();
    }
  }

 private:
  static double sent() { return 1e-5 * static_cast<double>(counted().sends); }
  static double after(double seconds) { return now_ = begun_ + (looks_++ > 0 ? seconds : 0); }
  static double for_silent() { return after(1e-6 + sent()); }
  static double for_talkative() { return after(1e-2 - sent()); }
  static inline double begun_ = 0, now_ = 0;
  static inline int looks_ = 0;
  OtherClock clock_;
};

class GridOnlineTimes : public GridOnline {
 protected:
  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "nobody to talk to";
  }
  // What was chosen.
  std::string tune(int storage, MadeUpTimes::Favors favors) const {
    TestGrid t(small, storage);
    const Exchanging exchange(t, 0, online);
    EXPECT_CONTAINS(exchange.described(), "tuning online, pass 1 of at most 6");
    {
      const MadeUpTimes times(favors);
      times.tune(exchange);
      EXPECT_CONTAINS(exchange.described(), "tuned online in");
    }
    return exchange.chosen();
  }
  void expect_remembered(int storage, const std::string& chosen) const {
    TestGrid t(small, storage);
    {
      const Exchanging next(t, 0, online);  // tries what is left, if there is something
      const bool tries = next.described().find("tuning online") != std::string::npos;
      EXPECT_STREQ(next.info().reason, tries ? "online" : "wisdom") << next.described();
    }
    const Exchanging known(t, 0, online);
    EXPECT_STREQ(known.info().reason, "wisdom") << known.described();
    EXPECT_EQ(known.chosen(), chosen) << known.described();
    EXPECT_EQ(known.described().find("tuning online"), std::string::npos);
    t.fill(0, 1);
    known.run();
    EXPECT_TRUE(t.holds(0, 1, false, false)) << known.described();
  }
};

TEST_F(GridOnlineTimes, TheFastestWinsAndIsRemembered) {
  for (const int storage : all_storages) {
    const std::string chosen = tune(storage, MadeUpTimes::silent);
    EXPECT_TRUE(chosen.starts_with("plan/") && chosen.ends_with("/shared")) << chosen;
    expect_remembered(storage, chosen);
  }
}

TEST_F(GridOnlineTimes, SoDoesAnother) {
  for (const int storage : all_storages) {
    const std::string chosen = tune(storage, MadeUpTimes::talkative);
    EXPECT_CONTAINS(chosen, "/p2p-");
    expect_remembered(storage, chosen);
  }
}

TEST_F(GridOnlineTimes, AreNoAnswerToThoseWhoMeasureAll) {
  if (ranks_are_slow()) GTEST_SKIP() << "for ranks that are fast";
  tune(TONARI_STORAGE_BRICK, MadeUpTimes::silent);
  TestGrid t(small, TONARI_STORAGE_BRICK);
  EXPECT_STREQ(Exchanging(t, 0, Info{{"tonari_tune", "auto"}}).info().reason, "measured");
}

// ---- what has no choice

TEST_F(GridOnline, AForcedKindChoosesAmongItsOwn) {
  TestGrid t(small, TONARI_STORAGE_ARRAY);
  const Exchanging pack(t, 0, Info{{"tonari_halo", "pack"}}),
      plan(t, 0, Info{{"tonari_halo", "plan"}}),
      one(t, 0,
          Info{{"tonari_halo", "plan"},
               {"tonari_algorithm", "linear"},
               {"tonari_channel", "p2p-typed"}});
  for (const Exchanging* exchange : {&pack, &plan, &one}) {
    EXPECT_STREQ(exchange->info().reason, "forced");
    t.fill(0, 4);
    exchange->run();
    EXPECT_TRUE(t.holds(0, 4, false, false)) << exchange->described();
  }
  EXPECT_EQ(pack.described().find("tuning online"), std::string::npos);
  EXPECT_EQ(one.described().find("tuning online"), std::string::npos);
  if (world_size() == 1) return;
  EXPECT_CONTAINS(plan.described(), "tuning online");
  EXPECT_EQ(plan.described().find("  pack"), std::string::npos);
}

TEST_F(GridOnline, AThreadLeavesItToInit) {
  if (ranks_are_slow()) GTEST_SKIP() << "for ranks that are fast";
  TestGrid t(small, TONARI_STORAGE_BRICK);
  const Exchanging exchange(t, 0, Info{{"tonari_progress", "thread"}});
  EXPECT_STREQ(exchange.info().reason, "measured");
}

}  // namespace
