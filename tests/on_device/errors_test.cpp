// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with memory of a device is one sentence on all ranks, whichever rank has it, and
// leaves nothing behind.
#include "memory/gpu_memory.hpp"
#include "on_device/device_buffers.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class DeviceErrors : public testing::Test {
 protected:
  void SetUp() override {
    const int ranks = world_size(), rank = world_rank();
    const int to[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks}, from[] = {to[1], to[0]};
    ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
    last = rank == ranks - 1;
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  int make(const void* out, void* in, MPI_Info info) {
    return tonari_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, near, info, &request);
  }
  int make(const void* out, void* in) { return make(out, in, quick); }
  int make_w(const std::array<const void*, 2>& out) {
    const int ones[] = {1, 1};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Aint from[2], to[2];
    for (std::size_t k = 0; k < 2; ++k)
      MPI_Get_address(out[k], &from[k]), MPI_Get_address(&here[2 + k], &to[k]);
    return tonari_alltoallw_init(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, near,
                                 quick, &request);
  }
  void expect(int code, int wanted, std::initializer_list<std::string> words) {
    expect_everywhere(code, wanted, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
  }
  static tonari::SimulatedOptions small_device() {
    tonari::SimulatedOptions small;
    small.memory = 4096;
    return small;
  }
  void expect_usable() {
    here[0] = 10 * world_rank(), here[1] = here[0] + 1;
    ASSERT_OK(make(here, here + 2));
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    EXPECT_EQ(here[2], 10 * ((world_rank() + world_size() - 1) % world_size()));
    EXPECT_OK(tonari_request_free(&request));
  }

  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
  Info quick{{"tonari_tune", "off"}}, staged{{"tonari_channel", "p2p-packed"}};
  int here[4] = {};
  bool last = false;
};

TEST_F(DeviceErrors, FreedMemory) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const void* const from = out.at();
  if (last) out.free();
  expect(make(from, in.at()), TONARI_ERR_ARGUMENT, {"send block 0", "was not freed"});
  expect_usable();
}

TEST_F(DeviceErrors, BlocksThatReachOutOfTheirAllocation) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const void* const from = last ? out.at() + 58 : out.at();
  expect(make(from, in.at()), TONARI_ERR_ARGUMENT,
         {"send block 1", "does not end in the memory of device 0"});
  expect_usable();
}

TEST_F(DeviceErrors, HostAndDeviceInOneSide) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64);
  const void* const second = last ? static_cast<const void*>(here) : out.at() + 8;
  expect(make_w({out.at(), second}), TONARI_ERR_ARGUMENT,
         {"send block 0 is memory of a GPU, and send block 1 is not", "memory of one kind"});
  expect_usable();
}

TEST_F(DeviceErrors, TwoDevicesInOneSide) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  MemoryOnDevice first(device.program(), 64, 0), second(device.program(), 64, 1);
  expect(make_w({first.at(), last ? second.at() : first.at() + 8}), TONARI_ERR_ARGUMENT,
         {"send block 0 is in memory of device 0, and send block 1 in that of device 1"});
  // each side on its own is fine
  ASSERT_OK(make(first.at(), second.at()));
  first.values<int>()[0] = first.values<int>()[1] = 5 + world_rank();
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  EXPECT_EQ(second.values<int>()[0], 5 + (world_rank() + world_size() - 1) % world_size());
  EXPECT_OK(tonari_request_free(&request));
}

// Where a faster way needs memory that is not there, another one is taken, and says so.
TEST_F(DeviceErrors, MemoryOfTheDeviceIsUsedUp) {
  UsedDevice device(last ? small_device() : tonari::SimulatedOptions());
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  std::optional<MemoryOnDevice> rest;
  if (last) rest.emplace(device.program(), small_device().memory - 128 - 5);
  const std::string whose =
      world_size() > 1 ? "rank " + std::to_string(world_size() - 1) + ": " : "";
  const std::string why = whose + "device 0 has 5 of 4096 bytes left, and ";
  expect(make(out.at(), in.at(), Info{{"tonari_channel", "device-handles"}}), TONARI_ERR_ARGUMENT,
         {"'device-handles', which cannot be used: ", why});
  EXPECT_EQ(device->held(), 0u);
  ASSERT_OK(make(out.at(), in.at()));
  EXPECT_CONTAINS(std::string(tonari_request_describe(request)), "because " + why);
  for (int k = 0; k < 2; ++k) out.values<int>()[k] = 10 * world_rank() + k;
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  EXPECT_EQ(in.values<int>()[0], 10 * ((world_rank() + world_size() - 1) % world_size()));
  EXPECT_OK(tonari_request_free(&request));
}

// On one rank, whose device allows no allocation then. The capture is lost, as its rules say.
TEST_F(DeviceErrors, InitWhileAStreamIsCaptured) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const tonari::DeviceStream stream = device.program().make_stream(0);
  if (last) device.program().begin_capture(stream);
  expect(make(out.at(), in.at()), TONARI_ERR_ACTIVE, {"not allowed while a stream is captured"});
  EXPECT_EQ(device->held(), 0u);
  if (last) {
    EXPECT_TRUE(tonari::error_of([&] { device.program().end_capture(stream); }));
  }
  device.program().end_stream(stream);
  ASSERT_OK(make(out.at(), in.at()));
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(DeviceErrors, ReceivedBlocksCannotStayWhereTheyArrive) {
  UsedDevice device;
  MemoryOnDevice in(device.program(), 64);
  const Info view{{"tonari_tune", "off"}, {"tonari_recv_view", "yes"}};
  expect(make(here, last ? static_cast<void*>(in.at()) : here + 2, view), TONARI_ERR_ARGUMENT,
         {"`recvbuf`", "tonari_recv_view"});
  expect_usable();
}

TEST_F(DeviceErrors, WithoutADeviceThatServesIt) {
  {
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64);
    static const void* known = nullptr;
    known = out.at();
    tonari::use_device(nullptr);
    tonari::ask_of_gpu_memory([](const void* address) noexcept {
      return address == known || address == static_cast<const Byte*>(known) + 4;
    });
    const std::optional<tonari::Error> none =
        tonari::error_of([] { (void)tonari::present_device(""); });
    if (everywhere(none.has_value()))  // no GPU is here
      expect(make(out.at(), here), TONARI_ERR_ARGUMENT,
             {"`sendbuf` is memory of a GPU, which the host cannot read", "libcuda.so.1"});
    tonari::ask_of_gpu_memory(nullptr);
  }
  expect_usable();
}

// All that the library asks of the device fails once, on one rank.
TEST_F(DeviceErrors, WhateverFails) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  int failures = 0;
  for (int code = -1; code != TONARI_SUCCESS; ++failures) {
    ASSERT_LT(failures, 20);
    device->fail_at(last ? static_cast<std::size_t>(failures) + 1 : 0);
    code = tonari_alltoall_init(out.at(), 1, spread, in.at(), 1, spread, near, staged, &request);
    device->fail_at(0);
    if (code == TONARI_SUCCESS) break;
    EXPECT_TRUE(code == TONARI_ERR_MEMORY || code == TONARI_ERR_ARGUMENT);
    expect_everywhere(code, code, {});
    EXPECT_EQ(device->held(), 0u);
  }
  MPI_Type_free(&spread);
  EXPECT_GE(failures, 6);  // memory, event and table of both sides
  EXPECT_OK(tonari_request_free(&request));
  expect_usable();
}

// Only this rank takes part.
TEST(DeviceStartErrors, MemoryThatWasFreedAfterInit) {
  UsedDevice device;
  const int self = 0;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const Info quick{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near, quick, &request));
  out.free();
  EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT);
  EXPECT_CONTAINS(tonari_last_error(), "memory that was freed");
  EXPECT_EQ(tonari_wait(request), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
