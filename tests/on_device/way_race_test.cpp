// SPDX-License-Identifier: BSD-3-Clause
// Ways between ranks that init measures, where the program asks for it: all ranks take the same
// one, the program's blocks stay as they are, and the others are given back.
#include "on_device/device_ring.hpp"
#include "on_device/mpi_takes_devices.hpp"
#include "support/mpi_main.hpp"
#include "support/tune_seconds.hpp"

namespace {

using namespace tonari::test;

class WayRace : public DeviceRing {
 protected:
  const TuneSeconds little{"0.002"};

  void SetUp() override {}  // make_neighborhood does
  void TearDown() override {
    if (near) DeviceRing::TearDown();
  }
  void make_neighborhood(const char* nodes) {
    Nodes::set(nodes);
    DeviceRing::SetUp();
  }

  int init(const MemoryOnDevice& out, const MemoryOnDevice& in, const char* tune, int numbers = 1) {
    return tonari_alltoall_init(out.at(), numbers, MPI_INT, in.at(), numbers, MPI_INT, near,
                                Info{{"tonari_tune", tune}}, &request);
  }
  std::string channel() const {
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    return info.channel;
  }
  std::string described() const { return tonari_request_describe(request); }
  // Whether all ranks say the same. The channels of what the host exchanges are the same, too.
  void expect_same_everywhere() const {
    char mine[64] = {}, theirs[64] = {};
    channel().copy(mine, sizeof mine - 1);
    std::copy(std::begin(mine), std::end(mine), theirs);
    MPI_Bcast(theirs, sizeof theirs, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_STREQ(mine, theirs);
  }
  static void put(const MemoryOnDevice& out, int round) {
    out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
  }
  // In the host's order and in that of a stream, and with other buffers.
  void expect_exchanges(UsedDevice& device, const MemoryOnDevice& out, const MemoryOnDevice& in,
                        const MemoryOnDevice& other) {
    const tonari::DeviceStream stream = device.program().make_stream(0);
    auto* const handle = reinterpret_cast<void*>(stream.value);
    for (int round = 0; round < 6; ++round) {
      const MemoryOnDevice& to = round % 3 == 2 ? other : in;
      put(out, round);
      if (round % 3 == 1) {
        EXPECT_OK(tonari_start_on(request, handle));
        EXPECT_OK(tonari_wait_on(request, handle));
        device.program().synchronize(stream);
      } else {
        EXPECT_OK(tonari_start_with(request, out.at(), to.at()));
        EXPECT_OK(tonari_wait(request));
      }
      expect_received(to.values<int>(), round);
    }
    device.program().end_stream(stream);
  }

  tonari_request request = TONARI_REQUEST_NULL;
};

TEST_F(WayRace, OnOneNode) {
  make_neighborhood("");
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    UsedDevice device({}, seed);
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
    put(out, 77);
    in.values<int>()[0] = in.values<int>()[1] = -5;
    ASSERT_OK(init(out, in, "measure"));
    EXPECT_CONTAINS(described(), "(measured)");
    EXPECT_CONTAINS(described(), "  device-handles: ");
    EXPECT_CONTAINS(described(), "  staged: ");
    EXPECT_CONTAINS(described(), "device-mpi does not apply: ");
    EXPECT_CONTAINS(described(), "pinned-pieces does not apply: no rank has 1048576 bytes to cut");
    expect_same_everywhere();
    EXPECT_EQ(in.values<int>()[0], -5);
    EXPECT_EQ(in.values<int>()[1], -5);
    EXPECT_EQ(out.values<int>()[0], sent(77, 0));
    expect_exchanges(device, out, in, other);
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(WayRace, BetweenNodes) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  make_neighborhood("1");
  UsedDevice device;
  const MpiTakesDevices mpi(device.program());
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
  ASSERT_OK(init(out, in, "measure"));
  EXPECT_CONTAINS(described(), "(measured)");
  EXPECT_CONTAINS(described(), "device-handles does not apply: rank 0: its neighbor");
  EXPECT_CONTAINS(described(), "  device-mpi: ");
  expect_same_everywhere();
  expect_exchanges(device, out, in, other);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(WayRace, ManyBytes) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  make_neighborhood("1");
  constexpr int numbers = 140'000;
  tonari::SimulatedOptions quick;
  quick.watch_order = false;
  UsedDevice device(quick);
  MemoryOnDevice out(device.program(), 8 * numbers), in(device.program(), 8 * numbers);
  ASSERT_OK(init(out, in, "measure", numbers));
  EXPECT_CONTAINS(described(), "  pinned-pieces: ");
  EXPECT_CONTAINS(described(), "  staged: ");
  expect_same_everywhere();
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < 2 * numbers; ++k) out.values<int>()[k] = sent(round, k);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    for (int k = 0; k < numbers; ++k) {
      ASSERT_EQ(in.values<int>()[k], sent(round, k, before()));
      ASSERT_EQ(in.values<int>()[numbers + k], sent(round, numbers + k, behind()));
    }
  }
  EXPECT_OK(tonari_request_free(&request));
}

// Times that vary much are not remembered, so on a busy machine it may take several races.
TEST_F(WayRace, LaterRequestsRememberTheWay) {
  make_neighborhood("");
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
  bool remembered = false;
  for (int k = 0; k < 30 && !remembered; ++k) {
    ASSERT_OK(init(out, in, "auto"));
    remembered = described().find("(wisdom)") != std::string::npos;
    EXPECT_TRUE(remembered || described().find("(measured)") != std::string::npos) << described();
    EXPECT_EQ(described().find("measured in") == std::string::npos, remembered);
    expect_same_everywhere();
    if (remembered) expect_exchanges(device, out, in, other);
    EXPECT_OK(tonari_request_free(&request));
  }
  if (!remembered) GTEST_SKIP() << "the machine is too busy";
}

// A call of the device fails once: the remembered way then does not apply, and all are raced again.
TEST_F(WayRace, WhateverFailsOfARememberedWay) {
  make_neighborhood("");
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
  for (std::size_t call = 1; call <= 20; ++call) {
    device->fail_at(world_rank() == world_size() - 1 ? call : 0);
    ASSERT_OK(init(out, in, "auto")) << "call " << call;
    device->fail_at(0);
    expect_same_everywhere();
    expect_exchanges(device, out, in, other);
    EXPECT_OK(tonari_request_free(&request));
    ASSERT_OK(init(out, in, "auto"));  // which may remember
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(WayRace, WithoutMeasuringTheFirstIsTaken) {
  make_neighborhood("");
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  for (const char* tune : {"off", "online", "model"}) {
    ASSERT_OK(init(out, in, tune));
    EXPECT_EQ(channel(), "device-handles");
    EXPECT_CONTAINS(described(), "no other way was tried, because nothing is measured");
    EXPECT_OK(tonari_request_free(&request));
  }
}

// Some call fails on the last rank before anything is measured: its way, or the contest, is left
// out on all ranks.
TEST_F(WayRace, WhateverFailsBefore) {
  make_neighborhood("");
  std::size_t most = 0;
  {
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    device->fail_at(0);
    ASSERT_OK(init(out, in, "off"));
    most = device->calls() + 2;  // and memory for copies
    EXPECT_OK(tonari_request_free(&request));
  }
  for (std::size_t call = 1; call <= most; ++call) {
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64), other(device.program(), 64);
    device->fail_at(world_rank() == world_size() - 1 ? call : 0);
    ASSERT_OK(init(out, in, "measure")) << call;
    device->fail_at(0);
    EXPECT_CONTAINS(described(),
                    call <= 2 ? "nothing can be measured: " : "are staged through 16 bytes");
    expect_same_everywhere();
    expect_exchanges(device, out, in, other);
    EXPECT_OK(tonari_request_free(&request));
  }
}

}  // namespace
