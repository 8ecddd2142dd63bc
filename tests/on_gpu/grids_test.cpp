// SPDX-License-Identifier: BSD-3-Clause
// Grids of arrays on a device of any kind: every ghost gets what its owner has.
#include <tonari/grid.h>

#include "on_gpu/devices.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;

constexpr int dims = 2;
constexpr std::int64_t own = 10, width = 3, edge = own + 2 * width;

class GridOnGpu : public OnDeviceOfAnyKind {
 protected:
  void SetUp() override {
    int extents[dims] = {};
    MPI_Dims_create(world_size(), dims, extents);
    constexpr int periodic[] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, dims, extents, periodic, 0, &cart);
    MPI_Cart_get(cart, dims, whole, std::array<int, dims>().data(), at);
    array = on().allocate(edge * edge * sizeof(double));
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = dims, shape.type = MPI_DOUBLE, shape.local = 1;
    for (int k = 0; k < dims; ++k) shape.cells[k] = own, shape.lower[k] = shape.upper[k] = width;
    void* const arrays[] = {array};
    ASSERT_OK(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid));
  }
  void TearDown() override {
    EXPECT_OK(tonari_grid_free(&grid));
    MPI_Comm_free(&cart);
  }

  // Of a cell by its place in the whole grid, which goes on at its borders.
  double value(std::int64_t y, std::int64_t x, int round) const {
    const std::int64_t rows = own * whole[0], columns = own * whole[1];
    const std::int64_t row = (own * at[0] + y + rows) % rows,
                       column = (own * at[1] + x + columns) % columns;
    return static_cast<double>(1'000'000 * round + row * columns + column);
  }
  // Ghosts hold what no cell has, or what they should have.
  Content cells(int round, bool filled) const {
    std::vector<double> values;
    for (std::int64_t y = -width; y < own + width; ++y)
      for (std::int64_t x = -width; x < own + width; ++x) {
        const bool mine = y >= 0 && y < own && x >= 0 && x < own;
        values.push_back(mine || filled ? value(y, x, round) : -1);
      }
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(double)};
  }

  MPI_Comm cart = MPI_COMM_NULL;
  int whole[dims] = {}, at[dims] = {};
  std::byte* array = nullptr;
  tonari_grid grid = TONARI_GRID_NULL;
};

TEST_F(GridOnGpu, FillsGhosts) {
  tonari_request halo = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_grid_exchange_init(grid, 0, MPI_INFO_NULL, &halo));
  for (int round = 0; round < 20; ++round) {
    on().write(array, cells(round, false));
    if (round % 2) {
      EXPECT_OK(tonari_start(halo));
      EXPECT_OK(tonari_wait(halo));
    } else {
      EXPECT_OK(tonari_grid_forward(grid, 0, nullptr));
    }
    EXPECT_EQ(on().read(array, edge * edge * sizeof(double)), cells(round, true))
        << "round " << round << "\n"
        << tonari_request_describe(halo);
  }
  EXPECT_OK(tonari_request_free(&halo));
}

// The host waits for nothing but the exchange.
TEST_F(GridOnGpu, FollowsStreams) {
  constexpr int rounds = 8;
  constexpr std::size_t bytes = edge * edge * sizeof(double);
  tonari_request halo = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_grid_exchange_init(grid, 0, MPI_INFO_NULL, &halo));
  const DeviceStream stream = on().first;
  auto* const handle = reinterpret_cast<void*>(stream.value);
  std::vector<std::byte*> sources, results;
  for (int round = 0; round < rounds; ++round) {
    sources.push_back(on().source(cells(round, false)));
    results.push_back(on().pinned(bytes));
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    const bool late = (static_cast<int>(round) + world_rank()) % 2;
    if (late) on().hold_back(stream);
    on().device.copy(stream, array, sources[round], bytes);
    EXPECT_OK(tonari_start_on(halo, handle));
    if (late) on().open();
    EXPECT_OK(tonari_wait_on(halo, handle));
    on().device.copy(stream, results[round], array, bytes);
  }
  on().device.synchronize(stream);
  for (std::size_t round = 0; round < rounds; ++round)
    EXPECT_EQ(Content(results[round], results[round] + bytes), cells(static_cast<int>(round), true))
        << "round " << round;
  EXPECT_OK(tonari_request_free(&halo));
}

}  // namespace
