// SPDX-License-Identifier: BSD-3-Clause
// Requests whose ranks are on several nodes, with an MPI that takes memory of devices and without.
#include <chrono>
#include <thread>

#include "on_device/device_ring.hpp"
#include "on_device/mpi_takes_devices.hpp"

namespace {

using namespace tonari::test;

class MpiWay : public DeviceRing {
 protected:
  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "there is one node";
    Nodes::set("1");
    DeviceRing::SetUp();
  }
  void TearDown() override {
    if (near) DeviceRing::TearDown();
  }
  static std::string channel_of(tonari_request request) {
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    return info.channel;
  }
  static void put(const MemoryOnDevice& out, int round) {
    out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
  }
};

TEST_F(MpiWay, IsTakenWhereHandlesCannotBe) {
  UsedDevice device;
  const MpiTakesDevices mpi(device.program());
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), MPI_INFO_NULL, &request));
  EXPECT_EQ(channel_of(request), "device-mpi");
  EXPECT_CONTAINS(tonari_request_describe(request), "are given to the MPI there, packed in 16");
  EXPECT_CONTAINS(tonari_request_describe(request), "not by handles, because rank 0: its neighbor");
  const tonari::DeviceStream stream = device.program().make_stream(0);
  auto* const handle = reinterpret_cast<void*>(stream.value);
  for (int round = 0; round < 9; ++round) {
    put(out, round);
    const MemoryOnDevice& to = round % 3 == 2 ? other : in;
    if (round % 3 == 0) {
      EXPECT_OK(tonari_start_with(request, out.at(), in.at()));
      EXPECT_OK(tonari_wait(request));
    } else if (round % 3 == 1) {
      EXPECT_OK(tonari_start_on(request, handle));
      EXPECT_OK(tonari_wait_on(request, handle));
      device.program().synchronize(stream);
    } else {
      EXPECT_OK(tonari_start_with(request, out.at(), other.at()));
      EXPECT_OK(tonari_wait(request));
    }
    expect_received(to.values<int>(), round);
  }
  device.program().end_stream(stream);
  EXPECT_OK(tonari_request_free(&request));
}

// It says yes, and delivers; but nothing on this node can send memory of the device.
TEST_F(MpiWay, SaysThatTheMpiStages) {
  tonari::SimulatedOptions no_adapter;
  no_adapter.lacks = {tonari::Ability::network_access};
  for (const bool lacks : {false, true}) {
    UsedDevice device(lacks ? no_adapter : tonari::SimulatedOptions());
    const MpiTakesDevices mpi(device.program());
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_tune", "off"}}, &request));
    EXPECT_EQ(channel_of(request), "device-mpi");
    const std::string described = tonari_request_describe(request);
    EXPECT_EQ(
        described.find("the MPI stages messages to other nodes through the host, because no "
                       "adapter of a network reads memory of this device\n") != std::string::npos,
        lacks)
        << described;
    EXPECT_EQ(described.find("stages") != std::string::npos, lacks) << described;
    EXPECT_OK(tonari_request_free(&request));
  }
}

// Without a test or a wait of this thread, all is done in the end.
TEST_F(MpiWay, AThreadDrivesIt) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  UsedDevice device;
  const MpiTakesDevices mpi(device.program());
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_progress", "thread"}, {"tonari_tune", "off"}},
                    &request));
  EXPECT_EQ(channel_of(request), "device-mpi");
  const tonari::DeviceStream stream = device.program().make_stream(0);
  for (int round = 0; round < 5; ++round) {
    put(out, round);
    EXPECT_OK(tonari_start_on(request, reinterpret_cast<void*>(stream.value)));
    const volatile int* const first = in.values<int>();
    for (int k = 0; k < 2000 && first[0] != sent(round, 0, before()); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(first[0], sent(round, 0, before())) << "round " << round;
    EXPECT_OK(tonari_wait(request));
    expect_received(in.values<int>(), round);
  }
  device.program().end_stream(stream);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(MpiWay, TellsWhyNot) {
  UsedDevice device;
  const MpiTakesDevices mpi(device.program(), false);
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_tune", "off"}}, &request));
  const std::string described = tonari_request_describe(request);
  EXPECT_CONTAINS(described,
                  "because rank 0: its neighbor 1 is on another node; and this MPI says "
                  "that it takes no memory of a device");
  put(out, 1);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  expect_received(in.values<int>(), 1);
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
