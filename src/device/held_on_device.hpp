// SPDX-License-Identifier: BSD-3-Clause
// What an object has of a device, given back at its end in the opposite order, also where its
// constructor throws.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace tonari {

class HeldOnDevice {
 public:
  explicit HeldOnDevice(Device& device) : device_(device) {}
  HeldOnDevice(const HeldOnDevice&) = delete;
  HeldOnDevice& operator=(const HeldOnDevice&) = delete;
  ~HeldOnDevice() { (void)give_back(); }

  std::byte* allocate(MemoryKind kind, int device, Bytes bytes) {
    return free_later(device_.allocate(kind, device, bytes));
  }
  std::byte* import_memory(const MemoryHandle& handle) {
    return free_later(device_.import_memory(handle));
  }
  DeviceTable table(int device, std::span<const Move> moves) {
    return later(device_.make_table(device, moves), &Device::free_table);
  }
  DeviceEvent event(int device) { return later(device_.make_event(device), &Device::end_event); }
  DeviceStream stream(int device) {
    return later(device_.make_stream(device), &Device::end_stream);
  }

  // Everything, now. Returns the first error: what it is about stays with the device.
  std::optional<Error> give_back() noexcept {
    std::optional<Error> first;
    for (; !held_.empty(); held_.pop_back()) {
      const std::optional<Error> error = error_of(held_.back());
      if (error && !first) first = error;
    }
    return first;
  }

 private:
  std::byte* free_later(std::byte* memory) { return later(memory, &Device::free); }
  template <class Thing>
  Thing later(Thing thing, void (Device::*end)(Thing)) {
    try {
      held_.push_back([this, thing, end] { (device_.*end)(thing); });
    } catch (...) {
      (device_.*end)(thing);
      throw;
    }
    return thing;
  }

  Device& device_;
  std::vector<std::function<void()>> held_;
};

}  // namespace tonari
