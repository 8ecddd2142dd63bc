// SPDX-License-Identifier: BSD-3-Clause
// A device in front of another one, for those that change a few of its functions.
#pragma once

#include <span>

#include "device/device.hpp"

namespace tonari::test {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device) {}

  int devices() const override { return device_.devices(); }
  Capability ability(Ability which) const override { return device_.ability(which); }
  const char* mpi_query() const override { return device_.mpi_query(); }
  MemoryAt memory_at(const void* address) const override { return device_.memory_at(address); }
  std::byte* allocate(MemoryKind kind, int device, Bytes bytes) override {
    return device_.allocate(kind, device, bytes);
  }
  void free(std::byte* base) override { device_.free(base); }
  MemoryHandle export_memory(const std::byte* address) const override {
    return device_.export_memory(address);
  }
  std::byte* import_memory(const MemoryHandle& handle) override {
    return device_.import_memory(handle);
  }
  Bytes granularity(int device) const override { return device_.granularity(device); }
  DeviceRegion make_region(int device, Bytes bytes) override {
    return device_.make_region(device, bytes);
  }
  void free_region(DeviceRegion region) override { device_.free_region(region); }
  std::byte* map_regions(std::span<const DeviceRegion> regions) override {
    return device_.map_regions(regions);
  }
  DeviceStream make_stream(int device) override { return device_.make_stream(device); }
  void end_stream(DeviceStream stream) override { device_.end_stream(stream); }
  int device_of(DeviceStream stream) const override { return device_.device_of(stream); }
  bool captures(DeviceStream stream) const override { return device_.captures(stream); }
  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override {
    device_.copy(stream, to, from, bytes);
  }
  DeviceTable make_table(int device, std::span<const Move> moves) override {
    return device_.make_table(device, moves);
  }
  void free_table(DeviceTable table) override { device_.free_table(table); }
  void move(DeviceStream stream, DeviceTable table) override { device_.move(stream, table); }
  DeviceEvent make_event(int device) override { return device_.make_event(device); }
  void end_event(DeviceEvent event) override { device_.end_event(event); }
  void synchronize(DeviceStream stream) override { device_.synchronize(stream); }
  void write_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    device_.write_flags(stream, flags);
  }
  void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    device_.wait_flags(stream, flags);
  }
  void record(DeviceStream stream, DeviceEvent event) override { device_.record(stream, event); }
  void wait_event(DeviceStream stream, DeviceEvent event) override {
    device_.wait_event(stream, event);
  }
  bool query(DeviceEvent event) override { return device_.query(event); }
  void synchronize(DeviceEvent event) override { device_.synchronize(event); }

 protected:
  Device& device_;
};

}  // namespace tonari::test
