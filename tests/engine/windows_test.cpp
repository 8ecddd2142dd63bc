// SPDX-License-Identifier: BSD-3-Clause
// Windows of one-sided exchanges end with what they were made for, in an order that all ranks agree
// on.
#include <tonari/grid.h>
#include <tonari/vector.h>

#include <atomic>
#include <thread>

#include "channels/onesided/window.hpp"
#include "support/duplicate.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;
using tonari::Windows;

struct Neighbors {
  int left = (world_rank() + world_size() - 1) % world_size(),
      right = (world_rank() + 1) % world_size();
};

Info one_sided() {
  return Info{{"tonari_tune", "off"}, {"tonari_channel", "onesided"}, {"tonari_halo", "plan"}};
}

void run(tonari_request& request) {
  ASSERT_OK(tonari_start(request));
  ASSERT_OK(tonari_wait(request));
}

void exchange_on_a_neighborhood(MPI_Comm comm) {
  const Neighbors ring;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(comm, 1, &ring.left, MPI_UNWEIGHTED, 1, &ring.right,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  tonari_request request = TONARI_REQUEST_NULL;
  int from = world_rank(), to = -1;
  ASSERT_OK(tonari_alltoall_init(&from, 1, MPI_INT, &to, 1, MPI_INT, near, one_sided(), &request));
  run(request);
  EXPECT_EQ(to, ring.left);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

void exchange_on_a_vector(MPI_Comm comm) {
  const Neighbors ring;
  const std::int64_t needs[] = {ring.right, ring.left};
  tonari_vector vector = TONARI_VECTOR_NULL;
  ASSERT_OK(tonari_vector_create(comm, world_rank(), 1, 2, needs, MPI_INFO_NULL, &vector));
  double owned = world_rank(), ghosts[2] = {-1, -1};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_vector_forward_init(vector, nullptr, &owned, ghosts, one_sided(), &request));
  run(request);
  EXPECT_EQ(ghosts[0], ring.right);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_vector_free(&vector));
}

void exchange_on_a_grid(MPI_Comm comm) {
  const Neighbors ring;
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 1, shape.cells[0] = 4 * world_size(), shape.lower[0] = shape.upper[0] = 1,
  shape.type = MPI_INT;
  tonari_grid grid = TONARI_GRID_NULL;
  ASSERT_OK(tonari_grid_create(comm, &shape, nullptr, MPI_INFO_NULL, &grid));
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_grid_exchange_init(grid, 0, one_sided(), &request));
  run(request);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_grid_free(&grid));
}

class WindowsOf : public testing::TestWithParam<void (*)(MPI_Comm)> {
 protected:
  void SetUp() override {
    if (world_size() < 2) GTEST_SKIP() << "a rank sends itself nothing through windows";
    int periodic = 1, ranks = world_size();
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
  }
  void end() {
    if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  }
  void TearDown() override { end(); }
  MPI_Comm cart = MPI_COMM_NULL;
};

TEST_P(WindowsOf, AreUsedAgain) {
  GetParam()(cart);
  const std::size_t before = Windows::alive();
  for (int k = 0; k < 10 && !HasFatalFailure(); ++k) GetParam()(cart);
  EXPECT_EQ(Windows::alive(), before);
}

TEST_P(WindowsOf, EndWithTheCommunicator) {
  const std::size_t before = Windows::alive();
  GetParam()(cart);
  EXPECT_GT(Windows::alive(), before) << "nothing was one-sided";
  end();
  EXPECT_EQ(Windows::alive(), before);
}

std::string name_of_kind(const testing::TestParamInfo<void (*)(MPI_Comm)>& kind) {
  static const char* const names[] = {"Neighborhoods", "Vectors", "Grids"};
  return names[kind.index];
}
INSTANTIATE_TEST_SUITE_P(All, WindowsOf,
                         testing::Values(exchange_on_a_neighborhood, exchange_on_a_vector,
                                         exchange_on_a_grid),
                         name_of_kind);

// Objects that outlive the program's communicator free theirs when they end.
TEST(WindowsEnd, WithObjectsThatOutliveTheCommunicator) {
  if (world_size() < 2) GTEST_SKIP() << "a rank sends itself nothing through windows";
  const std::size_t before = Windows::alive();
  const Neighbors ring;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const std::int64_t needs[] = {ring.right, ring.left};
  tonari_vector vector = TONARI_VECTOR_NULL;
  ASSERT_OK(tonari_vector_create(comm, world_rank(), 1, 2, needs, MPI_INFO_NULL, &vector));
  double owned = world_rank(), ghosts[2] = {};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_vector_forward_init(vector, nullptr, &owned, ghosts, one_sided(), &request));
  MPI_Comm_free(&comm);
  EXPECT_GT(Windows::alive(), before);
  run(request);
  EXPECT_EQ(ghosts[1], ring.left);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_vector_free(&vector));
  EXPECT_EQ(Windows::alive(), before);
}

// ---- MPI_Finalize

// Of a thread: its window goes onto the list only after the other thread's.
thread_local const std::atomic<bool>* goes_after = nullptr;

// Two windows, of which the even ranks complete one first and the odd ranks the other one. They are
// left to MPI_Finalize, which hangs where ranks free windows in different orders.
TEST(FinalizeWindows, InOneOrder) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  static std::atomic<bool> complete[2];
  std::vector<Windows*> windows;
  for (int k = 0; k < 2; ++k) windows.push_back(new Windows(duplicate_of_all()));
  const auto make = [&](std::size_t k) {
    if (k != static_cast<std::size_t>(world_rank() % 2)) goes_after = &complete[1 - k];
    windows[k]->take(64);
    complete[k] = true;
  };
  std::thread first(make, 0), second(make, 1);
  first.join();
  second.join();
  EXPECT_GE(Windows::alive(), 2u);
}

}  // namespace

// The last step of making a window.
extern "C" __attribute__((visibility("default"))) int MPI_Win_lock_all(int assertion, MPI_Win win) {
  while (goes_after && !*goes_after) std::this_thread::yield();
  return PMPI_Win_lock_all(assertion, win);
}
