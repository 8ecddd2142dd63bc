// SPDX-License-Identifier: BSD-3-Clause
// Starts with other buffers in memory of a device.
#include "on_device/device_ring.hpp"

namespace {

using namespace tonari::test;

class DeviceStartWith : public DeviceRing {};

// More pairs than tables are kept, several times round. Some ranks send from memory of the host.
TEST_F(DeviceStartWith, AnyBuffersInTurn) {
  UsedDevice device;
  const bool sends_from_host = world_rank() % 3 == 2;
  constexpr std::size_t pairs = 11;
  std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
  std::vector<std::array<int, 2>> here(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
  }
  const auto send = [&](std::size_t k) {
    return sends_from_host ? static_cast<void*>(here[k].data()) : out[k]->at();
  };
  for (const char* algorithm : {"linear", "native"}) {
    SCOPED_TRACE(algorithm);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(send(0), in[0]->at(),
                      Info{{"tonari_tune", "off"}, {"tonari_algorithm", algorithm}}, &request));
    for (int round = 0; round < 30; ++round) {
      const std::size_t k = static_cast<std::size_t>(round * (round % 5 == 0 ? 1 : 7)) % pairs;
      int* const values = sends_from_host ? here[k].data() : out[k]->values<int>();
      values[0] = sent(round, 0), values[1] = sent(round, 1);
      EXPECT_OK(tonari_start_with(request, send(k), in[k]->at()));
      EXPECT_OK(tonari_wait(request));
      expect_received(in[k]->values<int>(), round);
      if (round % 4 == 0) {  // the buffers stay bound
        values[0] = sent(100 + round, 0), values[1] = sent(100 + round, 1);
        EXPECT_OK(tonari_start(request));
        EXPECT_OK(tonari_wait(request));
        expect_received(in[k]->values<int>(), 100 + round);
      }
    }
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(DeviceStartWith, RefusesOtherMemory) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64),
      other(device.program(), 64, 1);
  int here[4] = {};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_tune", "off"}}, &request));
  const auto expect_refused = [&](const void* send, const char* part) {
    EXPECT_EQ(tonari_start_with(request, send, in.at()), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(tonari_last_error(), part);
  };
  expect_refused(here, "`sendbuf` is not memory of a GPU, as it was at init");
  expect_refused(other.at(), "do not lie in memory of device 0");
  expect_refused(out.at() + 60, "do not lie in memory of device 0");
  EXPECT_EQ(tonari_start_with(request, in.at() + 4, in.at()), TONARI_ERR_BUFFERS);
  // Nothing was started, and the request can be.
  out.values<int>()[2] = sent(1, 0), out.values<int>()[3] = sent(1, 1);
  EXPECT_OK(tonari_start_with(request, out.at() + 8, in.at()));
  EXPECT_OK(tonari_wait(request));
  expect_received(in.values<int>(), 1);
  EXPECT_OK(tonari_request_free(&request));
  ASSERT_OK(prepare(here, here + 2, Info{{"tonari_tune", "off"}}, &request));
  expect_refused(out.at(), "`sendbuf` is memory of a GPU, which the host cannot read");
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
