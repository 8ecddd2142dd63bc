// SPDX-License-Identifier: BSD-3-Clause
// A program on a device of any kind, which uses nothing but the interface: what kinds there are,
// says each test program.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/held_on_device.hpp"

namespace tonari::test {

struct DeviceKind {
  const char* name;
  std::shared_ptr<Device> (*make)(int devices);  // nothing: not so many are there
};
inline void PrintTo(const DeviceKind& kind, std::ostream* out) { *out << kind.name; }

using Content = std::vector<std::byte>;

inline Content pattern(std::size_t bytes, unsigned salt) {
  Content content(bytes);
  for (std::size_t k = 0; k < bytes; ++k)
    content[k] = static_cast<std::byte>((k * 37 + k / 251 + salt * 101) & 0xff);
  return content;
}

class ProgramOnDevice {
 public:
  explicit ProgramOnDevice(std::shared_ptr<Device> made)
      : owned_(std::move(made)), device(*owned_), held(device) {}

 private:
  std::shared_ptr<Device> owned_;

 public:
  Device& device;
  HeldOnDevice held;
  DeviceStream first = held.stream(0), second = held.stream(0);
  DeviceEvent event = held.event(0);

  std::byte* allocate(Bytes bytes, MemoryKind kind = MemoryKind::device, int number = 0) {
    return held.allocate(kind, number, bytes);
  }
  // Pinned memory, which stays while the program lives. Little of it needs no allocation: that
  // could wait for streams that are held back.
  std::byte* pinned(std::size_t bytes) {
    if (bytes > left_) return allocate(bytes, MemoryKind::pinned);
    left_ -= (bytes + 7) / 8 * 8;
    return host_ + left_;
  }
  std::byte* source(const Content& content) {
    return static_cast<std::byte*>(
        std::memcpy(pinned(content.size()), content.data(), content.size()));
  }
  // What a producer does in a stream.
  void put(DeviceStream stream, std::byte* to, const Content& content) {
    device.copy(stream, to, source(content), content.size());
  }
  void write(std::byte* to, const Content& content) {
    put(first, to, content);
    device.synchronize(first);
  }
  Content read(const std::byte* from, std::size_t bytes) {
    std::byte* const here = pinned(bytes);
    device.copy(first, here, from, bytes);
    device.synchronize(first);
    return {here, here + bytes};
  }

  // What a stream gets from now on does not run before let_run().
  void hold_back(DeviceStream stream) {
    gate_ = word(0, MemoryKind::pinned);
    const FlagValue open{gate_, 1};
    device.wait_flags(stream, {&open, 1});
  }
  void open() { *static_cast<volatile std::uint64_t*>(gate_) = 1; }
  void let_run() {
    open();
    device.synchronize(first);
    device.synchronize(second);
  }
  // A flag; in memory of a device by a copy.
  std::uint64_t* word(std::uint64_t value, MemoryKind kind) {
    Content content(sizeof value);
    std::memcpy(content.data(), &value, sizeof value);
    std::byte* at = source(content);
    if (kind == MemoryKind::device) write(at = allocate(sizeof value), content);
    return reinterpret_cast<std::uint64_t*>(at);
  }

 private:
  std::uint64_t* gate_ = nullptr;
  std::size_t left_ = 1 << 17;
  std::byte* host_ = held.allocate(MemoryKind::pinned, 0, left_);
};

// Tests that need several devices are skipped where there are not so many.
class AnyDevice : public testing::TestWithParam<DeviceKind> {
 protected:
  static std::unique_ptr<ProgramOnDevice> program(int devices = 1) {
    std::shared_ptr<Device> made = GetParam().make(devices);
    return made ? std::make_unique<ProgramOnDevice>(std::move(made)) : nullptr;
  }
};

}  // namespace tonari::test
