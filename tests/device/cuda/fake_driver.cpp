// SPDX-License-Identifier: BSD-3-Clause
// Plays CUDA's driver (libcuda.so.1) on simulated devices: devices, contexts and memory.
#include <cstring>

#include "device/cuda/fake_state.hpp"

using namespace tonari;
using namespace tonari::test;
using namespace tonari::cuda;

namespace {
struct IpcContent {
  std::int64_t process;
  std::int32_t descriptor;
};
}  // namespace

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
        sim.launch(fake().stream(stream), {}, {&written, 1},
                   [at = sim.on_device(target), content = std::vector(source, source + some)] {
                     std::copy(content.begin(), content.end(), at);
                   });
      } else {
        sim.copy(fake().stream(stream), target, source, some);
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
