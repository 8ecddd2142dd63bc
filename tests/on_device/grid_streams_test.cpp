// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges in the order of streams, by programs that wait for their device at the end only.
#include "on_device/stencil_program.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

class GridStreams : public testing::Test {
 protected:
  // How many values were wrong, or more if the device throws.
  static int play(const Geometry& g, std::uint32_t seed, int rounds, int lie = -1) {
    UsedDevice device({}, seed);
    int wrong = 0;
    {
      DeviceGrid t(g, device.program(), true);
      t.fill(0, 0);
      tonari_request request = TONARI_REQUEST_NULL;
      must(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_tune", "off"}}, &request));
      device->lie_about(lie);
      {
        Stencil stencil(device, t, request, seed + static_cast<unsigned>(world_rank()));
        const auto failed = tonari::error_of([&] {
          for (int round = 0; round < rounds; ++round) stencil.exchange(round);
          stencil.complete();
        });
        wrong = stencil.wrong() + (failed ? 1000 : 0);
        if (failed && lie < 0) ADD_FAILURE() << failed->what() << "\n" << g.text();
        if (failed || lie >= 0) device.program().reset(0);
      }
      device->lie_about(-1);
      must(tonari_request_free(&request));
    }
    return wrong;
  }
};

// Small, since every cell is looked at by itself.
Geometry small(Random& random, int dims) {
  Geometry g = plain_geometry(dims, 3);
  for (int k = 0; k < dims; ++k) {
    g.periodic[k] = pick(random, 0, 3) != 0;
    g.shape.lower[k] = pick(random, 0, 2), g.shape.upper[k] = pick(random, 0, 2);
    g.per_rank[k] = g.shape.subdomains[k] = pick(random, 1, 2);
    g.cuts[k].assign(static_cast<std::size_t>(g.ranks[k] * g.per_rank[k]), 3);
  }
  g.shape.fields = pick(random, 1, 2);
  return g;
}

TEST_F(GridStreams, EveryConsumerSeesWhatOwnersHaveWhateverTheOrder) {
  Random common(91);
  for (int k = 0; k < cases(400); ++k)
    ASSERT_EQ(play(small(common, 1 + k % 3), static_cast<std::uint32_t>(k), 8), 0) << "seed " << k;
}

TEST_F(GridStreams, MessagesToItselfInAnyOrder) {
  Random common(92);
  for (int k = 0; k < cases(200); ++k) {
    Geometry g = alone(1 + k % 3, 2);
    for (int d = 0; d < g.dims; ++d) {
      g.per_rank[d] = g.shape.subdomains[d] = pick(common, 1, 2);
      g.cuts[d].assign(static_cast<std::size_t>(g.per_rank[d]), 2);
    }
    ASSERT_EQ(play(g, static_cast<std::uint32_t>(k), 8), 0) << "seed " << k;
  }
}

// If waits did not come behind the copies, programs would see it.
TEST_F(GridStreams, WhatOrdersMessagesToItselfIsNeeded) {
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 100 && wrong == 0; ++seed)
    wrong = play(alone(2, 3), seed, 8, 0);
  EXPECT_GT(wrong, 0);
}

class OwnMessages : public testing::Test {
 protected:
  tonari_request prepare(const DeviceGrid& t) const {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_exchange_init(t.grid, 0, MPI_INFO_NULL, &request));
    return request;
  }
};

TEST_F(OwnMessages, AreOneLaunch) {
  UsedDevice device;
  DeviceGrid t(alone(3, 4), device.program(), true);
  const std::size_t held = device->held();
  tonari_request request = prepare(t);
  EXPECT_EQ(device->held(), held + 2);  // an event and a table: nothing is pinned
  EXPECT_CONTAINS(std::string(tonari_request_describe(request)),
                  "26 messages to itself are copied on device 0 by one launch");
  tonari_request_info info;
  must(tonari_request_get_info(request, &info));
  EXPECT_EQ(info.messages, 0);
  EXPECT_EQ(std::string(info.channel), "device");
  const std::size_t launches = device->launches();
  for (int round = 0; round < 3; ++round) {
    t.fill(0, round);
    must(tonari_start(request));
    must(tonari_wait(request));
    EXPECT_EQ(t.wrong(0, round), "");
  }
  EXPECT_EQ(device->launches(), launches + 3);
  must(tonari_request_free(&request));
}

// A host that waited for the stream would not return.
TEST_F(OwnMessages, DoNotBlockTheHost) {
  UsedDevice device;
  SimulatedDevice& program = device.program();
  DeviceGrid t(alone(3, 4), program, true);
  tonari_request request = prepare(t);
  const DeviceStream stream = program.make_stream(0);
  auto* const gate = reinterpret_cast<std::uint64_t*>(
      program.allocate(tonari::MemoryKind::pinned, 0, sizeof(std::uint64_t)));
  *gate = 0;
  const tonari::FlagValue open{gate, 1};
  program.wait_flags(stream, {&open, 1});
  for (int round = 0; round < 2; ++round) {
    must(tonari_start_on(request, as_handle(stream)));
    must(tonari_wait_on(request, as_handle(stream)));
  }
  t.fill(0, 7);
  *gate = 1;
  program.synchronize(stream);
  EXPECT_EQ(t.wrong(0, 7), "");
  must(tonari_request_free(&request));
  program.end_stream(stream);
  program.free(reinterpret_cast<std::byte*>(gate));
}

// The device's clocks would find two copies to one ghost that nothing orders.
TEST_F(OwnMessages, FollowEachOtherInStreamsThatNothingOrders) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    UsedDevice device({}, seed);
    SimulatedDevice& program = device.program();
    DeviceGrid t(alone(2, 3), program, true);
    tonari_request request = prepare(t);
    const std::array streams{program.make_stream(0), program.make_stream(0)};
    t.fill(0, 1);
    for (int round = 0; round < 6; ++round) {
      must(tonari_start_on(request, as_handle(streams[round % 2])));
      must(tonari_wait_on(request, as_handle(streams[round / 2 % 2])));
    }
    for (const DeviceStream stream : streams) program.synchronize(stream);
    EXPECT_EQ(t.wrong(0, 1), "");
    must(tonari_request_free(&request));
    for (const DeviceStream stream : streams) program.end_stream(stream);
  }
}

// Beside others, which do go through the host.
TEST_F(OwnMessages, LeaveWhatIsStaged) {
  if (world_size() == 1) GTEST_SKIP() << "needs a neighbor";
  Geometry g = alone(3, 4);
  g.ranks[0] = world_size();
  g.cuts[0].assign(static_cast<std::size_t>(world_size()), 4);
  UsedDevice device;
  DeviceGrid t(g, device.program(), true);
  tonari_request request = prepare(t);
  const std::string by_handles = tonari_request_describe(request);
  EXPECT_CONTAINS(by_handles, "8 messages to itself are copied on device 0 by one launch");
  EXPECT_CONTAINS(by_handles, "go from device to device by handles");
  must(tonari_request_free(&request));
  must(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_channel", "p2p-packed"}}, &request));
  const std::string described = tonari_request_describe(request);
  EXPECT_CONTAINS(described, "8 messages to itself are copied on device 0 by one launch");
  // 2 faces of 16 cells with their edges and corners, on both sides
  EXPECT_CONTAINS(described, "are staged through " + std::to_string(2 * 2 * 36 * 8) + " bytes");
  for (int round = 0; round < 40; ++round) {
    t.fill(0, round);
    must(tonari_start(request));
    must(tonari_wait(request));
    EXPECT_EQ(t.wrong(0, round), "");
  }
  must(tonari_request_free(&request));
}

}  // namespace
