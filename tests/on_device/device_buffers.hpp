// SPDX-License-Identifier: BSD-3-Clause
// Buffers of an operation in memory of a simulated device, on one side or both.
#pragma once

#include <cstring>
#include <memory>

#include "device/present_device.hpp"
#include "on_device/tracked_device.hpp"
#include "request/ended_exchanges.hpp"
#include "support/graph_exchange.hpp"

namespace tonari::test {

// Ranks have freed their requests; now nobody uses the memory of another one any more.
inline void end_exchanges() {
  const double end = MPI_Wtime() + 600;
  std::size_t left = 1;
  while (left > 0 && MPI_Wtime() < end) left = look_at_ended();
  EXPECT_EQ(left, 0u) << "ranks still use memory of exchanges that were freed";
}

// The library uses it while this lives.
class UsedDevice {
 public:
  explicit UsedDevice(const SimulatedOptions& options = {}, std::uint64_t seed = 0)
      : device_(std::make_shared<TrackedDevice>(options, seed)) {
    use_device(device_);
  }
  ~UsedDevice() {
    end_exchanges();
    use_device(nullptr);
    EXPECT_EQ(device_->held(), 0u) << "something of the device was not given back";
  }
  UsedDevice(const UsedDevice&) = delete;
  UsedDevice& operator=(const UsedDevice&) = delete;
  TrackedDevice* operator->() const { return device_.get(); }
  SimulatedDevice& program() const { return device_->program(); }

 private:
  std::shared_ptr<TrackedDevice> device_;
};

// What calls get in the place of a side's memory.
class MemoryOnDevice {
 public:
  MemoryOnDevice(SimulatedDevice& device, std::size_t bytes, int number = 0)
      : device_(device), at_(device.allocate(MemoryKind::device, number, bytes)), bytes_(bytes) {}
  ~MemoryOnDevice() { free(); }
  MemoryOnDevice(const MemoryOnDevice&) = delete;
  MemoryOnDevice& operator=(const MemoryOnDevice&) = delete;

  Byte* at() const { return reinterpret_cast<Byte*>(at_); }
  void free() {
    if (at_) device_.free(std::exchange(at_, nullptr));
  }
  void put(const std::vector<Byte>& content) const {
    std::memcpy(device_.on_device(at_), content.data(), content.size());
  }
  void get(std::vector<Byte>& content) const {
    std::memcpy(content.data(), device_.on_device(at_), content.size());
  }
  template <class Value>
  Value* values() const {  // to look at by the host
    return reinterpret_cast<Value*>(device_.on_device(at_));
  }

 private:
  SimulatedDevice& device_;
  std::byte* at_;
  std::size_t bytes_;
};

// Which sides of a rank lie on its device.
struct OnDevice {
  bool out = true, in = true;
};

class DeviceBuffers {
 public:
  DeviceBuffers(Buffers buffers, SimulatedDevice& device, OnDevice on) : b(std::move(buffers)) {
    if (on.out) place(out_, b.out, device);
    if (on.in) place(in_, b.in, device);
  }
  void prepare(int rank, int round) {
    b.prepare(rank, round);
    if (out_) out_->put(b.out.memory);
    if (in_) in_->put(b.in.memory);
    forget();
  }
  template <class Senders>
  std::string wrong(const Senders& senders, int rank, int round) {
    if (out_) out_->get(b.out.memory);
    if (in_) in_->get(b.in.memory);
    return b.wrong(senders, rank, round);
  }

  Buffers b;

 private:
  static void place(std::unique_ptr<MemoryOnDevice>& memory, Side& side, SimulatedDevice& device) {
    memory = std::make_unique<MemoryOnDevice>(device, side.memory.size());
    side.elsewhere = memory->at();
  }
  // What the host has of it, so that nothing can be right by chance.
  void forget() {
    if (out_) std::fill(b.out.memory.begin(), b.out.memory.end(), Byte{0x11});
    if (in_) std::fill(b.in.memory.begin(), b.in.memory.end(), Byte{0x22});
  }

  std::unique_ptr<MemoryOnDevice> out_, in_;
};

}  // namespace tonari::test
