// SPDX-License-Identifier: BSD-3-Clause
// Memory of a GPU is refused with one sentence on all ranks, wherever a buffer is given, and what
// the host can read passes. Drivers are played by libraries that are loaded here, as late as a
// program may.
#include <dlfcn.h>
#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/sparse.h>

#include "api/errors.hpp"

namespace {

using namespace tonari::test;

enum Kind { nothing, device, managed, pinned };
constexpr const char* sentence = "memory of a GPU, which the host cannot read";

class GpuMemory : public Errors, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Errors::SetUp();
    ring = make_ring();
  }
  void TearDown() override {
    if (knows) knows(nullptr, 0, nothing);
    EXPECT_OK(tonari_neighborhood_free(&ring));
    Errors::TearDown();
  }

  int before() const { return (rank + last) % ranks; }
  int behind() const { return (rank + 1) % ranks; }
  // In both directions: all of three ranks hear of what one refuses.
  tonari_neighborhood make_ring() const {
    const int to[] = {behind(), before()}, from[] = {before(), behind()};
    tonari_neighborhood made = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &made));
    return made;
  }
  void expect_from_neighbors(int more) const {
    EXPECT_EQ(in[0], before() + more);
    EXPECT_EQ(in[1], behind() + more);
  }

  // Where no name is global, as in a program whose own libraries load it.
  void load_driver() {
    void* const library = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    knows = reinterpret_cast<Knows*>(dlsym(library, "gpu_driver_knows"));
    ASSERT_NE(knows, nullptr);
  }
  // A call that reads its arguments for the first time. One that comes again, as any call may that
  // another test has made on this communicator, does not look for drivers (decision 45).
  void look_for_drivers() {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(prepare(&request));
    EXPECT_OK(tonari_request_free(&request));
  }
  // On the last rank only.
  template <class Memory>
  void now_is(Kind kind, const Memory& memory) {
    if (rank == last) knows(&memory, sizeof memory, kind);
  }

  int exchange() {
    out[0] = out[1] = rank + 7, in[0] = in[1] = -1;
    const int code = tonari_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    if (code == TONARI_SUCCESS) expect_from_neighbors(7);
    return code;
  }
  int prepare(tonari_request* request) {
    return tonari_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, quick, request);
  }
  // All ranks are told of the argument.
  static void expect_refused(int code, const char* argument) {
    expect_everywhere(code, TONARI_ERR_ARGUMENT, {argument, sentence});
  }

  // A call that asks nobody tells its neighbors only.
  void expect_refused_nearby(int code, const char* argument) const {
    const bool near = rank == last || before() == last || behind() == last;
    EXPECT_EQ(code, near ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
    if (!near) return;
    EXPECT_SAID(argument);
    EXPECT_SAID(sentence);
  }

  using Knows = void(const void*, std::size_t, int);
  Knows* knows = nullptr;
  tonari_neighborhood ring = TONARI_NEIGHBORHOOD_NULL;
  int out[4] = {}, in[4] = {};
};

TEST_P(GpuMemory, IsRefusedByRequests) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  tonari_request request = TONARI_REQUEST_NULL;
  now_is(device, out);
  expect_refused(prepare(&request), "`sendbuf`");
  now_is(device, in);
  expect_refused(prepare(&request), "`recvbuf`");
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  now_is(nothing, in);
  ASSERT_OK(prepare(&request));
  EXPECT_OK(tonari_request_free(&request));
}

// This one knows nothing but what an address is.
class MemoryOfCuda : public GpuMemory {};

TEST_P(MemoryOfCuda, IsRefusedByADriverThatIsTooOld) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  now_is(device, out);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(prepare(&request), TONARI_ERR_ARGUMENT,
                    {"`sendbuf`", "libcuda.so.1 has no function cu", "too old; install a newer"});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
}

TEST_P(GpuMemory, IsRefusedAtAbsoluteAddresses) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  now_is(device, out);
  const int ones[] = {1, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Aint from[2], to[2];
  for (int k = 0; k < 2; ++k) MPI_Get_address(&out[k], &from[k]), MPI_Get_address(&in[k], &to[k]);
  expect_refused(tonari_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, ring),
                 "send block 0");
}

TEST_P(GpuMemory, IsRefusedByCallsThatCameWithOtherMemoryBefore) {
  for (int k = 0; k < 3; ++k) EXPECT_OK(exchange());
  ASSERT_NO_FATAL_FAILURE(load_driver());
  EXPECT_OK(exchange());
  now_is(device, in);
  tonari_request other = TONARI_REQUEST_NULL;
  expect_refused(prepare(&other), "`recvbuf`");
  for (int k = 0; k < 2; ++k) expect_refused_nearby(exchange(), "`recvbuf`");
  now_is(nothing, in);
  EXPECT_OK(exchange());
}

TEST_P(GpuMemory, IsRefusedInPlace) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  std::array<int, 64> blocks{};
  const auto swap = [&] {
    return tonari_alltoall_inplace(blocks.data(), 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL);
  };
  EXPECT_OK(swap());
  look_for_drivers();
  now_is(device, blocks);
  expect_refused(swap(), "`buf`");
  now_is(nothing, blocks);
  EXPECT_OK(swap());
}

TEST_P(GpuMemory, IsRefusedInSparseExchanges) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  now_is(device, out);
  const int to = last;
  const MPI_Count one = 1;
  tonari_messages messages = nullptr;
  expect_refused(tonari_sparse_alltoallv(1, &to, &one, nullptr, MPI_INT, out, MPI_COMM_WORLD,
                                         MPI_INFO_NULL, &messages),
                 "`sendbuf`");
}

TEST_P(GpuMemory, IsRefusedAsArraysOfGrids) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  std::array<double, 4096> cells{};
  now_is(device, cells);
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 2, shape.local = 1;
  shape.cells[0] = shape.cells[1] = 4;
  shape.lower[0] = shape.upper[0] = shape.lower[1] = shape.upper[1] = 1;
  shape.type = MPI_DOUBLE;
  void* const arrays[] = {cells.data()};
  tonari_grid grid = TONARI_GRID_NULL;
  expect_refused(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid), "array 0");
}

// There only the rank itself sees it, and may start again.
TEST_P(GpuMemory, IsRefusedByStartsWithOtherBuffers) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(&request));
  int other[4] = {rank + 9, rank + 9};
  now_is(device, other);
  if (rank == last) {
    EXPECT_EQ(tonari_start_with(request, other, in), TONARI_ERR_ARGUMENT);
    EXPECT_NE(std::string(tonari_last_error()).find(sentence), std::string::npos);
  }
  now_is(nothing, other);
  EXPECT_OK(tonari_start_with(request, other, in));
  EXPECT_OK(tonari_wait(request));
  expect_from_neighbors(9);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_P(GpuMemory, ThatTheHostReadsPasses) {
  ASSERT_NO_FATAL_FAILURE(load_driver());
  for (const Kind kind : {managed, pinned, nothing}) {
    now_is(kind, out);
    EXPECT_OK(exchange());
  }
}

constexpr const char* cuda = TONARI_GPU_DRIVERS "/libcuda.so.1";
INSTANTIATE_TEST_SUITE_P(Drivers, GpuMemory,
                         testing::Values(cuda, TONARI_GPU_DRIVERS "/libamdhip64.so.6"));
INSTANTIATE_TEST_SUITE_P(Drivers, MemoryOfCuda, testing::Values(cuda));

}  // namespace
