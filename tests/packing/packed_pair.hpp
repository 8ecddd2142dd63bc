// SPDX-License-Identifier: BSD-3-Clause
// A program on one simulated device that plays one rank or two.
#pragma once

#include "device/program.hpp"
#include "packing/packed_exchange.hpp"

namespace tonari::test {

struct Pair : Program {
  using Program::Program;

  PackedMessage message(std::int32_t peer, std::ptrdiff_t at, std::size_t size = 8) const {
    PackedMessage message{peer, 3, memory, {}};
    message.layout.add(at, size);
    return message;
  }
  // Whether the stream gets as far as that, however often the host looks.
  bool completes(DeviceStream stream) {
    device.record(stream, event);
    for (int polls = 0; polls < 1'000; ++polls)
      if (device.query(event)) return true;
    return false;
  }
};

}  // namespace tonari::test
