// SPDX-License-Identifier: BSD-3-Clause
// Ranks that connect memory of their devices: all can, or all hear why not, and nothing is left.
#include "request/connect_packed.hpp"

#include "neighborhood/handles.hpp"
#include "on_device/device_ring.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;
using tonari::ConnectedPacked;
using tonari::DeviceExchange;
using tonari::PackedBlocks;
using tonari::PackedMessage;

class ConnectPacked : public DeviceRing {
 protected:
  // Two messages from each rank of the ring to the next two.
  struct Ring {
    explicit Ring(UsedDevice& device) : out(device.program(), 64), in(device.program(), 64) {}
    MemoryOnDevice out, in;

    PackedBlocks blocks() const {
      PackedBlocks all{tonari::present_device(""), 0, {}, {}};
      all.out = {message(behind(), 0, out), message(before(), 1, out)};
      all.in = {message(before(), 0, in), message(behind(), 1, in)};
      return all;
    }
    static PackedMessage message(int peer, int tag, const MemoryOnDevice& memory) {
      PackedMessage message{peer, tag, reinterpret_cast<std::byte*>(memory.at()), {}};
      message.layout.add(static_cast<std::ptrdiff_t>(sizeof(int)) * tag, sizeof(int));
      return message;
    }
    void send(int round) {
      out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
    }
  };

  ConnectedPacked connect(const std::function<PackedBlocks()>& read) {
    ConnectedPacked made;
    tonari::run_collectively(near->context->comm(), [&] {
      made = tonari::connect_packed(*near->context, 10, read);
      near->context->take_tags(tonari::packed_tags);
    });
    return made;
  }
  // The same sentence on all ranks, with this in it; nobody keeps anything.
  void expect_refused(UsedDevice& device, const std::function<PackedBlocks()>& read,
                      const std::string& part) {
    const ConnectedPacked made = connect(read);
    EXPECT_FALSE(made.exchange);
    ASSERT_TRUE(made.refusal);
    EXPECT_CONTAINS(std::string(made.refusal->what()), part);
    EXPECT_TRUE(same_everywhere(made.refusal->what()));
    EXPECT_EQ(device->held(), 0u);
  }
  static bool same_everywhere(const std::string& sentence) {
    char first[1000] = "";
    sentence.copy(first, sizeof first - 1);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    return everywhere(sentence == first);
  }
  static bool last() { return world_rank() == world_size() - 1; }
};

TEST_F(ConnectPacked, BytesGoFromDeviceToDevice) {
  UsedDevice device;
  Ring ring(device);
  const ConnectedPacked made = connect([&] { return ring.blocks(); });
  ASSERT_TRUE(made.exchange) << made.refusal->what();
  for (int round = 0; round < 5; ++round) {
    ring.send(round);
    made.exchange->start();
    if (round % 2)
      made.exchange->wait();
    else
      while (!made.exchange->test()) {
      }
    expect_received(ring.in.values<int>(), round);
  }
}

TEST_F(ConnectPacked, RanksWithoutBlocksTakePart) {
  UsedDevice device;
  const ConnectedPacked made = connect([] { return PackedBlocks(); });
  ASSERT_TRUE(made.exchange);
  EXPECT_TRUE(made.exchange->nothing());
  EXPECT_EQ(made.exchange->describe(), "");
}

TEST_F(ConnectPacked, AReasonOfOneRankIsToldToAll) {
  UsedDevice device;
  Ring ring(device);
  expect_refused(
      device,
      [&] {
        if (last()) tonari::fail(tonari::Errc::argument, "it cannot");
        return ring.blocks();
      },
      world_size() == 1 ? "it cannot" : "rank " + std::to_string(world_size() - 1) + ": it cannot");
}

TEST_F(ConnectPacked, DevicesWithoutAnAbility) {
  if (world_size() == 1) GTEST_SKIP() << "a rank needs none for itself";
  for (const tonari::Ability lacking :
       {tonari::Ability::flags_in_order, tonari::Ability::export_memory}) {
    tonari::SimulatedOptions options;
    if (last()) options.lacks = {lacking};
    UsedDevice device(options);
    Ring ring(device);
    expect_refused(
        device, [&] { return ring.blocks(); },
        lacking == tonari::Ability::flags_in_order ? "do not write flags"
                                                   : "does not let other processes");
  }
}

TEST_F(ConnectPacked, NeighborsOnOtherNodes) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  Nodes nodes;
  Nodes::set("1");
  tonari_neighborhood apart = make(MPI_INFO_NULL);
  {
    UsedDevice device;
    Ring ring(device);
    std::swap(near, apart);
    expect_refused(device, [&] { return ring.blocks(); }, "rank 0: its neighbor");
    std::swap(near, apart);
  }
  EXPECT_OK(tonari_neighborhood_free(&apart));
}

TEST_F(ConnectPacked, WhateverFailsOnOneRank) {
  UsedDevice device;
  Ring ring(device);
  int failures = 0;
  for (;; ++failures) {
    ASSERT_LT(failures, 30);
    device->fail_at(last() ? static_cast<std::size_t>(failures) + 1 : 0);
    const ConnectedPacked made = connect([&] { return ring.blocks(); });
    device->fail_at(0);
    if (made.exchange) break;
    ASSERT_TRUE(made.refusal);
    EXPECT_TRUE(same_everywhere(made.refusal->what()));
    EXPECT_EQ(device->held(), 0u) << made.refusal->what();
  }
  EXPECT_GE(failures, 9);  // memory, a stream, three events, four tables
}

// The first to free one has to wait for nobody, and the last one leaves nothing.
TEST_F(ConnectPacked, FreesInAnyOrder) {
  UsedDevice device;
  Ring ring(device);
  std::vector<std::unique_ptr<DeviceExchange>> all;
  for (int k = 0; k < 5; ++k) {
    all.push_back(connect([&] { return ring.blocks(); }).exchange);
    ASSERT_TRUE(all.back());
  }
  for (int round = 0; round < 3; ++round)
    for (auto& exchange : all) {
      ring.send(round);
      exchange->start();
      exchange->wait();
      expect_received(ring.in.values<int>(), round);
    }
  std::rotate(all.begin(), all.begin() + world_rank() % 5, all.end());
  while (!all.empty()) all.pop_back();
}

// Rank by rank: each frees its part when all before it have done so.
TEST_F(ConnectPacked, MemoryStaysUntilTheLastRankIsDone) {
  UsedDevice device;
  Ring ring(device);
  std::unique_ptr<DeviceExchange> mine = connect([&] { return ring.blocks(); }).exchange;
  ASSERT_TRUE(mine);
  ring.send(1);
  mine->start(), mine->wait();
  expect_received(ring.in.values<int>(), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!last()) mine.reset();
  const bool neighbor_of_last =
      world_size() > 1 && (behind() == world_size() - 1 || before() == world_size() - 1);
  if (!last() && neighbor_of_last) {
    EXPECT_EQ(tonari::look_at_ended(), 1u);
    EXPECT_GT(device->held(), 0u);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// What one rank tells when it gives up reaches those that wait for it.
TEST_F(ConnectPacked, ARankThatGivesUpIsNotWaitedFor) {
  if (world_size() == 1) GTEST_SKIP() << "nobody else waits";
  UsedDevice device;
  Ring ring(device);
  ConnectedPacked made;
  tonari::run_collectively(near->context->comm(), [&] {
    made = tonari::connect_packed(*near->context, 0.01, [&] { return ring.blocks(); });
    near->context->take_tags(tonari::packed_tags);
  });
  ASSERT_TRUE(made.exchange);
  const bool waits = !last() && (behind() == world_size() - 1 || before() == world_size() - 1);
  if (last()) made.exchange->give_up();
  if (waits) {
    const auto error = tonari::error_of([&] { made.exchange->start(), made.exchange->wait(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), tonari::Errc::peer);
    EXPECT_CONTAINS(std::string(error->what()), "has given up the exchange or has ended");
  }
  made.exchange->give_up();
  made.exchange.reset();
  end_exchanges();
}

}  // namespace
