// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges that a thread drives: every kind proceeds while the program computes.
#include "grid/grids.hpp"
#include "support/by_thread.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

void expect_driven(const Geometry& g, int storage, const char* halo) {
  SCOPED_TRACE(halo);
  const bool mapped_ghosts = std::string(halo) == "zero-byte";
  TestGrid t(g, storage, mapped_ghosts);
  const int before = threads();
  tonari_request requests[2] = {};
  for (int c = 0; c < 2; ++c)
    must(tonari_grid_exchange_init(
        t.grid, c,
        Info{{"tonari_halo", halo}, {"tonari_tune", "off"}, {"tonari_progress", "thread"}},
        &requests[c]));
  EXPECT_EQ(threads(), before + 1) << "one for all requests of the grid";
  for (int round = 0; round < 4; ++round) {
    t.fill(round % 2, round);
    MPI_Barrier(MPI_COMM_WORLD);  // or ghosts that are filled are overwritten
    must(tonari_start(requests[round % 2]));
    EXPECT_TRUE(comes_true(
        [&] { return bool(t.holds(round % 2, round, false, std::string(halo) == "shift")); }));
    must(tonari_wait(requests[round % 2]));
  }
  for (tonari_request& request : requests) must(tonari_request_free(&request));
  EXPECT_EQ(threads_left(before), before);
}

TEST(GridProgress, EveryKindProceedsWhileTheProgramComputes) {
  if (!several_threads_may_call_mpi()) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  const std::pair<int, const char*> kinds[] = {
      {TONARI_STORAGE_ARRAY, "pack"},    {TONARI_STORAGE_ARRAY, "datatypes"},
      {TONARI_STORAGE_ARRAY, "shift"},   {TONARI_STORAGE_ARRAY, "plan"},
      {TONARI_STORAGE_BRICK, "layout"},  {TONARI_STORAGE_BRICK, "basic"},
      {TONARI_STORAGE_MAPPED, "memmap"}, {TONARI_STORAGE_MAPPED, "shift"}};
  for (const auto& [storage, halo] : kinds) expect_driven(plain_geometry(2, 12, 2), storage, halo);
}

// On one node nothing moves, so here each rank is a node.
TEST(GridProgress, MappedGhostsToo) {
  if (!several_threads_may_call_mpi()) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  const Nodes before;
  Nodes::set("1");
  Geometry g = plain_geometry(2, 12, 2);
  for (int r = 0; r < world_size(); ++r) g.node[static_cast<std::size_t>(r)] = r;
  expect_driven(g, TONARI_STORAGE_MAPPED, "zero-byte");
}

// What the request is made of does not keep blocks where they arrive.
TEST(GridProgress, ViewsAreNotForHalos) {
  for (const char* progress : {"calls", "thread"}) {
    if (*progress == 't' && !several_threads_may_call_mpi()) continue;
    TestGrid t(plain_geometry(2, 12), TONARI_STORAGE_BRICK);
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_exchange_init(t.grid, 0,
                                   Info{{"tonari_halo", "plan"},
                                        {"tonari_tune", "off"},
                                        {"tonari_channel", "shared"},
                                        {"tonari_recv_view", "yes"},
                                        {"tonari_progress", progress}},
                                   &request));
    t.fill(0, 1);
    must(start_and_wait(request));
    EXPECT_TRUE(t.holds(0, 1, false, false)) << progress;
    must(tonari_request_free(&request));
  }
}

}  // namespace
