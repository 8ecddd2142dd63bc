// SPDX-License-Identifier: BSD-3-Clause
// Starts and waits in the order of streams, with producers and consumers that are late: what users
// of halo libraries report (packing before the producer is done, a start before the last unpacking
// is), in orders drawn from seeds.
#include <cstdlib>

#include "on_device/stream_program.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

class StreamOrder : public DeviceRing {
 protected:
  // Exchanges of one device; returns how many values were wrong, or more if the device throws.
  int play(std::uint32_t seed, int rounds, const char* channel) {
    UsedDevice device({}, seed);
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(prepare(out.at(), in.at(), Info{{"tonari_tune", "off"}, {"tonari_channel", channel}},
                      &request));
    int wrong = 0;
    {
      Program program(device, request, out, in, seed + static_cast<unsigned>(world_rank()));
      const auto failed = tonari::error_of([&] {
        for (int round = 0; round < rounds; ++round)
          program.exchange(
              round, [](int r, int i, int rank = world_rank()) { return sent(r, i, rank); },
              before(), behind());
        program.complete();
      });
      wrong = program.wrong() + (failed ? 1000 : 0);
      if (failed) ADD_FAILURE() << "seed " << seed << ", " << channel << ": " << failed->what();
      if (failed) device.program().reset(0);
    }
    EXPECT_OK(tonari_request_free(&request));
    return wrong;
  }
};

// TONARI_TEST_ORDERS: so many instead, for a longer look.
TEST_F(StreamOrder, EveryConsumerSeesWhatWasSentWhateverTheOrder) {
  const char* const given = std::getenv("TONARI_TEST_ORDERS");
  const int orders = given ? std::atoi(given) : cases(500);
  for (int k = 0; k < orders; k += 10)
    for (const char* channel : {"device-handles", "p2p-packed"})
      ASSERT_EQ(play(static_cast<std::uint32_t>(k), 10, channel), 0) << "seed " << k << channel;
}

// Without what an event tells, or orders. The second block does not move.
int wrong_without(int event, const char* channel, tonari_neighborhood near) {
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 100 && wrong == 0; ++seed) {
    UsedDevice device({}, seed);
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near,
                                   Info{{"tonari_tune", "off"}, {"tonari_channel", channel}},
                                   &request));
    in.values<int>()[1] = 0;
    device->lie_about(event);
    {
      Program program(device, request, out, in, seed);
      const auto failed = tonari::error_of([&] {
        for (int round = 0; round < 10; ++round)
          program.exchange(round, [](int r, int i, int = 0) { return i == 0 ? r : 0; }, 0, 0);
        program.complete();
      });
      wrong = program.wrong() + (failed ? 1 : 0);
      device.program().reset(0);
    }
    device->lie_about(-1);
    EXPECT_OK(tonari_request_free(&request));
  }
  return wrong;
}

TEST(StreamOrderAlone, WhatIsAskedIsNeeded) {
  const int self = 0;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  for (const int event : {0, 1})  // of the send side, and of the receive side
    EXPECT_GT(wrong_without(event, "p2p-packed", near), 0) << "of event " << event;
  for (const int event : {0, 1, 2})  // unpacked, and packed of each parity
    EXPECT_GT(wrong_without(event, "device-handles", near), 0) << "of event " << event;
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// A start by the host packs in a stream of the library, so what was sent may be replaced behind the
// wait, and not behind what the program's stream holds. Where nothing orders that, the device says
// so.
bool replaces_in_order(bool behind_the_wait, std::uint32_t seed, tonari_neighborhood near) {
  UsedDevice device({}, seed);
  SimulatedDevice& program = device.program();
  MemoryOnDevice out(program, sizeof(int)), in(program, sizeof(int));
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near,
                                 Info{{"tonari_tune", "off"}, {"tonari_channel", "device-handles"}},
                                 &request));
  const DeviceStream stream = program.make_stream(0), waits = program.make_stream(0);
  const tonari::DeviceEvent event = program.make_event(0);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait_on(request, Program::as_handle(waits)));
  const auto failed = tonari::error_of([&] {
    program.record(waits, event);
    if (behind_the_wait) program.wait_event(stream, event);
    const SimulatedDevice::Touched all{reinterpret_cast<const std::byte*>(out.at()), sizeof(int)};
    program.launch(stream, {}, {&all, 1}, [] {});
    for (const DeviceStream one : {stream, waits}) program.synchronize(one);
  });
  if (failed) program.reset(0);
  EXPECT_OK(tonari_request_free(&request));
  program.end_event(event);
  for (const DeviceStream one : {stream, waits}) program.end_stream(one);
  return !failed;
}

TEST(StreamOrderAlone, WhatWasSentIsReplacedBehindTheWait) {
  const int self = 0;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  int in_order[2] = {0, 0};
  for (std::uint32_t seed = 0; seed < 50; ++seed)
    for (const bool behind : {false, true})
      in_order[behind] += replaces_in_order(behind, seed, near);
  EXPECT_EQ(in_order[true], 50);
  EXPECT_EQ(in_order[false], 0);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// A start that waited for the device would not return.
TEST_F(StreamOrder, AStartDoesNotWaitForItsStream) {
  UsedDevice device;
  SimulatedDevice& program = device.program();
  MemoryOnDevice out(program, 64), in(program, 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_tune", "off"}}, &request));
  const DeviceStream stream = program.make_stream(0);
  auto* const gate = reinterpret_cast<std::uint64_t*>(
      program.allocate(tonari::MemoryKind::pinned, 0, sizeof(std::uint64_t)));
  *gate = 0;
  const tonari::FlagValue open{gate, 1};
  program.wait_flags(stream, {&open, 1});
  EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
  int flag = 1;
  EXPECT_OK(tonari_test(request, &flag));
  EXPECT_EQ(flag, 0);
  out.values<int>()[0] = sent(3, 0), out.values<int>()[1] = sent(3, 1);
  *gate = 1;
  EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
  program.synchronize(stream);
  expect_received(in.values<int>(), 3);
  EXPECT_OK(tonari_request_free(&request));
  program.free(reinterpret_cast<std::byte*>(gate));
}

TEST_F(StreamOrder, OneShotRequestsAreWaitedForInAStream) {
  UsedDevice device;
  tonari_neighborhood other = make(MPI_INFO_NULL);
  {
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    const DeviceStream stream = device.program().make_stream(0);
    for (int round = 0; round < 3; ++round) {
      out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
      tonari_request request = TONARI_REQUEST_NULL;
      EXPECT_OK(tonari_ialltoall(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, other, &request));
      EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
      EXPECT_OK(tonari_request_free(&request));
      device.program().synchronize(stream);
      expect_received(in.values<int>(), round);
    }
  }
  EXPECT_OK(tonari_neighborhood_free(&other));
}

// Nothing has happened then, and the request can be started.
TEST_F(StreamOrder, RefusesStreamsThatCannotBe) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  SimulatedDevice& program = device.program();
  MemoryOnDevice out(program, 64), in(program, 64);
  int here[4] = {};
  const Info quick{{"tonari_tune", "off"}};
  const DeviceStream stream = program.make_stream(0), other = program.make_stream(1);
  const auto expect_refused = [](int code, int wanted, const char* part) {
    EXPECT_EQ(code, wanted);
    EXPECT_CONTAINS(tonari_last_error(), part);
  };
  tonari_request request = TONARI_REQUEST_NULL;
  expect_refused(tonari_start_on(request, nullptr), TONARI_ERR_ARGUMENT, "`request` is NULL");
  EXPECT_OK(tonari_wait_on(request, nullptr));
  ASSERT_OK(prepare(here, in.at(), quick, &request));
  expect_refused(tonari_start_on(request, Program::as_handle(stream)), TONARI_ERR_ARGUMENT,
                 "sends from memory that the host reads");
  EXPECT_OK(tonari_request_free(&request));
  ASSERT_OK(prepare(out.at(), in.at(), quick, &request));
  expect_refused(tonari_start_on(request, Program::as_handle(other)), TONARI_ERR_ARGUMENT,
                 "`stream` is one of device 1, and the blocks are on device 0");
  expect_refused(tonari_start_on(request, nullptr), TONARI_ERR_ARGUMENT, "no device made");
  program.begin_capture(stream);
  expect_refused(tonari_start_on(request, Program::as_handle(stream)), TONARI_ERR_ACTIVE,
                 "`stream` is captured");
  (void)program.end_capture(stream);
  out.values<int>()[0] = sent(1, 0), out.values<int>()[1] = sent(1, 1);
  EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
  expect_refused(tonari_start_on(request, Program::as_handle(stream)), TONARI_ERR_ACTIVE,
                 "already started");
  expect_refused(tonari_wait_on(request, Program::as_handle(other)), TONARI_ERR_ARGUMENT,
                 "`stream` is one of device 1");
  program.begin_capture(stream);
  expect_refused(tonari_wait_on(request, Program::as_handle(stream)), TONARI_ERR_ACTIVE,
                 "`stream` is captured");
  (void)program.end_capture(stream);
  EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
  program.synchronize(stream);
  expect_received(in.values<int>(), 1);
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
