// SPDX-License-Identifier: BSD-3-Clause
// Communicators are scarce: all objects on one of the program share a duplicate of it, and what the
// MPI refuses is an error on all ranks.
#include <tonari/grid.h>
#include <tonari/vector.h>

#include <array>
#include <cstdlib>
#include <string>

#include "support/counting.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// One object of each kind, with requests where asked for.
struct Objects {
  tonari_neighborhood cart = TONARI_NEIGHBORHOOD_NULL, adjacent = TONARI_NEIGHBORHOOD_NULL;
  tonari_vector vector = TONARI_VECTOR_NULL;
  tonari_grid grid = TONARI_GRID_NULL;
  std::array<tonari_request, 3> requests = {};
};

class Communicators : public testing::Test {
 protected:
  void SetUp() override {
    int periodic = 1, ranks = world_size();
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
    left = (world_rank() + ranks - 1) % ranks, right = (world_rank() + 1) % ranks;
  }
  void TearDown() override { MPI_Comm_free(&cart); }

  int make_cart_neighborhood(tonari_neighborhood& near) const {
    const int offsets[] = {-1, 1};
    return tonari_neighborhood_create_cart(cart, 2, offsets, MPI_INFO_NULL, &near);
  }
  int make_adjacent_neighborhood(tonari_neighborhood& near) const {
    return tonari_neighborhood_create_adjacent(cart, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                               MPI_UNWEIGHTED, MPI_INFO_NULL, &near);
  }
  int make_vector(tonari_vector& vector) const {
    const std::int64_t needs[] = {4 * right, 4 * left + 3};
    return tonari_vector_create(cart, 4 * world_rank(), 4, 2, needs, MPI_INFO_NULL, &vector);
  }
  int make_grid(tonari_grid& grid) const {
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.cells[0] = 4 * world_size(), shape.lower[0] = shape.upper[0] = 1,
    shape.type = MPI_INT;
    return tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
  }
  int make_in_place(std::vector<int>& block, tonari_request& request) const {
    block.resize(static_cast<std::size_t>(world_size()), world_rank());
    return tonari_alltoall_inplace_init(block.data(), 1, MPI_INT, cart, MPI_INFO_NULL, &request);
  }

  void make(Objects& o, bool with_requests) {
    ASSERT_OK(make_cart_neighborhood(o.cart));
    ASSERT_OK(make_adjacent_neighborhood(o.adjacent));
    ASSERT_OK(make_vector(o.vector));
    ASSERT_OK(make_grid(o.grid));
    if (!with_requests) return;
    const Info info{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}};
    ASSERT_OK(
        tonari_alltoall_init(&from, 1, MPI_INT, &to, 1, MPI_INT, o.adjacent, info, &o.requests[0]));
    ASSERT_OK(tonari_vector_forward_init(o.vector, nullptr, owned, ghosts, info, &o.requests[1]));
    ASSERT_OK(tonari_vector_reverse_init(o.vector, nullptr, MPI_SUM, ghosts, owned, info,
                                         &o.requests[2]));
  }
  static void free(Objects& o) {
    for (tonari_request& request : o.requests) EXPECT_OK(tonari_request_free(&request));
    EXPECT_OK(tonari_neighborhood_free(&o.cart));
    EXPECT_OK(tonari_neighborhood_free(&o.adjacent));
    EXPECT_OK(tonari_vector_free(&o.vector));
    EXPECT_OK(tonari_grid_free(&o.grid));
  }
  // One exchange of each request, with values that differ per rank and round.
  void run(Objects& o, int round) {
    from = 100 * round + world_rank();
    for (int k = 0; k < 4; ++k) owned[k] = 1000 * round + 4 * world_rank() + k;
    for (int k = 0; k < 2; ++k) {
      ASSERT_OK(tonari_start(o.requests[static_cast<std::size_t>(k)]));
      ASSERT_OK(tonari_wait(o.requests[static_cast<std::size_t>(k)]));
    }
    EXPECT_EQ(to, 100 * round + left);
    EXPECT_EQ(ghosts[0], 1000 * round + 4 * right);
    EXPECT_EQ(ghosts[1], 1000 * round + 4 * left + 3);
  }
  // Every call that needs a communicator of its own the first time. want: what all of them return.
  void expect_all(int want) {
    Objects o;
    std::vector<int> block;
    EXPECT_EQ(make_cart_neighborhood(o.cart), want) << tonari_last_error();
    EXPECT_EQ(make_adjacent_neighborhood(o.adjacent), want) << tonari_last_error();
    EXPECT_EQ(make_vector(o.vector), want) << tonari_last_error();
    EXPECT_EQ(make_grid(o.grid), want) << tonari_last_error();
    EXPECT_EQ(make_in_place(block, o.requests[0]), want) << tonari_last_error();
    free(o);
  }

  MPI_Comm cart = MPI_COMM_NULL;
  int left = 0, right = 0, from = 0, to = 0;
  double owned[4] = {}, ghosts[2] = {};
};

// MPICH has 2,048 communicators.
TEST_F(Communicators, AreSharedByThousandsOfObjects) {
  if (world_size() > 3) GTEST_SKIP() << "how many there are does not depend on the number of ranks";
  // Each took five communicators. Three ranks share two cores, so they make just more of them than
  // MPICH has.
  std::vector<Objects> all(world_size() > 2 ? 450 : 2'000);
  const Live before = live();
  for (std::size_t k = 0; k < all.size(); ++k) {
    make(all[k], k % 10 == 0);
    if (HasFatalFailure()) break;
  }
  EXPECT_LE(live().communicators - before.communicators, 1);
  for (std::size_t k = 0; k < all.size() && !HasFatalFailure(); k += 200)
    run(all[k], static_cast<int>(k / 200));
  for (Objects& o : all) free(o);
}

// Objects of two communicators of the program do not meet.
TEST_F(Communicators, GoWithThoseOfTheProgram) {
  const Live before = live();
  Objects first;
  make(first, true);
  MPI_Comm outer = cart;
  SetUp();
  Objects second;
  make(second, true);
  // the other Cartesian one is not counted everywhere
  EXPECT_LE(live().communicators - before.communicators, 3);
  run(first, 1), run(second, 2);
  MPI_Comm_free(&outer);
  run(first, 3), run(second, 4);  // objects outlive the program's communicator
  free(first), free(second);
}

// Where a duplicate has no tags left, exchanges to come have another one. Tags then begin anew, and
// those of an exchange that is under way are not taken for them.
TEST_F(Communicators, ThatHaveNoTagsLeftGetAnother) {
  if (world_size() < 2) GTEST_SKIP() << "a rank sends itself nothing";
  constexpr int tags = 40;
  limit_tags(tags);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(make_adjacent_neighborhood(near));
  limit_tags(0);
  const Live before = live();
  std::vector<int> out(3 * tags), in(3 * tags, -1);
  std::vector<tonari_request> requests(out.size());
  const auto init = [&](std::size_t k, const char* channel) {
    out[k] = 1000 * world_rank() + static_cast<int>(k);
    const Info info{{"tonari_tune", "off"}, {"tonari_channel", channel}};
    return tonari_alltoall_init(&out[k], 1, MPI_INT, &in[k], 1, MPI_INT, near, info, &requests[k]);
  };
  ASSERT_OK(init(0, "p2p-packed"));
  const bool early = world_rank() % 2 == 0;  // they wait for the others from here on
  if (early) {
    EXPECT_OK(tonari_start(requests[0]));
  }
  for (std::size_t k = 1; k < requests.size(); ++k)
    ASSERT_OK(init(k, k % 2 ? "shared" : "p2p-packed"));
  if (!early) {
    EXPECT_OK(tonari_start(requests[0]));
  }
  EXPECT_OK(tonari_startall(static_cast<int>(requests.size()) - 1, &requests[1]));
  EXPECT_OK(tonari_waitall(static_cast<int>(requests.size()), requests.data()));
  for (std::size_t k = 0; k < in.size(); ++k)
    EXPECT_EQ(in[k], 1000 * left + static_cast<int>(k)) << k;
  EXPECT_GE(live().communicators - before.communicators, 2) << "the tags have not run out";
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

bool ends_at_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  const bool ends = handler == MPI_ERRORS_ARE_FATAL;
  MPI_Errhandler_free(&handler);
  return ends;
}

// The program's error handlers are neither called nor changed.
TEST_F(Communicators, ThatAreRefusedAreErrorsOnAllRanks) {
  EXPECT_TRUE(ends_at_errors(cart) && ends_at_errors(MPI_COMM_WORLD));
  refuse_communicators(true);
  expect_all(TONARI_ERR_MPI);
  refuse_communicators(false);
  expect_all(TONARI_SUCCESS);
  EXPECT_TRUE(ends_at_errors(cart) && ends_at_errors(MPI_COMM_WORLD));
}

TEST_F(Communicators, ThatAreUsedUpAreErrorsOnAllRanks) {
#if defined(MPICH_NUMVERSION)
  if (world_size() > 3) GTEST_SKIP() << "how many there are does not depend on the number of ranks";
  std::vector<MPI_Comm> taken;
  MPI_Comm returning = MPI_COMM_NULL, next = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &returning);
  MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
  while (taken.size() < 100'000 && MPI_Comm_dup(returning, &next) == MPI_SUCCESS)
    taken.push_back(next);
  EXPECT_LT(taken.size(), 100'000u);
  expect_all(TONARI_ERR_MPI);
  for (MPI_Comm& comm : taken) MPI_Comm_free(&comm);
  MPI_Comm_free(&returning);
  expect_all(TONARI_SUCCESS);
#else
  GTEST_SKIP() << "this MPI has too many to use them up";
#endif
}

// MPI's own collective needs one; without it there are other ways, unless it is asked for.
TEST_F(Communicators, NativeNeedsOne) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(make_adjacent_neighborhood(near));
  refuse_communicators(true);
  for (const char* algorithm : {"native", "auto"}) {
    tonari_request request = TONARI_REQUEST_NULL;
    const Info info{{"tonari_algorithm", algorithm}, {"tonari_tune", "measure"}};
    const bool forced = std::string(algorithm) == "native";
    ASSERT_EQ(tonari_alltoall_init(&from, 1, MPI_INT, &to, 1, MPI_INT, near, info, &request),
              forced ? TONARI_ERR_MPI : TONARI_SUCCESS)
        << tonari_last_error();
    if (forced) continue;
    from = 7 + world_rank();
    EXPECT_OK(start_and_wait(request));
    EXPECT_EQ(to, 7 + left);
    EXPECT_OK(tonari_request_free(&request));
  }
  refuse_communicators(false);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// A contest needs one for a while only.
TEST_F(Communicators, ThatAContestMadeAreFreedWhenAnotherWins) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(make_adjacent_neighborhood(near));
  const Live before = live();
  std::vector<tonari_request> requests(4);
  for (tonari_request& request : requests) {
    const Info info{{"tonari_tune", "measure"}};
    ASSERT_OK(tonari_alltoall_init(&from, 1, MPI_INT, &to, 1, MPI_INT, near, info, &request));
  }
  const bool native_won = std::any_of(requests.begin(), requests.end(), [](tonari_request request) {
    tonari_request_info info;
    tonari_request_get_info(request, &info);
    return std::string(info.algorithm) == "native";
  });
  EXPECT_EQ(live().communicators - before.communicators, native_won ? 1 : 0);
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
