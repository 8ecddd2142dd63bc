// SPDX-License-Identifier: BSD-3-Clause
// Grids whose memory tonari allocates on a device.
#include "on_device/device_grid.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class AllocatedGrids : public testing::Test {
 protected:
  static void exchange(int storage, std::uint32_t seed) {
    Random common(seed);
    for (int k = 0; k < cases(40); ++k) {
      Geometry g = draw_geometry(common, 1 + k % 3, storage != TONARI_STORAGE_ARRAY);
      const bool faces = pick(common, 0, 3) == 0;
      g.shape.memory = (k + world_rank()) % 4 == 0 ? TONARI_MEMORY_HOST : TONARI_MEMORY_DEVICE;
      UsedDevice device({}, seed + static_cast<unsigned>(k));
      {
        TestGrid t(g, storage);
        for (int copy = 0; copy < t.copies; ++copy) {
          tonari_request request = request_of(t, copy, "auto", faces);
          for (int round = 0; round < 3; ++round) {
            t.fill(copy, round);
            must(tonari_start(request));
            must(complete(request, (world_rank() + round) % 2 == 0));
            EXPECT_TRUE(t.holds(copy, round, faces, false));
          }
          must(tonari_request_free(&request));
          t.fill(copy, 3);
          must(tonari_grid_forward(t.grid, copy, nullptr));
          EXPECT_TRUE(t.holds(copy, 3, false, false));
        }
      }
      if (g.ours) MPI_Type_free(&g.shape.type);
    }
  }
  void refuse(const tonari_grid_shape& shape, std::initializer_list<std::string> words,
              int code = TONARI_ERR_ARGUMENT, void* const* arrays = nullptr) const {
    MPI_Comm cart = g.make_cart();
    tonari_grid grid = TONARI_GRID_NULL;
    expect_everywhere(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid), code, words);
    EXPECT_EQ(grid, TONARI_GRID_NULL);
    MPI_Comm_free(&cart);
  }
  tonari_grid_shape shape_on_device() const {
    tonari_grid_shape shape = g.shape_of(world_rank());
    if (last) shape.memory = TONARI_MEMORY_DEVICE;
    return shape;
  }

  const Geometry g = plain_geometry(2, 8, 2);
  const bool last = world_rank() == world_size() - 1;
};

TEST_F(AllocatedGrids, OfArrays) { exchange(TONARI_STORAGE_ARRAY, 101); }
TEST_F(AllocatedGrids, OfBricks) { exchange(TONARI_STORAGE_BRICK, 102); }

// Longer than the zeros that are copied to it.
TEST_F(AllocatedGrids, AreZero) {
  UsedDevice device;
  Geometry large = plain_geometry(2, 600);
  large.shape.memory = TONARI_MEMORY_DEVICE;
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK}) {
    TestGrid t(large, storage);
    const std::vector<unsigned char> all = t.field(0, 0, 0);
    EXPECT_EQ(std::ranges::count(all, 0), static_cast<std::ptrdiff_t>(all.size()));
    tonari_grid_info info;
    must(tonari_grid_get_info(t.grid, &info));
    EXPECT_GE(info.bytes, all.size());
  }
}

TEST_F(AllocatedGrids, LiveAsLongAsTheyAreHeld) {
  UsedDevice device;
  Geometry one = plain_geometry(1, 8);
  one.shape.memory = TONARI_MEMORY_DEVICE;
  tonari_grid_memory memory = TONARI_GRID_MEMORY_NULL;
  void* base = nullptr;
  {
    TestGrid t(one, TONARI_STORAGE_ARRAY);
    must(tonari_grid_memory_hold(t.grid, &memory));
    must(tonari_grid_data(t.grid, 0, 0, 0, &base));
  }
  EXPECT_EQ(device->held(), 1u);
  EXPECT_EQ(device.program().memory_at(base).kind, tonari::MemoryKind::device);
  must(tonari_grid_memory_release(&memory));
  EXPECT_EQ(device->held(), 0u);
}

TEST_F(AllocatedGrids, WhatCannotBe) {
  UsedDevice device;
  tonari_grid_shape shape = shape_on_device();
  if (last) shape.memory = 2;
  refuse(shape, {"shape.memory is 2", "TONARI_MEMORY_DEVICE"});
  shape = g.shape_of(world_rank());
  if (last) shape.device = 1;
  refuse(shape, {"shape.device is 1", "TONARI_MEMORY_HOST"});
  shape = shape_on_device();
  if (last) shape.device = 1;
  refuse(shape, {"shape.device is 1; there is 1 device"});
  shape = shape_on_device();
  std::vector<double> cells(16 * 16);
  void* const arrays[] = {cells.data(), cells.data()};
  refuse(shape, {"these arrays are the program's"}, TONARI_ERR_ARGUMENT, arrays);
}

TEST_F(AllocatedGrids, MemoryOfTheDeviceIsUsedUp) {
  tonari::SimulatedOptions small;
  if (last) small.memory = 1000;
  UsedDevice device(small);
  refuse(shape_on_device(), {"device 0 has ", " of 1000 bytes left, and "}, TONARI_ERR_MEMORY);
  EXPECT_EQ(device->held(), 0u);
}

TEST_F(AllocatedGrids, WhateverFails) {
  UsedDevice device;
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK}) {
    tonari_grid_shape shape = shape_on_device();
    shape.storage = storage;
    MPI_Comm cart = g.make_cart();
    int failures = 0;
    tonari_grid grid = TONARI_GRID_NULL;
    for (;; ++failures) {
      ASSERT_LT(failures, 30);
      device->fail_at(last ? static_cast<std::size_t>(failures) + 1 : 0);
      const int code = tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
      device->fail_at(0);
      if (code == TONARI_SUCCESS) break;
      EXPECT_TRUE(code == TONARI_ERR_MEMORY || code == TONARI_ERR_ARGUMENT);
      expect_everywhere(code, code, {});
      EXPECT_EQ(device->held(), 0u);
    }
    EXPECT_GE(failures, 6);  // memory, zeros and a copy, for both copies
    must(tonari_grid_free(&grid));
    MPI_Comm_free(&cart);
  }
}

TEST_F(AllocatedGrids, WithoutADevice) {
  const std::optional<tonari::Error> none =
      tonari::error_of([] { (void)tonari::present_device(""); });
  if (!everywhere(none.has_value())) GTEST_SKIP() << "a GPU is here";
  refuse(shape_on_device(), {"no device can be used", "libcuda.so.1"});
}

}  // namespace
