// SPDX-License-Identifier: BSD-3-Clause
// Plays CUDA's driver (libcuda.so.1) on simulated devices. It says nothing of what a real one does:
// it keeps to what the documentation says of the functions that the library calls.
#include "device/cuda/fake_driver.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "device/cuda/host_kernels.hpp"
#include "device/cuda_driver.hpp"
#include "memory/owned.hpp"
#include "memory/process.hpp"

namespace tonari::test {
namespace {

using namespace cuda;

// What a function answers.
struct Result {
  int value;
};

enum class How { allocated, pinned, managed, opened, pool, without_handle };

std::byte* bytes_at(Address address) { return reinterpret_cast<std::byte*>(address); }
Address address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// What a handle by IPC or a descriptor leads to: a file that holds the simulation's own handle.
OpenFile file_of(const MemoryHandle& handle) {
  OpenFile file(::memfd_create("tonari fake CUDA", MFD_CLOEXEC));
  if (!file || ::write(file.descriptor(), &handle, sizeof handle) != sizeof handle)
    throw Result{999};
  return file;
}
MemoryHandle handle_in(int file) {
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

  static DeviceStream stream(Stream stream) { return {reinterpret_cast<std::uintptr_t>(stream)}; }
  void check_context(Stream given) const {
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
  std::set<Event> events;
  std::set<Module> modules;
  std::vector<Context> current;
};

Fake& fake() {
  static Fake* const made = new Fake;
  return *made;
}

// ---- launches

// The table as the host can run it: with the simulation's own addresses.
void launch_moves(Stream stream, Address table, unsigned blocks, unsigned threads) {
  SimulatedDevice& sim = *fake().sim;
  std::vector<Move> moves(blocks);
  std::memcpy(moves.data(), sim.on_device(bytes_at(table)), blocks * sizeof(Move));
  std::vector<SimulatedDevice::Touched> reads{{bytes_at(table), blocks * sizeof(Move)}}, writes;
  for (Move& move : moves) {
    std::byte* const to = fake().in_simulation(address_of(move.to));
    const std::byte* const from = fake().in_simulation(address_of(move.from));
    for (std::size_t k = 0; k < move.count; ++k) {
      const auto piece = static_cast<std::ptrdiff_t>(k);
      writes.push_back({to + piece * move.to_stride, move.length});
      reads.push_back({from + piece * move.from_stride, move.length});
    }
    move.to = sim.on_device(to);
    move.from = sim.on_device(from);
  }
  sim.launch(Fake::stream(stream), reads, writes,
             [moves, threads] { run_move_kernel(moves, threads); });
}

struct FlagList {
  FlagValue of[16];
  unsigned count;
};
void launch_flags(Stream stream, FlagList list, bool write) {
  for (FlagValue& flag : list.of)
    flag.flag = reinterpret_cast<std::uint64_t*>(fake().in_simulation(address_of(flag.flag)));
  const std::span<const FlagValue> flags(list.of, list.count);
  if (write)
    fake().sim->write_flags(Fake::stream(stream), flags);
  else
    fake().sim->wait_flags(Fake::stream(stream), flags);
}

constexpr int not_supported = 801;

constexpr const char* kernels[] = {"move_tiles", "write_flags", "wait_flags"};

struct IpcContent {
  std::int64_t process;
  std::int32_t descriptor;
};

}  // namespace
}  // namespace tonari::test

using namespace tonari;
using namespace tonari::test;
using namespace tonari::cuda;

#define VISIBLE extern "C" __attribute__((visibility("default")))

VISIBLE FakeDriver* tonari_fake_driver() { return &fake(); }

// ---- errors, devices, contexts

VISIBLE int cuGetErrorName(int result, const char** name) {
  *name = result == cuda::out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_A_TEST";
  return result == 12345 ? invalid_value : success;
}
VISIBLE int cuGetErrorString(int, const char** words) {
  *words = fake().said.empty() ? "it was told to fail" : fake().said.c_str();
  return success;
}
VISIBLE int cuInit(unsigned) {
  return fake().call("cuInit", [] {
    if (!fake().sim) throw Result{no_device};
  });
}
VISIBLE int cuDriverGetVersion(int* version) {
  return fake().call("cuDriverGetVersion", [&] { *version = fake().version; });
}
VISIBLE int cuDeviceGetCount(int* count) {
  return fake().call("cuDeviceGetCount", [&] { *count = fake().sim->devices(); });
}
VISIBLE int cuDeviceGet(Ordinal* device, int number) {
  return fake().call("cuDeviceGet", [&] { fake().check(*device = number); });
}
VISIBLE int cuDeviceGetAttribute(int* value, int which, Ordinal device) {
  return fake().call("cuDeviceGetAttribute", [&] {
    fake().check(device);
    const auto given = fake().attributes.find(which);
    *value = given != fake().attributes.end() ? given->second
             : which == capability_major      ? 9
             : which == capability_minor      ? 0
                                              : 1;
  });
}
VISIBLE int cuDeviceGetUuid_v2(Uuid* uuid, Ordinal device) {
  return fake().call("cuDeviceGetUuid_v2", [&] {
    fake().check(device);
    uuid->bytes.fill(static_cast<std::byte>('a' + device));
  });
}
VISIBLE int cuDevicePrimaryCtxRetain(Context* context, Ordinal device) {
  return fake().call("cuDevicePrimaryCtxRetain", [&] {
    fake().check(device);
    ++fake().contexts[device];
    *context = Fake::context(device);
  });
}
VISIBLE int cuDevicePrimaryCtxRelease_v2(Ordinal device) {
  return fake().give_back("cuDevicePrimaryCtxRelease_v2", [&] {
    if (--fake().contexts.at(device) == 0) fake().contexts.erase(device);
    if (fake().contexts.empty()) fake().modules.clear();  // they end with their context
  });
}
VISIBLE int cuCtxPushCurrent_v2(Context context) {
  return fake().call("cuCtxPushCurrent_v2", [&] { fake().current.push_back(context); });
}
VISIBLE int cuCtxPopCurrent_v2(Context* context) {
  return fake().give_back("cuCtxPopCurrent_v2", [&] {
    fake().device();
    *context = fake().current.back();
    fake().current.pop_back();
  });
}
VISIBLE int cuCtxGetDevice(Ordinal* device) {
  return fake().call("cuCtxGetDevice", [&] { *device = fake().device(); });
}
VISIBLE int cuDeviceCanAccessPeer(int* can, Ordinal, Ordinal) {
  return fake().call("cuDeviceCanAccessPeer",
                     [&] { *can = static_cast<bool>(fake().sim->ability(Ability::peer_access)); });
}
VISIBLE int cuCtxEnablePeerAccess(Context, unsigned) {
  return fake().call("cuCtxEnablePeerAccess", [] { fake().device(); });
}

// ---- memory

VISIBLE int cuPointerGetAttributes(unsigned count, int* which, void** to, Address address) {
  return fake().call("cuPointerGetAttributes", [&] {
    for (unsigned k = 0; k < count; ++k) fake().answer(which[k], to[k], address);
  });
}
VISIBLE int cuMemGetInfo_v2(std::size_t* left, std::size_t* whole) {
  return fake().call("cuMemGetInfo_v2", [&] { *left = 744, *whole = 1000; });
}

namespace {
Address taken(MemoryKind kind, Bytes bytes, How how) {
  std::byte* const base = fake().sim->allocate(kind, fake().device(), bytes);
  fake().memory[address_of(base)] = how;
  return address_of(base);
}
void given_back(Address base, std::initializer_list<How> hows) {
  const auto how = fake().how(base);
  if (!how || std::count(hows.begin(), hows.end(), *how) == 0) throw Result{invalid_value};
  fake().sim->free(bytes_at(base));
  fake().memory.erase(base);
  fake().exported.erase(base);
}
}  // namespace

VISIBLE int cuMemAlloc_v2(Address* base, std::size_t bytes) {
  return fake().call("cuMemAlloc_v2", [&] {
    *base = taken(MemoryKind::device, std::min(Bytes{bytes}, fake().most), How::allocated);
  });
}
VISIBLE int cuMemFree_v2(Address base) {
  return fake().give_back("cuMemFree_v2",
                          [&] { given_back(base, {How::allocated, How::managed, How::pool}); });
}
VISIBLE int cuMemHostAlloc(void** base, std::size_t bytes, unsigned) {
  return fake().call("cuMemHostAlloc",
                     [&] { *base = bytes_at(taken(MemoryKind::pinned, bytes, How::pinned)); });
}
VISIBLE int cuMemFreeHost(void* base) {
  return fake().give_back("cuMemFreeHost", [&] { given_back(address_of(base), {How::pinned}); });
}
VISIBLE int cuMemAllocManaged(Address* base, std::size_t bytes, unsigned) {
  return fake().call("cuMemAllocManaged",
                     [&] { *base = taken(MemoryKind::managed, bytes, How::managed); });
}
VISIBLE int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return fake().call("cuMemcpyHtoD_v2", [&] {
    fake().device();
    std::memcpy(fake().sim->on_device(fake().in_simulation(to)), from, bytes);
  });
}
VISIBLE int cuMemcpyAsync(Address to, Address from, std::size_t bytes, Stream stream) {
  return fake().call("cuMemcpyAsync", [&] {
    SimulatedDevice& sim = *fake().sim;
    fake().check_context(stream);
    while (bytes > 0) {
      const Bytes some = std::min(
          {Bytes{bytes}, fake().until_end_of_mapping(to), fake().until_end_of_mapping(from)});
      std::byte* const target = fake().in_simulation(to);
      const std::byte* const source = fake().in_simulation(from);
      if (sim.memory_at(source).kind == MemoryKind::host) {  // the driver copies it first
        const SimulatedDevice::Touched written{target, some};
        sim.launch(Fake::stream(stream), {}, {&written, 1},
                   [at = sim.on_device(target), content = std::vector(source, source + some)] {
                     std::copy(content.begin(), content.end(), at);
                   });
      } else {
        sim.copy(Fake::stream(stream), target, source, some);
      }
      to += some, from += some, bytes -= some;
    }
  });
}

// ---- handles of allocations

VISIBLE int cuIpcGetMemHandle(IpcHandle* handle, Address base) {
  return fake().call("cuIpcGetMemHandle", [&] {
    if (fake().how(base) != How::allocated) throw Result{invalid_value};
    OpenFile& file = fake().exported[base];
    if (!file) file = file_of(fake().sim->export_memory(bytes_at(base)));
    const IpcContent content{this_process(), file.descriptor()};
    std::memcpy(handle, &content, sizeof content);
  });
}
VISIBLE int cuIpcOpenMemHandle_v2(Address* base, IpcHandle handle, unsigned) {
  return fake().call("cuIpcOpenMemHandle_v2", [&] {
    IpcContent content{};
    std::memcpy(&content, &handle, sizeof content);
    fake().device();
    if (content.process == this_process()) throw Result{invalid_context};
    for (auto& [at, opened] : fake().opened)  // "increments the reference count"
      if (std::memcmp(&opened.handle, &handle, sizeof handle) == 0)
        return void((++opened.uses, *base = at));
    const std::string path = text("/proc/", content.process, "/fd/", content.descriptor);
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    *base = address_of(fake().sim->import_memory(handle_in(file.descriptor())));
    fake().memory[*base] = How::opened;
    fake().opened[*base] = {handle, 1};
  });
}
VISIBLE int cuIpcCloseMemHandle(Address base) {
  return fake().give_back("cuIpcCloseMemHandle", [&] {
    const auto found = fake().opened.find(base);
    if (found == fake().opened.end()) throw Result{invalid_value};
    if (--found->second.uses > 0) return;
    fake().opened.erase(found);
    given_back(base, {How::opened});
  });
}

// ---- virtual memory

VISIBLE int cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties*, int) {
  return fake().call("cuMemGetAllocationGranularity",
                     [&] { *bytes = SimulatedMemory::granularity; });
}
VISIBLE int cuMemCreate(Allocation* made, std::size_t bytes, const AllocationProperties* wanted,
                        unsigned long long) {
  return fake().call("cuMemCreate", [&] {
    if (bytes % SimulatedMemory::granularity != 0) throw Result{invalid_value};
    const int device = wanted->location.number;
    std::byte* const backing = fake().sim->allocate(MemoryKind::device, device, bytes);
    *made = fake().next_allocation++;
    fake().allocations[*made] = {backing, bytes, device, wanted->handle_types, 1, false};
  });
}
VISIBLE int cuMemRelease(Allocation allocation) {
  return fake().give_back("cuMemRelease", [&] { fake().drop(allocation); });
}
VISIBLE int cuMemAddressReserve(Address* base, std::size_t bytes, std::size_t, Address,
                                unsigned long long) {
  return fake().call("cuMemAddressReserve", [&] {
    void* const at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw Result{cuda::out_of_memory};
    *base = address_of(at);
    fake().ranges[*base].reserved = Mapping(static_cast<std::byte*>(at), bytes);
  });
}
VISIBLE int cuMemAddressFree(Address base, std::size_t bytes) {
  return fake().give_back("cuMemAddressFree", [&] {
    const auto found = fake().ranges.find(base);
    if (found == fake().ranges.end() || found->second.reserved.bytes() != bytes ||
        !found->second.shown.empty())
      throw Result{invalid_value};
    fake().ranges.erase(found);
  });
}
VISIBLE int cuMemMap(Address at, std::size_t bytes, std::size_t offset, Allocation allocation,
                     unsigned long long) {
  return fake().call("cuMemMap", [&] {
    auto& mapped = fake().allocations.at(allocation);
    if (offset != 0 || bytes != mapped.bytes) throw Result{invalid_value};
    const Address base = fake().range_around(at).first;
    fake().ranges.at(base).shown[at] = {allocation, bytes, false};
    ++mapped.uses;
  });
}
VISIBLE int cuMemUnmap(Address at, std::size_t bytes) {
  return fake().give_back("cuMemUnmap", [&] {
    const auto* const shown = fake().shown_at(at);
    if (!shown || shown->first != at || shown->second.bytes != bytes) throw Result{invalid_value};
    const Allocation allocation = shown->second.allocation;
    fake().ranges.at(fake().range_around(at).first).shown.erase(at);
    fake().drop(allocation);
  });
}
VISIBLE int cuMemSetAccess(Address at, std::size_t bytes, const Access* access, std::size_t count) {
  return fake().call("cuMemSetAccess", [&] {
    if (count == 0 || access->flags != read_write) throw Result{invalid_value};
    for (auto& [base, shown] : fake().ranges.at(fake().range_around(at).first).shown)
      if (base - at < bytes) shown.accessible = true;
  });
}
VISIBLE int cuMemExportToShareableHandle(void* to, Allocation allocation, int type,
                                         unsigned long long) {
  return fake().call("cuMemExportToShareableHandle", [&] {
    const auto& exported = fake().allocations.at(allocation);
    if (type != by_descriptor || !(exported.handle_types & type)) throw Result{invalid_value};
    OpenFile file = file_of(fake().sim->export_memory(exported.backing));
    const int descriptor = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    std::memcpy(to, &descriptor, sizeof descriptor);
  });
}
VISIBLE int cuMemImportFromShareableHandle(Allocation* made, void* descriptor, int) {
  return fake().call("cuMemImportFromShareableHandle", [&] {
    const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor));
    const MemoryHandle handle = handle_in(file);
    std::byte* const backing = fake().sim->import_memory(handle);
    *made = fake().next_allocation++;
    fake().allocations[*made] = {backing, handle.bytes, handle.device, by_descriptor, 1, true};
  });
}
VISIBLE int cuMemRetainAllocationHandle(Allocation* found, void* address) {
  return fake().call("cuMemRetainAllocationHandle", [&] {
    const auto* const shown = fake().shown_at(address_of(address));
    if (!shown) throw Result{invalid_value};
    *found = shown->second.allocation;
    ++fake().allocations.at(*found).uses;
  });
}
VISIBLE int cuMemGetAllocationPropertiesFromHandle(AllocationProperties* found,
                                                   Allocation allocation) {
  return fake().call("cuMemGetAllocationPropertiesFromHandle", [&] {
    const auto& known = fake().allocations.at(allocation);
    *found = {};
    found->handle_types = known.handle_types;
    found->location.number = known.device;
  });
}

// ---- streams

VISIBLE int cuStreamCreate(Stream* made, unsigned flags) {
  return fake().call("cuStreamCreate", [&] {
    if (flags != stream_beside_the_null_stream) throw Result{invalid_value};
    *made = reinterpret_cast<Stream>(fake().sim->make_stream(fake().device()).value);
    fake().streams.insert(*made);
  });
}
VISIBLE int cuStreamDestroy_v2(Stream stream) {
  return fake().give_back("cuStreamDestroy_v2", [&] {
    fake().sim->end_stream(Fake::stream(stream));
    fake().streams.erase(stream);
  });
}
VISIBLE int cuStreamGetCtx(Stream stream, Context* context) {
  return fake().call("cuStreamGetCtx", [&] {
    if (!stream)
      *context = Fake::context(fake().device());
    else
      *context = Fake::context(fake().sim->device_of(Fake::stream(stream)));
  });
}
VISIBLE int cuStreamIsCapturing(Stream stream, int* status) {
  return fake().call("cuStreamIsCapturing",
                     [&] { *status = fake().sim->captures(Fake::stream(stream)); });
}
VISIBLE int cuStreamSynchronize(Stream stream) {
  return fake().call("cuStreamSynchronize", [&] { fake().sim->synchronize(Fake::stream(stream)); });
}
VISIBLE int cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  return fake().call("cuStreamWaitEvent", [&] {
    fake().check_context(stream);
    fake().sim->wait_event(Fake::stream(stream), {reinterpret_cast<std::uintptr_t>(event)});
  });
}
VISIBLE int cuStreamBatchMemOp_v2(Stream stream, unsigned count, ValueOperation* operations,
                                  unsigned) {
  return fake().call("cuStreamBatchMemOp_v2", [&] {
    fake().check_context(stream);
    if (!fake().has(value_operations)) throw Result{not_supported};
    if (count > most_value_operations) throw Result{invalid_value};
    for (const ValueOperation& one : std::span(operations, count)) {
      const FlagValue flag{reinterpret_cast<std::uint64_t*>(fake().in_simulation(one.address)),
                           one.value};
      if (one.operation == write_value_64 && one.flags == write_behind_all)
        fake().sim->write_flags(Fake::stream(stream), {&flag, 1});
      else if (one.operation == wait_value_64 &&
               one.flags == (wait_until_at_least | wait_then_flush))
        fake().sim->wait_flags(Fake::stream(stream), {&flag, 1});
      else
        throw Result{invalid_value};
    }
  });
}

// ---- events

VISIBLE int cuEventCreate(Event* made, unsigned) {
  return fake().call("cuEventCreate", [&] {
    *made = reinterpret_cast<Event>(fake().sim->make_event(fake().device()).value);
    fake().events.insert(*made);
  });
}
VISIBLE int cuEventDestroy_v2(Event event) {
  return fake().give_back("cuEventDestroy_v2", [&] {
    fake().sim->end_event({reinterpret_cast<std::uintptr_t>(event)});
    fake().events.erase(event);
  });
}
VISIBLE int cuEventRecord(Event event, Stream stream) {
  return fake().call("cuEventRecord", [&] {
    fake().check_context(stream);
    fake().sim->record(Fake::stream(stream), {reinterpret_cast<std::uintptr_t>(event)});
  });
}
VISIBLE int cuEventQuery(Event event) {
  return fake().call("cuEventQuery", [&] {
    if (!fake().sim->query({reinterpret_cast<std::uintptr_t>(event)})) throw Result{not_ready};
  });
}
VISIBLE int cuEventSynchronize(Event event) {
  return fake().call("cuEventSynchronize", [&] {
    fake().sim->synchronize(DeviceEvent{reinterpret_cast<std::uintptr_t>(event)});
  });
}

// ---- kernels

VISIBLE int cuModuleLoadData(Module* made, const void* image) {
  return fake().call("cuModuleLoadData", [&] {
    fake().device();
    if (std::strncmp(static_cast<const char*>(image), "image of ", 9) != 0) throw Result{200};
    static std::uintptr_t last = 0;
    *made = reinterpret_cast<Module>(++last);
    fake().modules.insert(*made);
  });
}
VISIBLE int cuModuleUnload(Module module) {
  return fake().give_back("cuModuleUnload", [&] {
    fake().device();
    fake().modules.erase(module);
  });
}
VISIBLE int cuModuleGetFunction(Kernel* kernel, Module, const char* name) {
  return fake().call("cuModuleGetFunction", [&] {
    for (const char* const known : kernels)
      if (std::strcmp(known, name) == 0)
        return void(*kernel = reinterpret_cast<Kernel>(const_cast<char*>(known)));
    throw Result{500};
  });
}
VISIBLE int cuLaunchKernel(Kernel kernel, unsigned blocks, unsigned, unsigned, unsigned threads,
                           unsigned, unsigned, unsigned, Stream stream, void** arguments, void**) {
  return fake().call("cuLaunchKernel", [&] {
    fake().check_context(stream);
    const std::string name = reinterpret_cast<const char*>(kernel);
    if (name == kernels[0])
      launch_moves(stream, *static_cast<Address*>(arguments[0]), blocks, threads);
    else
      launch_flags(stream, *static_cast<FlagList*>(arguments[0]), name == kernels[1]);
  });
}
