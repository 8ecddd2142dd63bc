// SPDX-License-Identifier: BSD-3-Clause
// The state behind the driver that is played: what it has handed out, on which simulated device. It
// says nothing of what a real driver does: it keeps to what the documentation says of the functions
// that the library calls.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "device/cuda/fake_driver.hpp"
#include "device/cuda_driver.hpp"
#include "memory/owned.hpp"
#include "memory/process.hpp"

// A function of the library that is played.
#define VISIBLE extern "C" __attribute__((visibility("default")))

namespace tonari::test {

using namespace cuda;

// What a function answers.
struct Result {
  int value;
};

enum class How { allocated, pinned, managed, opened, pool, without_handle };

inline std::byte* bytes_at(Address address) { return reinterpret_cast<std::byte*>(address); }
inline Address address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// What a handle by IPC or a descriptor leads to: a file that holds the simulation's own handle.
inline OpenFile file_of(const MemoryHandle& handle) {
  OpenFile file(::memfd_create("tonari fake CUDA", MFD_CLOEXEC));
  if (!file || ::write(file.descriptor(), &handle, sizeof handle) != sizeof handle)
    throw Result{999};
  return file;
}
inline MemoryHandle handle_in(int file) {
  MemoryHandle handle;
  if (::pread(file, &handle, sizeof handle, 0) != sizeof handle) throw Result{invalid_value};
  return handle;
}

class Fake final : public FakeDriver {
 public:
  void drive(SimulatedDevice& device) override {
    sim = &device;
    version = 12040;
    most = ~Bytes{0};
    attributes.clear();
    fails_at = -1;
    calls.clear();
    said.clear();
    contexts.clear();
    memory.clear();
    exported.clear();
    opened.clear();
    allocations.clear();
    ranges.clear();
    streams.clear();
    default_streams.clear();
    events.clear();
    modules.clear();
    current.clear();
  }
  SimulatedDevice& driven() override { return *sim; }

  std::vector<std::string> held() const override {
    std::vector<std::string> all;
    const auto some = [&](const char* what, std::size_t count) {
      if (count) all.push_back(text(count, " ", what));
    };
    for (const auto& [device, uses] : contexts) some("contexts", static_cast<std::size_t>(uses));
    some("allocations", memory.size());
    some("allocations without addresses", allocations.size());
    some("ranges of addresses", ranges.size());
    some("streams", streams.size());
    some("events", events.size());
    some("modules", modules.size());
    some("current contexts", current.size());
    return all;
  }

  std::byte* allocate(ForeignMemory kind, Bytes bytes) override {
    std::byte* const base = sim->allocate(MemoryKind::device, 0, bytes);
    memory[address_of(base)] = kind == ForeignMemory::pool ? How::pool : How::without_handle;
    return base;
  }
  void begin_capture(DeviceStream stream) override { sim->begin_capture(stream); }
  void end_capture(DeviceStream stream) override { sim->end_capture(stream); }

  // ---- calls

  // The number of a call that fails; what gives something back does so all the same.
  template <class Work>
  int call(const char* name, Work work, bool gives_back = false) {
    const bool fails = static_cast<int>(calls.size()) == fails_at;
    calls.emplace_back(name);
    if (fails && !gives_back) return fails_with;
    try {
      work();
    } catch (const Result& result) {
      return result.value;
    } catch (const Error& error) {
      said = error.what();
      return error.code() == Errc::memory     ? cuda::out_of_memory
             : error.code() == Errc::active   ? first_of_capture
             : error.code() == Errc::argument ? invalid_value
                                              : launch_failed;
    }
    return fails ? fails_with : success;
  }
  template <class Work>
  int give_back(const char* name, Work work) {
    return call(name, work, true);
  }

  // ---- contexts: a pointer stands for the device's number

  static Context context(int device) {
    return reinterpret_cast<Context>(static_cast<std::uintptr_t>(0x1000 + device));
  }
  static int device_of(Context context) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 0x1000;
  }
  int device() const {
    if (current.empty()) throw Result{invalid_context};
    return device_of(current.back());
  }
  void check(int device) const {
    if (device < 0 || device >= sim->devices()) throw Result{invalid_device};
  }

  bool has(int attribute) const {
    const auto given = attributes.find(attribute);
    return given == attributes.end() || given->second != 0;
  }

  // ---- addresses

  struct Virtual {  // an allocation without an address, of memory that only the fake knows
    std::byte* backing = nullptr;
    Bytes bytes = 0;
    int device = 0, handle_types = 0;
    std::size_t uses = 1;
    bool imported = false;
  };
  struct Shown {
    Allocation allocation;
    Bytes bytes;
    bool accessible;
  };
  struct Opened {
    IpcHandle handle;
    int uses;
  };
  struct Range {
    Mapping reserved;
    std::map<Address, Shown> shown;
  };

  void drop(Allocation allocation) {
    Virtual& dropped = allocations.at(allocation);
    if (--dropped.uses > 0) return;
    sim->free(dropped.backing);
    allocations.erase(allocation);
  }
  const std::pair<const Address, Shown>* shown_at(Address address) const {
    for (const auto& [base, range] : ranges)
      for (const auto& one : range.shown)
        if (address - one.first < one.second.bytes) return &one;
    return nullptr;
  }
  // Where the simulation has it.
  std::byte* in_simulation(Address address) const {
    const auto* const shown = shown_at(address);
    if (!shown) return bytes_at(address);
    if (!shown->second.accessible) throw Result{illegal_address};
    return allocations.at(shown->second.allocation).backing + (address - shown->first);
  }
  Bytes until_end_of_mapping(Address address) const {
    const auto* const shown = shown_at(address);
    return shown ? shown->first + shown->second.bytes - address : ~Bytes{0};
  }
  std::optional<How> how(Address base) const {
    const auto found = memory.find(base);
    return found == memory.end() ? std::nullopt : std::optional(found->second);
  }

  void answer(int attribute, void* to, Address address) const {
    const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    const auto* const shown = shown_at(address);
    const MemoryAt at = sim->memory_at(shown ? in_simulation(address) : bytes_at(address));
    const auto kind = how(address_of(at.base));
    const bool host = at.kind == MemoryKind::host;
    switch (attribute) {
      case attribute_type:
        return put(host ? 0u : at.kind == MemoryKind::pinned ? type_host : type_device);
      case attribute_is_managed:
        return put(unsigned{at.kind == MemoryKind::managed});
      case attribute_device:
        return put(host ? -2 : std::max(at.device, 0));
      case attribute_is_legacy_capable:
        return put(unsigned{!shown && kind == How::allocated});
      case attribute_range_start:
        return put(shown ? range_around(address).first : address_of(at.base));
      case attribute_range_size:
        return put(shown ? range_around(address).second : at.bytes);
      case attribute_pool:
        return put(Address{kind == How::pool});
      case attribute_mapping_base:
        return put(shown ? shown->first : Address{0});
      case attribute_mapping_size:
        return put(shown ? shown->second.bytes : Bytes{0});
      default:
        throw Result{invalid_value};
    }
  }
  std::pair<Address, Bytes> range_around(Address address) const {
    const auto& [base, range] = *std::prev(ranges.upper_bound(address));
    return {base, range.reserved.bytes()};
  }

  // ---- streams

  // The null stream, and the handles of the legacy stream and of that of the thread. Here all are
  // one stream of the current device, which waits for no other.
  static bool is_default(Stream given) { return reinterpret_cast<std::uintptr_t>(given) <= 2; }
  DeviceStream stream(Stream given) {
    if (!is_default(given)) return {reinterpret_cast<std::uintptr_t>(given)};
    DeviceStream& its = default_streams[device()];
    if (!its.value) its = sim->make_stream(device());
    return its;
  }
  void check_context(Stream given) {
    if (sim->device_of(stream(given)) != device()) throw Result{invalid_handle};
  }

  SimulatedDevice* sim = nullptr;
  std::map<int, int> contexts;  // by device: as often as they are retained
  std::map<Address, How> memory;
  std::map<Address, OpenFile> exported;
  std::map<Address, Opened> opened;
  std::map<Allocation, Virtual> allocations;
  Allocation next_allocation = 1;
  std::map<Address, Range> ranges;
  std::set<Stream> streams;
  std::map<int, DeviceStream> default_streams;  // by device
  std::set<Event> events;
  std::set<Module> modules;
  std::vector<Context> current;
};

inline Fake& fake() {
  static Fake* const made = new Fake;
  return *made;
}

constexpr int not_supported = 801;

}  // namespace tonari::test
