// SPDX-License-Identifier: BSD-3-Clause
// Forward exchanges of some ghosts only: these hold their owners' cells, and all others are left
// alone.
#include "grid/chosen_ghosts.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

constexpr const char* arrays_by[] = {"plan", "pack", "datatypes", "shift"};
constexpr const char* bricks_by[] = {"layout", "basic", "plan"};
constexpr const char* mapped_by[] = {"memmap", "layout", "plan"};

// Cell by cell: the whole grid's value, or what was there.
void expect_filled(const TestGrid& t, const ChosenGhosts& chosen, int copy, int round, bool shift) {
  t.for_fields([&](int s, int f) {
    const Index own = t.g.own(world_rank(), s);
    const std::vector<unsigned char> filled =
        expected(t.g, s, copy, f, round,
                 [&](const Index& sides) { return t.g.neighbor(world_rank(), s, sides) >= 0; });
    std::vector<unsigned char> want =
        expected(t.g, s, copy, f, round, [](const Index&) { return false; });
    std::size_t at = 0;
    for_cells(t.g.whole(world_rank(), s), t.g.dims, [&](const Index& x) {
      if (chosen.has(t.g, own, x, shift)) std::memcpy(&want[at], &filled[at], t.g.element_bytes);
      at += t.g.element_bytes;
    });
    EXPECT_TRUE(t.field(s, copy, f) == want) << "subdomain " << s << ", field " << f;
  });
}

template <std::size_t n>
void run(Random& random, int dims, int storage, const char* const (&kinds)[n]) {
  const bool bricked = storage != TONARI_STORAGE_ARRAY;
  Geometry g = draw_geometry(random, dims, bricked);
  if (storage == TONARI_STORAGE_MAPPED && g.element_bytes == 12)
    g.shape.type = MPI_DOUBLE, g.element_bytes = 8;
  TestGrid t(g, storage);
  for (const char* kind : kinds) {
    const ChosenGhosts chosen = draw_ghosts(random, g, bricked);
    SCOPED_TRACE(g.text() + ", storage " + std::to_string(storage) + ", " + kind + ", " +
                 chosen.text(g));
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_forward_init(t.grid, 0, &chosen.ghosts,
                                  Info{{"tonari_halo", kind}, {"tonari_tune", "off"}}, &request));
    for (int round = 0; round < 2; ++round) {
      t.fill(0, round);
      must(tonari_start(request));
      must(complete(request, (world_rank() + round) % 2 == 0));
      expect_filled(t, chosen, 0, round, std::string(kind) == "shift");
    }
    must(tonari_request_free(&request));
    for (int round = 5; round < 7; ++round) {
      t.fill(0, round);
      must(tonari_grid_forward(t.grid, 0, &chosen.ghosts));
      expect_filled(t, chosen, 0, round, false);
    }
  }
  if (g.ours && g.shape.type != MPI_DOUBLE) MPI_Type_free(&g.shape.type);
}

TEST(GridGhosts, ThoseThatWereChosenAreFilled) {
  Random random(31);
  for (int repeat = 0; repeat < (crowded() ? 1 : 5); ++repeat)
    for (int dims = 1; dims <= 3; ++dims) {
      run(random, dims, TONARI_STORAGE_ARRAY, arrays_by);
      run(random, dims, TONARI_STORAGE_BRICK, bricks_by);
      run(random, dims, TONARI_STORAGE_MAPPED, mapped_by);
    }
}

// More kinds of calls than a grid keeps exchanges of.
TEST(GridGhosts, ManyOneShotCallsInTurn) {
  TestGrid t(plain_geometry(2, 8, 3), TONARI_STORAGE_ARRAY);
  for (int round = 0; round < 30; ++round) {
    ChosenGhosts chosen;
    chosen.ghosts.lower[1] = 1 + round % 4;
    t.fill(round % 3, round);
    must(tonari_grid_forward(t.grid, round % 3, &chosen.ghosts));
    expect_filled(t, chosen, round % 3, round, false);
  }
}

// Nothing travels where nothing is wanted.
TEST(GridGhosts, OnlyChosenNeighborsGetMessages) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  const TestGrid t(plain_geometry(1, 8), TONARI_STORAGE_ARRAY);
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  ghosts.lower[0] = TONARI_GHOSTS_NONE;
  for (const char* kind : {"pack", "plan"}) {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_forward_init(t.grid, 0, &ghosts,
                                  Info{{"tonari_halo", kind}, {"tonari_tune", "off"}}, &request));
    tonari_request_info info;
    must(tonari_request_get_info(request, &info));
    EXPECT_EQ(info.messages, 1) << kind;
    must(tonari_request_free(&request));
  }
}

}  // namespace
