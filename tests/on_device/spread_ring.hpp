// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks of a ring, in memory of a device, for those that connect them.
#pragma once

#include "on_device/device_ring.hpp"
#include "request/connect_packed.hpp"

namespace tonari::test {

class SpreadRing : public DeviceRing {
 protected:
  static constexpr int most = 40;  // numbers of a message

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
    PackedBlocks to_itself() const {
      return {tonari::present_device(""),
              0,
              {message(world_rank(), 5, 1, in)},
              {message(world_rank(), 5, 0, out)}};
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
};

}  // namespace tonari::test
