// SPDX-License-Identifier: BSD-3-Clause
// Checks of streams and buffers that programs give for exchanges of blocks on a device.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "device/device.hpp"

namespace tonari {

// Throws Errc::argument unless the stream is one of device `number`, and Errc::active where it is
// captured. captured: why an exchange cannot be, as the end of a sentence.
inline void check_stream(const Device& device, int number, DeviceStream stream,
                         const char* captured) {
  if (const int other = device.device_of(stream); other != number)
    fail(Errc::argument, "`stream` is one of device ", other, ", and the blocks are on device ",
         number, "; give a stream of that device");
  if (device.captures(stream))
    fail(Errc::active, "`stream` is captured, and ", captured, "; end the capture first");
}

// Throws Errc::argument unless the first and the last byte of what is touched lie on device
// `number`. touched: from the lowest address to one past the highest. name: of the argument.
inline void check_buffer(const Device& device, int number,
                         std::pair<std::ptrdiff_t, std::ptrdiff_t> touched,
                         const std::string& name) {
  for (const std::ptrdiff_t at : {touched.first, touched.second - 1}) {
    const MemoryAt memory = device.memory_at(reinterpret_cast<const void*>(at));
    if (memory.kind != MemoryKind::device || memory.device != number)
      fail(Errc::argument, "blocks from ", name, " on do not lie in memory of device ", number,
           ", as they did at init; give a buffer there that is as long");
  }
}

}  // namespace tonari
