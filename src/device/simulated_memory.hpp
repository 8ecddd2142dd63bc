// SPDX-License-Identifier: BSD-3-Clause
// Memory of simulated devices. It is a file in memory; the simulation works on a mapping of it that
// programs do not know. The addresses that programs get are reserved and have no access: the host
// crashes where it touches them, and system calls answer EFAULT.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "device/device.hpp"
#include "device/regions.hpp"
#include "device/simulated_order.hpp"
#include "memory/mapped_file.hpp"
#include "memory/owned.hpp"

namespace tonari {

struct SimulatedOptions {
  int devices = 1;
  Bytes memory = Bytes{1} << 30;  // of each device
  // Notes every access, to find what nothing orders: eight bytes more for each byte of memory.
  bool watch_order = true;
  std::vector<Ability> lacks;
  // All streams of a device share one queue, as with CUDA_DEVICE_MAX_CONNECTIONS=1: work is done in
  // the order in which it was put there, so what waits in one stream holds up all others.
  bool one_queue = false;
  // Seconds until a wait for another process is an error; 0: no other process takes part.
  double patience = 60;
};

// Physical memory, wherever it is mapped.
struct SimulatedRegion {
  SimulatedRegion(MemoryKind kind, int device, Bytes bytes, bool watch_order);
  SimulatedRegion(MemoryKind kind, int device, Bytes bytes, const FileName& name);  // of others

  bool freed() const;  // by the process that allocated it
  void end() const;    // that process has freed it

  MemoryKind kind;
  int device;
  Bytes bytes;
  bool foreign = false;  // another process may write its flags
  std::shared_ptr<const MappedFile> file, touched_file;
  View life;  // a page behind the bytes with the word that freed() reads
  std::map<Bytes, SimulatedClock> flags;  // what is ordered before a flag, by its place
};

// Consecutive addresses, and the regions that they show.
struct SimulatedRange {
  struct Part {
    Bytes at;  // in the range
    std::shared_ptr<SimulatedRegion> region;
  };
  const Part& part(Bytes at) const;
  bool freed() const { return gone || any_region_freed(); }
  bool any_region_freed() const;

  std::byte* base = nullptr;  // for programs
  std::byte* work = nullptr;  // for the simulation
  SimulatedTouch* touched = nullptr;
  Bytes bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = -1;
  bool owns = false;  // freeing it ends its region
  bool gone = false;  // freed here
  std::vector<Part> parts;
  View shown, touches;
  Mapping reserved;
};
using SharedRange = std::shared_ptr<const SimulatedRange>;

// Some bytes of a range, as the simulation sees them.
struct SimulatedBytes {
  SharedRange range;
  Bytes at = 0, bytes = 0;
  std::byte* work() const { return range->work + at; }
};

class SimulatedMemory {
 public:
  static constexpr Bytes granularity = Bytes{64} << 10;  // as on devices, not a page

  explicit SimulatedMemory(const SimulatedOptions& options) : options_(options) {}

  // All of these throw as Device's functions do.
  std::byte* allocate(MemoryKind kind, int device, Bytes bytes);
  MemoryHandle export_memory(const std::byte* address) const;
  std::byte* import_memory(const MemoryHandle& handle);
  DeviceRegion make_region(int device, Bytes bytes);
  void free_region(DeviceRegion region);
  std::byte* map_regions(std::span<const DeviceRegion> regions);
  void free(const SharedRange& range);

  void check_device(int device) const;
  MemoryAt memory_at(const void* address) const;
  // The allocation that begins there. `verb`: what cannot be done otherwise.
  SharedRange range(const std::byte* base, const char* verb) const;
  // The bytes, for work of `device`.
  SimulatedBytes reach(const std::byte* address, Bytes bytes, int device) const;
  bool shared() const { return shared_; }  // with other processes

 private:
  using Region = std::shared_ptr<SimulatedRegion>;
  using OwnRange = std::shared_ptr<SimulatedRange>;
  SharedRange find(const void* address) const;
  bool was_freed(const void* address) const;
  Region make(MemoryKind kind, int device, Bytes bytes);
  Bytes left(int device) const;
  std::byte* show(const std::vector<Region>& regions, bool owns);
  Region own_region(const FileName& name) const;

  SimulatedOptions options_;
  std::vector<std::weak_ptr<const SimulatedRegion>> made_;
  std::map<std::uintptr_t, OwnRange> ranges_;
  Regions<Region> regions_;
  std::deque<Mapping> freed_;  // the last ones: no other memory gets their addresses
  mutable SharedRange last_;   // that was found
  mutable bool shared_ = false;
};

}  // namespace tonari
