// SPDX-License-Identifier: BSD-3-Clause
// Ranks that give memory of their devices to an MPI that takes it: all do, or all hear why not.
#include "request/connect_messages.hpp"

#include "neighborhood/handles.hpp"
#include "on_device/mpi_takes_devices.hpp"
#include "on_device/spread_ring.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;
using tonari::ConnectedMessages;
using tonari::PackedBlocks;

class ConnectMessages : public SpreadRing {
 protected:
  ConnectedMessages connect(const std::function<PackedBlocks()>& read) {
    ConnectedMessages made;
    tonari::run_collectively(near->context->comm(), [&] {
      made = tonari::connect_messages(*near->context, 10, read);
      near->context->take_tags(made.tags);
    });
    return made;
  }
  static int peers() { return behind() == before() ? 1 : 2; }
  void expect_refused(UsedDevice& device, const std::function<PackedBlocks()>& read,
                      const std::string& part) {
    const ConnectedMessages made = connect(read);
    EXPECT_FALSE(made.exchange);
    ASSERT_TRUE(made.refusal);
    EXPECT_CONTAINS(std::string(made.refusal->what()), part);
    EXPECT_EQ(device->held(), 0u);
  }
};

TEST_F(ConnectMessages, TheMpiGetsAddressesOnTheDevice) {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    UsedDevice device({}, seed);
    const MpiTakesDevices mpi(device.program());
    Ring ring(device);
    ConnectedMessages made = connect([&] { return ring.blocks(); });
    ASSERT_TRUE(made.exchange) << made.refusal->what();
    EXPECT_CONTAINS(made.described, "are given to the MPI there, packed in 960 bytes");
    const int trial = mpi.messages();
    for (int round = 0; round < 5; ++round) {
      ring.send(round);
      made.exchange->start();
      if (round % 2)
        made.exchange->wait();
      else
        while (!made.exchange->test()) {
        }
      ring.expect_received(round);
    }
    EXPECT_EQ(mpi.messages(), trial + 5 * peers()) << "one for each rank";
    made.exchange.reset();
  }
}

TEST_F(ConnectMessages, InTheOrderOfStreams) {
  UsedDevice device;
  const MpiTakesDevices mpi(device.program());
  Ring ring(device);
  ConnectedMessages made = connect([&] { return ring.blocks(); });
  ASSERT_TRUE(made.exchange) << made.refusal->what();
  const tonari::DeviceStream stream = device.program().make_stream(0);
  for (int round = 0; round < 5; ++round) {
    ring.send(round);
    made.ordered->pack_on(stream);
    made.exchange->start();
    made.ordered->unpack_on(stream);
    made.exchange->wait();
    made.ordered->finish_on(stream);
    device.program().synchronize(stream);
    ring.expect_received(round);
  }
  device.program().end_stream(stream);
}

TEST_F(ConnectMessages, RanksWithoutBlocksTakePart) {
  UsedDevice device;
  const ConnectedMessages made = connect([] { return PackedBlocks(); });
  ASSERT_TRUE(made.exchange);
  EXPECT_TRUE(made.exchange->nothing());
  EXPECT_EQ(made.ordered, nullptr);
}

TEST_F(ConnectMessages, AnMpiThatDoesNotSayIt) {
  UsedDevice device;
  Ring ring(device);
  const MpiTakesDevices mpi(device.program(), world_rank() != world_size() - 1);
  expect_refused(
      device, [&] { return ring.blocks(); },
      "this MPI says that it takes no memory of a device "
      "(query_simulated_support)");
}

TEST_F(ConnectMessages, AnMpiThatLosesBytes) {
  UsedDevice device;
  Ring ring(device);
  const MpiTakesDevices mpi(device.program(), true, world_rank() == world_size() - 1);
  expect_refused(
      device, [&] { return ring.blocks(); },
      "but of 8 bytes that a rank sent itself there, others came");
}

// Each call of the device on the last rank fails once: all hear of it, or the exchange works.
TEST_F(ConnectMessages, AnyCallOfADeviceMayFail) {
  bool passed = false;
  for (std::size_t call = 1; !passed && call < 50; ++call) {
    UsedDevice device;
    Ring ring(device);
    const MpiTakesDevices mpi(device.program());
    device->fail_at(world_rank() == world_size() - 1 ? call : 0);
    ConnectedMessages made = connect([&] { return ring.blocks(); });
    passed = made.exchange != nullptr;
    EXPECT_NE(made.exchange != nullptr, made.refusal.has_value());
    EXPECT_TRUE(everywhere(passed) || everywhere(!passed));
    device->fail_at(0);
  }
  EXPECT_TRUE(passed);
}

}  // namespace
