// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a grid in memory of a device is one sentence on all ranks, and leaves nothing
// behind.
#include <tonari/group.h>

#include "on_device/device_grid.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class DeviceGridErrors : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 16 * sizeof(double);  // of an array, ghosts included

  void refuse(const std::vector<void*>& arrays, std::initializer_list<std::string> words) const {
    const tonari_grid_shape shape = g.shape_of(world_rank());
    MPI_Comm cart = g.make_cart();
    tonari_grid grid = TONARI_GRID_NULL;
    expect_everywhere(tonari_grid_create(cart, &shape, arrays.data(), MPI_INFO_NULL, &grid),
                      TONARI_ERR_ARGUMENT, words);
    EXPECT_EQ(grid, TONARI_GRID_NULL);
    MPI_Comm_free(&cart);
  }
  void expect_usable(DeviceGrid& t) const {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_exchange_init(t.grid, 0, quick, &request));
    t.fill(0, 1);
    must(tonari_start(request));
    must(tonari_wait(request));
    EXPECT_EQ(t.wrong(0, 1), "");
    must(tonari_request_free(&request));
  }

  const Geometry g = plain_geometry(1, 8, 2);
  const bool last = world_rank() == world_size() - 1;
  const Info quick{{"tonari_tune", "off"}};
};

TEST_F(DeviceGridErrors, ArraysInMemoryOfBothKinds) {
  UsedDevice device;
  MemoryOnDevice there(device.program(), bytes);
  std::vector<Byte> here(bytes), other(bytes);
  void* const second = last ? static_cast<void*>(there.at()) : other.data();
  refuse({here.data(), second}, {"array 1 is memory of a GPU, and array 0 is not"});
}

TEST_F(DeviceGridErrors, ArraysOnTwoDevices) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  MemoryOnDevice one(device.program(), bytes), same(device.program(), bytes),
      other(device.program(), bytes, 1);
  refuse({one.at(), last ? other.at() : same.at()},
         {"array 1 does not begin in memory of device 0", "all arrays of a rank on one device"});
}

TEST_F(DeviceGridErrors, ArraysThatAreTooShort) {
  UsedDevice device;
  MemoryOnDevice one(device.program(), bytes), two(device.program(), bytes);
  refuse({one.at(), last ? two.at() + 8 : two.at()},
         {"array 1 does not end in memory of device 0", "give 128 bytes there"});
}

TEST_F(DeviceGridErrors, FreedArrays) {
  UsedDevice device;
  MemoryOnDevice one(device.program(), bytes), two(device.program(), bytes);
  void* const first = one.at();
  if (last) one.free();
  refuse({first, two.at()}, {"array 0 is memory that neither the host nor a GPU can read"});
}

// One rank with such memory is enough.
TEST_F(DeviceGridErrors, WhatReadsCellsByTheHost) {
  UsedDevice device;
  DeviceGrid t(g, device.program(), last);
  tonari_request request = TONARI_REQUEST_NULL;
  for (const char* halo : {"pack", "datatypes", "shift", "layout"})
    expect_everywhere(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_halo", halo}}, &request),
                      TONARI_ERR_ALGORITHM,
                      {halo, "in memory of a GPU on some rank", "auto, plan"});
  const std::string combines = "reverse exchange combines them on the host";
  expect_everywhere(tonari_grid_reverse_init(t.grid, 0, nullptr, MPI_SUM, quick, &request),
                    TONARI_ERR_ARGUMENT, {combines});
  expect_everywhere(tonari_grid_reverse(t.grid, 0, nullptr, MPI_SUM), TONARI_ERR_ARGUMENT,
                    {combines});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(t);
}

TEST_F(DeviceGridErrors, GroupsRefuseIt) {
  UsedDevice device;
  DeviceGrid t(g, device.program(), last);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_group_start(MPI_COMM_WORLD));
  (void)tonari_grid_exchange_init(t.grid, 0, MPI_INFO_NULL, nullptr);
  expect_everywhere(tonari_group_end(MPI_INFO_NULL, &request), TONARI_ERR_ARGUMENT,
                    {"groups take memory of the host"});
  expect_usable(t);
}

// Only this rank sees it, and may start again.
TEST_F(DeviceGridErrors, StartsWithArraysThatCannotBe) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  DeviceGrid t(g, device.program(), true);
  MemoryOnDevice other(device.program(), bytes, 1), shorter(device.program(), bytes - 8);
  std::vector<Byte> here(bytes);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_grid_exchange_init(t.grid, 0, quick, &request));
  const auto refused = [&](void* array, const char* part) {
    EXPECT_EQ(tonari_grid_start_with(request, &array), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(tonari_last_error(), part);
  };
  refused(here.data(), "`arrays[0]` is not memory of a GPU, as it was at init");
  refused(other.at(), "`arrays[0]` does not begin in memory of device 0");
  refused(shorter.at(), "`arrays[0]` does not end in memory of device 0");
  t.fill(0, 2);
  must(tonari_start(request));
  must(tonari_wait(request));
  EXPECT_EQ(t.wrong(0, 2), "");
  must(tonari_request_free(&request));
}

// All that the library asks of the device fails once, on one rank. Staged: where handles are tried,
// a failure is a reason to stage (Handles.WhateverFailsAtInit).
TEST_F(DeviceGridErrors, WhateverFailsAtInit) {
  const Info staged{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}};
  UsedDevice device;
  DeviceGrid t(plain_geometry(2, 8), device.program(), true);
  tonari_request request = TONARI_REQUEST_NULL;
  int failures = 0;
  const std::size_t held = device->held();
  for (;; ++failures) {
    ASSERT_LT(failures, 30);
    device->fail_at(last ? static_cast<std::size_t>(failures) + 1 : 0);
    const int code = tonari_grid_exchange_init(t.grid, 0, staged, &request);
    device->fail_at(0);
    if (code == TONARI_SUCCESS) break;
    EXPECT_TRUE(code == TONARI_ERR_MEMORY || code == TONARI_ERR_ARGUMENT);
    expect_everywhere(code, code, {});
    EXPECT_EQ(device->held(), held);
  }
  EXPECT_GE(failures, 2);
  must(tonari_request_free(&request));
  expect_usable(t);
}

TEST_F(DeviceGridErrors, WhateverFailsAtImportAndSave) {
  UsedDevice device;
  DeviceGrid t(plain_geometry(2, 8), device.program(), true);
  std::vector<Byte> cells(t.bytes_of(0));
  const std::size_t held = device->held();
  const std::string name = "on_device_errors_" + std::to_string(world_size()) + ".npy";
  const auto fail_each = [&](auto call) {
    int failures = 0;
    for (;; ++failures) {
      ASSERT_LT(failures, 30);
      device->fail_at(last ? static_cast<std::size_t>(failures) + 1 : 0);
      const int code = call();
      device->fail_at(0);
      EXPECT_EQ(device->held(), held);
      if (code == TONARI_SUCCESS) break;
    }
    EXPECT_TRUE(!last || failures > 2);
  };
  fail_each([&] { return tonari_grid_import(t.grid, 0, 0, 0, nullptr, cells.data()); });
  fail_each([&] { return tonari_grid_export(t.grid, 0, 0, 0, nullptr, cells.data()); });
  const auto everywhere_alike = [](int code) {
    if (code != TONARI_SUCCESS) expect_everywhere(code, code, {});
    return code;
  };
  fail_each([&] { return everywhere_alike(tonari_grid_save(t.grid, 0, 0, name.c_str())); });
  fail_each([&] { return everywhere_alike(tonari_grid_load(t.grid, 0, 0, name.c_str())); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::remove(name.c_str());
}

}  // namespace
