// SPDX-License-Identifier: BSD-3-Clause
// Memory of pools (cudaMallocAsync) in exchanges by handles, and virtual memory without handles, as
// expandable segments of frameworks are. No process can map it, and none has to: the slots that
// others write are the library's own, and only this rank's device packs from the program's memory
// and unpacks to it. So none of it falls to a slower way (nixl issue 1754, UCX issue 11548).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "device/cuda/on_fake.hpp"
#include "packing/packed_exchange.hpp"

namespace tonari::test {
namespace {

constexpr Bytes bytes = 1000;

PackedMessage message(std::int32_t peer, std::byte* base) {
  PackedMessage one{peer, 0, base, {}};
  one.layout.add(0, bytes);
  return one;
}

std::vector<std::byte> pattern(int rank, int round) {
  std::vector<std::byte> all(bytes);
  for (Bytes k = 0; k < bytes; ++k)
    all[k] = static_cast<std::byte>(k * 7 + static_cast<Bytes>(31 * rank + 101 * round));
  return all;
}

class CudaPools : public testing::TestWithParam<ForeignMemory> {};
INSTANTIATE_TEST_SUITE_P(OfThe, CudaPools,
                         testing::Values(ForeignMemory::pool, ForeignMemory::without_handle),
                         [](const auto& kind) {
                           return kind.param == ForeignMemory::pool ? "Pool" : "Framework";
                         });

// Each of two ranks sends all of its memory to the other one.
TEST_P(CudaPools, MemoryGoesByHandles) {
  CudaOnFake on;
  std::byte *out[2], *in[2];
  for (int rank : {0, 1}) {
    out[rank] = fake_driver().allocate(GetParam(), bytes);
    in[rank] = fake_driver().allocate(GetParam(), bytes);
    ASSERT_NE(on.cuda.memory_at(out[rank]).not_exported, "");
  }
  {
    PackedExchange zero(on.cuda, 0, 0, {message(1, in[0])}, {message(1, out[0])});
    PackedExchange one(on.cuda, 0, 1, {message(0, in[1])}, {message(0, out[1])});
    PackedExchange* const both[] = {&zero, &one};
    const PackedOffers offers{{0, zero.offer()}, {1, one.offer()}};
    for (PackedExchange* const rank : both) rank->connect(offers);
    const DeviceStream streams[] = {on.cuda.make_stream(0), on.cuda.make_stream(0)};
    for (int round = 0; round < 3; ++round) {
      for (int rank : {0, 1})
        std::ranges::copy(pattern(rank, round), on.simulated.on_device(out[rank]));
      for (int rank : {0, 1}) both[rank]->start_on(streams[rank]);
      for (int rank : {0, 1}) both[rank]->wait_on(streams[rank]);
      for (int rank : {0, 1}) on.cuda.synchronize(streams[rank]);
      for (int rank : {0, 1}) {
        const std::vector<std::byte> want = pattern(1 - rank, round);
        EXPECT_EQ(std::memcmp(on.simulated.on_device(in[rank]), want.data(), bytes), 0)
            << "rank " << rank << ", round " << round;
      }
    }
    for (PackedExchange* const rank : both) rank->leave();
    for (PackedExchange* const rank : both) rank->finish([] {});
    for (const DeviceStream stream : streams) on.cuda.end_stream(stream);
  }
  const auto& calls = fake_driver().calls;
  EXPECT_EQ(std::ranges::count(calls, "cuIpcGetMemHandle"), 2);  // of the two inboxes
}

}  // namespace
}  // namespace tonari::test
