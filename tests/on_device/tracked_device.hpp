// SPDX-License-Identifier: BSD-3-Clause
// A simulated device that counts what the library has of it, and may fail at any call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "device/forwarding_device.hpp"
#include "device/simulated_device.hpp"

namespace tonari::test {

struct Simulated {
  Simulated(const SimulatedOptions& options, std::uint64_t seed) : simulated(options, seed) {}
  SimulatedDevice simulated;
};

class TrackedDevice final : private Simulated, public ForwardingDevice {
 public:
  explicit TrackedDevice(const SimulatedOptions& options = {}, std::uint64_t seed = 0)
      : Simulated(options, seed), ForwardingDevice(Simulated::simulated) {}

  // For programs: what they do here is not counted.
  SimulatedDevice& program() { return simulated; }

  // allocations, regions, mappings, tables and events
  std::size_t held() const { return held_; }
  std::size_t launches() const { return launches_; }  // of tables and copies
  std::size_t flags() const { return flags_; }        // that were written, or waited for
  std::size_t calls() const { return calls_; }        // that may fail
  // The n-th call from now on fails; 0: none.
  void fail_at(std::size_t call) { calls_ = 0, fails_ = call; }

  // From now on the n-th event that was made counts as complete; -1: none does.
  void lie_about(int event) { lie_ = event; }
  bool query(DeviceEvent event) override { return lies_about(event) || device_.query(event); }
  void synchronize(DeviceEvent event) override {
    if (!lies_about(event)) device_.synchronize(event);
  }
  void wait_event(DeviceStream stream, DeviceEvent event) override {
    if (!lies_about(event)) device_.wait_event(stream, event);
  }
  using ForwardingDevice::synchronize;
  void write_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    flags_ += flags.size();
    device_.write_flags(stream, flags);
  }
  void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    flags_ += flags.size();
    device_.wait_flags(stream, flags);
  }

  std::byte* allocate(MemoryKind kind, int device, Bytes bytes) override {
    may_fail(Errc::memory, "no pinned memory is left");
    return counted(device_.allocate(kind, device, bytes));
  }
  void free(std::byte* base) override { device_.free(base), --held_; }
  MemoryHandle export_memory(const std::byte* address) const override {
    may_fail(Errc::argument, "no handle can be made");
    return device_.export_memory(address);
  }
  std::byte* import_memory(const MemoryHandle& handle) override {
    may_fail(Errc::argument, "a handle cannot be opened");
    return counted(device_.import_memory(handle));
  }
  DeviceTable make_table(int device, std::span<const Move> moves) override {
    may_fail(Errc::memory, "no memory is left for a table");
    return counted(device_.make_table(device, moves));
  }
  DeviceRegion make_region(int device, Bytes bytes) override {
    may_fail(Errc::memory, "no memory is left for a region");
    return counted(device_.make_region(device, bytes));
  }
  void free_region(DeviceRegion region) override { device_.free_region(region), --held_; }
  std::byte* map_regions(std::span<const DeviceRegion> regions) override {
    may_fail(Errc::memory, "no addresses are left for a mapping");
    return counted(device_.map_regions(regions));
  }
  void free_table(DeviceTable table) override { device_.free_table(table), --held_; }
  DeviceEvent make_event(int device) override {
    may_fail(Errc::argument, "no event can be made");
    events_.push_back(counted(device_.make_event(device)).value);
    return {events_.back()};
  }
  void end_event(DeviceEvent event) override { device_.end_event(event), --held_; }
  DeviceStream make_stream(int device) override {
    may_fail(Errc::argument, "no stream can be made");
    return device_.make_stream(device);
  }
  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override {
    may_fail(Errc::argument, "a copy cannot be launched");
    ++launches_;
    device_.copy(stream, to, from, bytes);
  }
  void move(DeviceStream stream, DeviceTable table) override {
    may_fail(Errc::argument, "a table cannot be launched");
    ++launches_;
    device_.move(stream, table);
  }

 private:
  template <class Thing>
  Thing counted(Thing thing) {
    ++held_;
    return thing;
  }
  bool lies_about(DeviceEvent event) const {
    return lie_ >= 0 && static_cast<std::size_t>(lie_) < events_.size() &&
           events_[static_cast<std::size_t>(lie_)] == event.value;
  }
  void may_fail(Errc code, const char* sentence) const {
    if (++calls_ == fails_) fail(code, sentence);
  }

  std::vector<std::uintptr_t> events_;
  int lie_ = -1;
  std::size_t held_ = 0, launches_ = 0, flags_ = 0, fails_ = 0;
  mutable std::size_t calls_ = 0;
};

}  // namespace tonari::test
