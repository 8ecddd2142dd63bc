// SPDX-License-Identifier: BSD-3-Clause
// How a kind of halo exchange is chosen: once by measuring, then from wisdom.
#include "grid/grids.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"

namespace {

using namespace tonari::test;

struct Chosen {
  std::string kind, reason, text;
};

// The same on all ranks, and it fills ghosts.
Chosen choose(const Geometry& g, int storage, const char* tune, const char* reach = "all") {
  TestGrid t(g, storage);
  tonari_request request = TONARI_REQUEST_NULL;
  t.fill(0, 1);
  must(tonari_grid_exchange_init(
      t.grid, 0, Info{{"tonari_tune", tune}, {"tonari_halo_neighbors", reach}}, &request));
  tonari_request_info about{};
  must(tonari_request_get_info(request, &about));
  if (std::string(about.reason) == "measured" && std::string(reach) == "all") {
    EXPECT_TRUE(t.holds(0, 1, false, false)) << "init changed own cells";
  }
  const Chosen chosen{about.algorithm, about.reason, tonari_request_describe(request)};
  t.fill(0, 0);
  must(start_and_wait(request));
  EXPECT_TRUE(t.holds(0, 0, std::string(reach) == "faces", chosen.kind == "shift")) << chosen.text;
  must(tonari_request_free(&request));
  char first[64] = "";
  (chosen.kind + " " + chosen.reason).copy(first, sizeof first - 1);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(chosen.kind + " " + chosen.reason, first);
  return chosen;
}

// Of the kinds' contest.
int rounds_in(const std::string& text) {
  const std::size_t at = text.find("measured in ");
  return at == text.npos ? 0 : std::atoi(text.c_str() + at + 12);
}

class GridChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ranks_are_slow() || world_size() == 1) GTEST_SKIP() << "for ranks that are fast";
  }
  const EvenClock clock;
  const Geometry small = plain_geometry(2, 16, 1), wider = plain_geometry(2, 32, 1);
};

TEST_F(GridChoice, IsMeasuredOnceAndThenRemembered) {
  const FreshWisdom wisdom("0.005");
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    EXPECT_EQ(choose(small, storage, "auto").reason, "measured");
    const Chosen second = choose(small, storage, "auto");
    EXPECT_EQ(second.reason, "wisdom");
    EXPECT_EQ(choose(small, storage, "auto").kind, second.kind);
    EXPECT_EQ(choose(small, storage, "measure").reason, "measured") << "measure measures again";
    EXPECT_EQ(choose(small, storage, "model").reason, "fixed rule");
    EXPECT_EQ(choose(small, storage, "off").reason, "fixed rule");
  }
  EXPECT_EQ(choose(wider, TONARI_STORAGE_BRICK, "auto").reason, "measured") << "another grid";
  EXPECT_EQ(choose(small, TONARI_STORAGE_BRICK, "auto", "faces").reason, "measured")
      << "other neighbors";
  setenv("TONARI_CANARY", "128", 1);
  EXPECT_EQ(choose(small, TONARI_STORAGE_BRICK, "auto").reason, "measured") << "other protocols";
  EXPECT_EQ(choose(small, TONARI_STORAGE_BRICK, "auto").reason, "wisdom");
  unsetenv("TONARI_CANARY");
}

TEST_F(GridChoice, ObeysTheTimeForMeasuring) {
  {
    const FreshWisdom wisdom("1e-9");
    EXPECT_EQ(rounds_in(choose(small, TONARI_STORAGE_BRICK, "measure").text), 3);
  }
  const FreshWisdom wisdom("0.02");
  EXPECT_GE(rounds_in(choose(small, TONARI_STORAGE_BRICK, "measure").text), 9);
}

// Ghosts are read where they are, so a plan's blocks must come there.
TEST_F(GridChoice, ReceiveViewsAreNotForGhosts) {
  TestGrid t(small, TONARI_STORAGE_ARRAY);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_grid_exchange_init(t.grid, 0,
                                 Info{{"tonari_halo", "plan"},
                                      {"tonari_channel", "shared"},
                                      {"tonari_recv_view", "yes"},
                                      {"tonari_tune", "off"}},
                                 &request));
  t.fill(0, 0);
  must(start_and_wait(request));
  EXPECT_TRUE(t.holds(0, 0, false, false)) << tonari_request_describe(request);
  must(tonari_request_free(&request));
}

}  // namespace
