// SPDX-License-Identifier: BSD-3-Clause
// Ranks that stage blocks in pieces: all do, or all hear why not.
#include "request/connect_pieces.hpp"

#include "neighborhood/handles.hpp"
#include "on_device/spread_ring.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;
using tonari::Bytes;
using tonari::ConnectedMessages;
using tonari::PackedBlocks;
using tonari::PieceRule;

class ConnectPieces : public SpreadRing {
 protected:
  static std::vector<PieceRule> rules() {
    return {{100, 8}, {64, 4}, {1, 1}, {200, 16}, {7, 1000}};
  }

  ConnectedMessages connect(const std::function<PackedBlocks()>& read, const PieceRule& rule) {
    ConnectedMessages made;
    tonari::run_collectively(near->context->comm(), [&] {
      made = tonari::connect_pieces(*near->context, 10, read, "it is asked for", rule);
      near->context->take_tags(made.tags);
    });
    return made;
  }
  void expect_refused(UsedDevice& device, const std::function<PackedBlocks()>& read,
                      const std::string& part) {
    const ConnectedMessages made = connect(read, {100, 8});
    EXPECT_FALSE(made.exchange);
    ASSERT_TRUE(made.refusal);
    EXPECT_CONTAINS(std::string(made.refusal->what()), part);
    EXPECT_EQ(device->held(), 0u);
  }
};

TEST_F(ConnectPieces, AllArrivesHoweverItIsCut) {
  for (std::uint32_t seed = 0; seed < 5; ++seed)
    for (const PieceRule& rule : rules()) {
      UsedDevice device({}, seed);
      Ring ring(device);
      ConnectedMessages made = connect([&] { return ring.blocks(); }, rule);
      ASSERT_TRUE(made.exchange) << made.refusal->what();
      EXPECT_CONTAINS(made.described, "through 960 bytes of pinned host memory, because it is ");
      for (int round = 0; round < 4; ++round) {
        ring.send(round);
        made.exchange->start();
        if ((round + world_rank()) % 2)
          made.exchange->wait();
        else
          while (!made.exchange->test()) {
          }
        ring.expect_received(round);
      }
    }
}

TEST_F(ConnectPieces, InTheOrderOfStreams) {
  for (const PieceRule& rule : rules()) {
    UsedDevice device;
    Ring ring(device);
    ConnectedMessages made = connect([&] { return ring.blocks(); }, rule);
    ASSERT_TRUE(made.exchange) << made.refusal->what();
    const tonari::DeviceStream first = device.program().make_stream(0),
                               second = device.program().make_stream(0);
    for (int round = 0; round < 6; ++round) {
      ring.send(round);
      made.ordered->pack_on(first);
      made.exchange->start();
      for (int looks = 0; looks < round; ++looks) (void)made.exchange->test();
      const tonari::DeviceStream to = round % 2 ? first : second;
      made.ordered->unpack_on(to);
      made.exchange->wait();
      made.ordered->finish_on(to);
      device.program().synchronize(to);
      ring.expect_received(round);
    }
    device.program().end_stream(first);
    device.program().end_stream(second);
  }
}

TEST_F(ConnectPieces, PiecesAreAsLongAsTheRuleSays) {
  UsedDevice device;
  Ring ring(device);
  const auto described = [&](const PieceRule& rule) {
    return connect([&] { return ring.blocks(); }, rule).described;
  };
  EXPECT_CONTAINS(described({100, 8}), "send blocks on device 0 in 6 pieces and receive blocks");
  EXPECT_CONTAINS(described({200, 16}), "in 3 pieces and");
  EXPECT_CONTAINS(described({64, 4}), "in 6 pieces and");
  EXPECT_CONTAINS(described({1, 1}), "in 1 piece and");
  EXPECT_EQ(PieceRule().length((Bytes{1} << 20) - 1), 0u);
  EXPECT_EQ(PieceRule().length(Bytes{1} << 20), Bytes{1} << 19);
  EXPECT_EQ(PieceRule().length(Bytes{1} << 24), Bytes{1} << 20);
  EXPECT_EQ(PieceRule().length(Bytes{1} << 40), Bytes{1} << 30);
}

TEST_F(ConnectPieces, RanksWithoutBlocksTakePart) {
  UsedDevice device;
  std::optional<Ring> ring;
  const bool has = world_rank() == 0;
  if (has) ring.emplace(device);
  const ConnectedMessages made =
      connect([&] { return has ? ring->to_itself() : PackedBlocks(); }, {10, 8});
  ASSERT_TRUE(made.exchange) << made.refusal->what();
  EXPECT_EQ(made.exchange->nothing(), !has);
  EXPECT_EQ(made.ordered != nullptr, has);
}

TEST_F(ConnectPieces, RefusesWhatIsTooSmallAndWhatOneRankCannot) {
  UsedDevice device;
  Ring ring(device);
  const ConnectedMessages made = connect([&] { return ring.blocks(); }, {});
  ASSERT_TRUE(made.refusal);
  EXPECT_CONTAINS(std::string(made.refusal->what()), "no rank has 1048576 bytes to cut");
  expect_refused(
      device,
      [&] {
        if (world_rank() == world_size() - 1)
          tonari::fail(tonari::Errc::argument, "its blocks are elsewhere");
        return ring.blocks();
      },
      "its blocks are elsewhere");
}

// Each call of the device on the last rank fails once: all hear of it, or the exchange works.
TEST_F(ConnectPieces, AnyCallOfADeviceMayFail) {
  bool passed = false;
  std::size_t failures = 0;
  for (std::size_t call = 1; !passed && call < 100; ++call) {
    UsedDevice device;
    Ring ring(device);
    device->fail_at(world_rank() == world_size() - 1 ? call : 0);
    ConnectedMessages made = connect([&] { return ring.blocks(); }, {100, 8});
    passed = made.exchange != nullptr;
    failures += !passed;
    EXPECT_NE(made.exchange != nullptr, made.refusal.has_value());
    EXPECT_TRUE(everywhere(passed) || everywhere(!passed));
    device->fail_at(0);
  }
  EXPECT_TRUE(passed);
  EXPECT_GT(failures, 36u);  // memory, event and table of each piece
}

// Before any message goes, on all ranks: nothing of the device stays.
TEST_F(ConnectPieces, PackingThatFailsLeavesNothing) {
  for (std::size_t call = 1; call <= 6; ++call) {
    UsedDevice device;
    Ring ring(device);
    ConnectedMessages made = connect([&] { return ring.blocks(); }, {100, 8});
    ASSERT_TRUE(made.exchange);
    device->fail_at(call);
    EXPECT_TRUE(tonari::error_of([&] { made.exchange->start(); })) << call;
    device->fail_at(0);
    made.exchange.reset();
    EXPECT_EQ(device->held(), 0u) << call;
    MPI_Barrier(near->context->comm());
  }
}

// Unpacking of one piece fails, while others may still come. No other rank takes part.
TEST_F(ConnectPieces, UnpackingThatFailsLeavesNothing) {
  for (std::size_t call = 3; call <= 4; ++call) {
    UsedDevice device;
    Ring ring(device);
    ConnectedMessages made = connect([&] { return ring.to_itself(); }, {80, 8});
    ASSERT_TRUE(made.exchange);
    device->fail_at(call);
    EXPECT_TRUE(tonari::error_of([&] {
      made.exchange->start();
      made.exchange->wait();
    })) << call;
    device->fail_at(0);
    made.exchange.reset();
    EXPECT_EQ(device->held(), 0u) << call;
  }
}

}  // namespace
