// SPDX-License-Identifier: BSD-3-Clause
// A program on a simulated device: some memory and two streams.
#pragma once

#include <cstring>
#include <functional>

#include "device/simulated_device.hpp"

namespace tonari::test {

// No other process takes part.
inline SimulatedOptions alone(bool watch_order = true) {
  SimulatedOptions options;
  options.patience = 0;
  options.watch_order = watch_order;
  return options;
}
inline SimulatedOptions two_devices() {
  SimulatedOptions options = alone();
  options.devices = 2;
  return options;
}

struct Program {
  static constexpr Bytes bytes = 256;
  explicit Program(const SimulatedOptions& options = alone(), std::uint64_t seed = 0)
      : device(options, seed) {}

  SimulatedDevice device;
  std::byte* memory = device.allocate(MemoryKind::device, 0, bytes);
  DeviceStream first = device.make_stream(0), second = device.make_stream(0);
  DeviceStream holding = device.make_stream(0);
  DeviceEvent event = device.make_event(0);

  // A kernel that sets bytes.
  void set(DeviceStream stream, std::byte* at, Bytes count, int value) {
    const SimulatedDevice::Touched touched{at, count};
    device.launch(stream, {}, {&touched, 1},
                  [to = device.on_device(at), count, value] { std::memset(to, value, count); });
  }
  void fill(std::byte* at, Bytes count, int value) {
    set(first, at, count, value);
    device.synchronize(first);
  }
  int value(const std::byte* at) const { return static_cast<int>(*device.on_device(at)); }

  // What the first stream gets from now on does not run before let_run().
  void never_runs_by_itself() {
    gate = reinterpret_cast<std::uint64_t*>(device.allocate(MemoryKind::pinned, 0, 8));
    *gate = 0;
    const FlagValue open{gate, 1};
    device.wait_flags(first, {&open, 1});
  }
  void let_run() {
    if (gate) *gate = 1;
    device.synchronize(first);
    device.synchronize(second);
  }
  std::uint64_t* gate = nullptr;
};

}  // namespace tonari::test
