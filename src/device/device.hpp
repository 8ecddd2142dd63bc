// SPDX-License-Identifier: BSD-3-Clause
// Devices with memory and streams of their own, such as GPUs, as the library sees them. One object
// stands for all devices of a process; a class per kind of device derives from it.
//
// Addresses are those that programs use. What lies there may be out of reach for the host.
// Functions that take a stream put work at its end and return; the work runs later, in the order of
// the stream. Between streams nothing is ordered but by events and flags.
//
// A broken rule throws an Error with one sentence: a freed or unknown address, bytes outside of an
// allocation, another device without access, a handle that means nothing, work that a capture does
// not allow. Some kinds of device notice it only when the work runs; then a later call throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "copy/moves.hpp"

namespace tonari {

// Whose memory an address is. The host may touch all but the last kind.
enum class MemoryKind : std::uint8_t { host, pinned, managed, device };

struct MemoryAt {
  MemoryKind kind = MemoryKind::host;
  int device = -1;  // that it belongs to; -1: to none
  std::byte* base = nullptr;
  Bytes bytes = 0;  // of its allocation, from `base` on; 0 for the host's
  // why other processes cannot map the allocation, as a sentence; empty: they can
  std::string not_exported;
};

// Other processes of this node map an allocation by this. It is trivially copyable, because it is
// sent as bytes; only the kind of device that made it reads `content`.
struct MemoryHandle {
  Bytes bytes = 0;  // of the allocation
  std::int32_t device = -1;
  std::int32_t kind = 0;                    // of the object that made it
  std::array<std::uint64_t, 12> content{};  // by descriptor and process, or what drivers give
};

// Physical memory without an address. `number` means nothing but to the object that made it.
struct DeviceRegion {
  std::int64_t number = -1;
};

// The program's streams have the value of its own type for them.
struct DeviceStream {
  std::uintptr_t value = 0;
  friend bool operator==(const DeviceStream&, const DeviceStream&) = default;
};

// A point in a stream that can be waited for.
struct DeviceEvent {
  std::uintptr_t value = 0;
};

// Copies that one launch performs, in any order and all at once: none writes what another one of
// them reads or writes.
struct DeviceTable {
  std::uintptr_t value = 0;
};

// A word in memory of a device, or pinned memory, aligned to its size.
struct FlagValue {
  std::uint64_t* flag = nullptr;
  std::uint64_t value = 0;
};

// What not every device or machine has.
enum class Ability : std::uint8_t {
  export_memory,     // allocations can be mapped by other processes
  flags_in_order,    // streams write flags and wait for them, without the host
  mapped_memory,     // regions can be shown at consecutive addresses
  peer_access,       // work of one device reaches memory of the others
  capture_of_flags,  // captured work may write flags and wait for them
  network_access     // nothing tells that adapters of networks cannot read and write its memory
};

// `why_not` is a sentence; empty: the device has it.
struct Capability {
  std::string why_not;
  explicit operator bool() const { return why_not.empty(); }
};

class Device {
 public:
  virtual ~Device() = default;

  virtual int devices() const = 0;  // their numbers begin at 0
  virtual Capability ability(Ability which) const = 0;
  // The function, without arguments, by which an MPI says whether it takes addresses of this kind
  // of device: not 0 if it does.
  virtual const char* mpi_query() const = 0;

  // ---- memory
  virtual MemoryAt memory_at(const void* address) const = 0;
  // Pinned memory belongs to no device, so `device` does not matter there. The content is not
  // initialized. Throws Errc::memory with the need and what is left.
  virtual std::byte* allocate(MemoryKind kind, int device, Bytes bytes) = 0;
  // Also for what import_memory and map_regions returned. No work that is not complete may use it.
  virtual void free(std::byte* base) = 0;

  // Anywhere in the allocation; the handle means all of it.
  virtual MemoryHandle export_memory(const std::byte* address) const = 0;
  // The allocation's first byte, as this process sees it. It stays allocated by the process that
  // exported it: use it only as long as that has not freed it.
  virtual std::byte* import_memory(const MemoryHandle& handle) = 0;

  // Whole multiples of the granularity can be mapped, at several addresses and in any order.
  virtual Bytes granularity(int device) const = 0;
  virtual DeviceRegion make_region(int device, Bytes bytes) = 0;
  virtual void free_region(DeviceRegion region) = 0;  // it lives on where it is mapped
  virtual std::byte* map_regions(std::span<const DeviceRegion> regions) = 0;

  // ---- streams
  virtual DeviceStream make_stream(int device) = 0;
  virtual void end_stream(DeviceStream stream) = 0;  // behind what it holds
  virtual int device_of(DeviceStream stream) const = 0;
  // Whether what is put there now is only recorded, for later launches.
  virtual bool captures(DeviceStream stream) const = 0;
  virtual void synchronize(DeviceStream stream) = 0;  // the host waits for all that it holds

  // ---- work
  virtual void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) = 0;
  // The copies of a table stay what they are while it lives. Work that is not complete needs it.
  virtual DeviceTable make_table(int device, std::span<const Move> moves) = 0;
  virtual void free_table(DeviceTable table) = 0;
  // One launch: a gather, a scatter, or both.
  virtual void move(DeviceStream stream, DeviceTable table) = 0;
  // In the order of the list; an empty one does nothing. What the stream holds before a flag is
  // seen by all that see the flag.
  virtual void write_flags(DeviceStream stream, std::span<const FlagValue> flags) = 0;
  // What follows in the stream runs when each flag is at least its value: flag - value, as a signed
  // number, is not negative. A device does not see who will write the flag, so work of one process
  // that flags order should be ordered by events, too.
  virtual void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) = 0;

  // ---- events
  virtual DeviceEvent make_event(int device) = 0;
  virtual void end_event(DeviceEvent event) = 0;
  virtual void record(DeviceStream stream, DeviceEvent event) = 0;  // of one device
  // For the last record before this call. There must be one.
  virtual void wait_event(DeviceStream stream, DeviceEvent event) = 0;
  virtual bool query(DeviceEvent event) = 0;  // whether that record is complete
  virtual void synchronize(DeviceEvent event) = 0;
};

}  // namespace tonari
