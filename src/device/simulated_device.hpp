// SPDX-License-Identifier: BSD-3-Clause
// Devices without hardware, to prove code for real ones. The host cannot touch their memory, their
// streams run in all orders that the rules allow, and each broken rule is an error. Times mean
// nothing here.
//
// One thread calls at a time; others wait for it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "device/device.hpp"
#include "device/simulated_memory.hpp"
#include "device/simulated_streams.hpp"
#include "device/simulated_work.hpp"

namespace tonari {

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(const SimulatedOptions& options = {}, std::uint64_t seed = 0);

  // ---- what only simulated devices have
  // Drops all work and errors, and draws other orders. Memory, streams and events stay, and all
  // records are complete.
  void reset(std::uint64_t seed);

  struct Touched {
    const std::byte* address;
    Bytes bytes;
  };
  // A kernel of the program: it reads and writes what it says, by `on_device` addresses.
  void launch(DeviceStream stream, std::span<const Touched> reads, std::span<const Touched> writes,
              std::function<void()> body);
  // Where the simulation has the byte, for bodies of kernels and to look at results.
  std::byte* on_device(const std::byte* address) const;

  void begin_capture(DeviceStream stream);
  std::shared_ptr<const SimulatedGraph> end_capture(DeviceStream stream);
  void launch(DeviceStream stream, std::shared_ptr<const SimulatedGraph> graph);

  // ---- Device
  int devices() const override { return options_.devices; }
  Capability ability(Ability which) const override;
  const char* mpi_query() const override { return "query_simulated_support"; }

  MemoryAt memory_at(const void* address) const override;
  std::byte* allocate(MemoryKind kind, int device, Bytes bytes) override;
  void free(std::byte* base) override;
  MemoryHandle export_memory(const std::byte* address) const override;
  std::byte* import_memory(const MemoryHandle& handle) override;
  Bytes granularity(int device) const override;
  DeviceRegion make_region(int device, Bytes bytes) override;
  void free_region(DeviceRegion region) override;
  std::byte* map_regions(std::span<const DeviceRegion> regions) override;

  DeviceStream make_stream(int device) override;
  void end_stream(DeviceStream stream) override;
  int device_of(DeviceStream stream) const override;
  bool captures(DeviceStream stream) const override;
  void synchronize(DeviceStream stream) override;

  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override;
  DeviceTable make_table(int device, std::span<const Move> moves) override;
  void free_table(DeviceTable table) override;
  void move(DeviceStream stream, DeviceTable table) override;
  void write_flags(DeviceStream stream, std::span<const FlagValue> flags) override;
  void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) override;

  DeviceEvent make_event(int device) override;
  void end_event(DeviceEvent event) override;
  void record(DeviceStream stream, DeviceEvent event) override;
  void wait_event(DeviceStream stream, DeviceEvent event) override;
  bool query(DeviceEvent event) override;
  void synchronize(DeviceEvent event) override;

 private:
  struct Event {
    int device;
    std::shared_ptr<SimulatedRecord> last;
    std::shared_ptr<SimulatedCapture> capture;  // that the last record is part of
    CaptureEnds ends;
  };
  using Lock = std::lock_guard<std::mutex>;
  Event& at(DeviceEvent event);
  const std::shared_ptr<SimulatedRecord>& recorded(DeviceEvent event, const char* verb);
  std::shared_ptr<const SimulatedTable> at(DeviceTable table) const;
  std::vector<SimulatedFlag> reach(DeviceStream stream, std::span<const FlagValue> flags) const;
  std::vector<SimulatedBytes> reach(DeviceStream stream, std::span<const Touched> bytes) const;
  void not_in_a_capture(const char* what);
  void need(Ability which) const;
  void run_until(const std::function<bool()>& done);

  SimulatedOptions options_;
  mutable std::mutex mutex_;
  SimulatedMemory memory_;
  SimulatedStreams streams_;
  std::map<std::uintptr_t, Event> events_;
  std::map<std::uintptr_t, std::shared_ptr<const SimulatedTable>> tables_;
  std::uintptr_t next_ = 1;  // number of an event or a table
};

}  // namespace tonari
