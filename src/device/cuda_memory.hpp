// SPDX-License-Identifier: BSD-3-Clause
// Memory by CUDA's driver: what an address is, allocations, handles for other processes, and
// regions at consecutive addresses. What of it is left at the end is given back.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "device/cuda_contexts.hpp"
#include "device/device.hpp"
#include "device/regions.hpp"
#include "memory/owned.hpp"

namespace tonari::cuda {

class Memory {
 public:
  explicit Memory(const Contexts& contexts) : contexts_(contexts), driver_(contexts.driver()) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // All of these throw as Device's functions do.
  MemoryAt memory_at(const void* address) const;
  std::byte* allocate(MemoryKind kind, int device, Bytes bytes);
  void free(std::byte* base);
  MemoryHandle export_memory(const std::byte* address) const;
  std::byte* import_memory(const MemoryHandle& handle);
  Bytes granularity(int device) const;
  DeviceRegion make_region(int device, Bytes bytes);
  void free_region(DeviceRegion region);
  std::byte* map_regions(std::span<const DeviceRegion> regions);

  // Work of `device` reaches all of these bytes from now on, or this throws. Returns what the first
  // of them is in, without `not_exported`.
  MemoryAt reach(const void* address, Bytes bytes, int device) const;

 private:
  enum class Handle : std::uint8_t { none, legacy, pool, mapping };
  struct Known {
    MemoryAt at;  // without `not_exported`
    // by which others may get it; a buffer may go on from one mapping to the next
    Handle handle = Handle::none;
  };
  enum class How : std::uint8_t { allocated, pinned, managed, opened, mapped, the_programs };
  struct Held {
    How how = How::allocated;
    int device = -1;
    std::size_t uses = 1;       // as often it is to be freed
    Bytes bytes = 0;            // of addresses, and
    std::vector<Bytes> mapped;  // so many of each mapping
    bool imported = false;
  };
  struct Region {
    Allocation allocation;
    int device;
    Bytes bytes;
  };
  using Addresses = std::map<Address, Held>;

  Known known(const void* address) const;
  void look_at_mapping(Address address, Known& known) const;
  std::string why_not_exported(Address address, const Known& known) const;
  AllocationProperties properties_at(Address address) const;
  const Held* held_around(Address address) const;
  AllocationProperties properties(int device) const;
  Address allocate_here(MemoryKind kind, int device, Bytes bytes) const;
  Addresses::node_type room();
  std::byte* hold(Addresses::node_type entry, Address base);
  [[noreturn]] void cannot_free(const std::byte* base) const;
  void give_back(Address base, const Held& held) const;
  int descriptor_of(Address base) const;
  std::byte* import_own(const MemoryHandle& handle, Address base);
  std::byte* open_legacy(const MemoryHandle& handle);
  std::byte* open_descriptor(const MemoryHandle& handle);
  std::byte* map(std::span<const Region> regions);
  std::vector<Access> access_of(int device) const;

  const Contexts& contexts_;
  const Driver& driver_;
  Addresses held_;
  Regions<Region> regions_;
  mutable std::map<Address, OpenFile> descriptors_;  // of what was exported by them
};

}  // namespace tonari::cuda
