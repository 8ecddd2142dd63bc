// SPDX-License-Identifier: BSD-3-Clause
// Ranks that give memory of their devices to an MPI that takes it: all do, or all hear why not.
#include "request/connect_messages.hpp"

#include "neighborhood/handles.hpp"
#include "on_device/device_ring.hpp"
#include "on_device/mpi_takes_devices.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;
using tonari::ConnectedMessages;
using tonari::PackedBlocks;
using tonari::PackedMessage;

constexpr int most = 40;  // numbers of a message

class ConnectMessages : public DeviceRing {
 protected:
  // Messages of every other number, more of them to the rank behind than to the one before.
  struct Ring {
    explicit Ring(UsedDevice& device) : out(device.program(), bytes), in(device.program(), bytes) {}
    static constexpr std::size_t bytes = 3 * 2 * most * sizeof(int);
    MemoryOnDevice out, in;

    PackedBlocks blocks() const {
      PackedBlocks all{tonari::present_device(""), 0, {}, {}};
      all.out = {message(behind(), 7, 0, out), message(before(), 1, 1, out),
                 message(behind(), 3, 2, out)};
      all.in = {message(before(), 3, 2, in), message(before(), 7, 0, in),
                message(behind(), 1, 1, in)};
      return all;
    }
    static PackedMessage message(int peer, int tag, int block, const MemoryOnDevice& memory) {
      PackedMessage message{peer, tag, reinterpret_cast<std::byte*>(memory.at()), {}};
      message.layout.add({2 * most * block * static_cast<std::ptrdiff_t>(sizeof(int)), sizeof(int),
                          2 * sizeof(int), static_cast<std::size_t>(most)});
      return message;
    }
    static int value(int rank, int round, int block, int k) {
      return 1'000'000 * rank + 10'000 * round + 1000 * block + k;
    }
    void send(int round) const {
      for (int b = 0; b < 3; ++b)
        for (int k = 0; k < most; ++k)
          out.values<int>()[2 * (most * b + k)] = value(world_rank(), round, b, k);
    }
    void expect_received(int round) const {
      for (int b = 0; b < 3; ++b)
        for (int k = 0; k < most; ++k)
          ASSERT_EQ(in.values<int>()[2 * (most * b + k)],
                    value(b == 1 ? behind() : before(), round, b, k))
              << "round " << round << ", block " << b << ", number " << k;
    }
  };

  ConnectedMessages connect(const std::function<PackedBlocks()>& read) {
    ConnectedMessages made;
    tonari::run_collectively(near->context->comm(), [&] {
      made = tonari::connect_messages(*near->context, 10, read);
      near->context->take_tags(made.tags);
    });
    return made;
  }
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
    EXPECT_EQ(mpi.messages(), trial + 15);
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
