// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_device.hpp"

#include <algorithm>
#include <array>

#include "device/network_reach.hpp"

namespace tonari {
namespace {

using cuda::Current;
using cuda::stream_of;

cuda::Event event_of(DeviceEvent event) { return reinterpret_cast<cuda::Event>(event.value); }

cuda::Address address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

CudaDevice::CudaDevice(std::string cache, std::span<const unsigned char> built)
    : contexts_(driver_),
      memory_(contexts_),
      launches_(contexts_, std::move(cache), built),
      value_operations_(contexts_.all_have(cuda::value_operations)),
      flushes_(contexts_.all_have(cuda::flushes_remote_writes)) {
  if (!contexts_.all_have(cuda::unified_addressing))
    fail(Errc::argument, "a device shares no addresses with the host, which tonari needs");
}

CudaDevice::~CudaDevice() {
  for (const auto& [number, table] : tables_)
    (void)error_of([&, which = table] { launches_.free_table(which); });
}

Capability CudaDevice::ability(Ability which) const {
  const Lock lock(mutex_);
  switch (which) {
    case Ability::export_memory:
    case Ability::flags_in_order:
      return {};
    case Ability::mapped_memory:
      if (contexts_.all_have(cuda::virtual_memory)) return {};
      return {"this device does not map memory at addresses of one's choice (cuMemMap)"};
    case Ability::capture_of_flags:
      return {};
    case Ability::network_access:
      return {why_out_of_networks({contexts_.all_have(cuda::shown_to_adapters),
                                   contexts_.all_have(cuda::exported_as_dma_buf)})};
    case Ability::peer_access:
      break;
  }
  for (int device = 0; device < contexts_.count(); ++device)
    for (int other = 0; other < contexts_.count(); ++other)
      if (!contexts_.reaches(device, other))
        return {text("device ", device, " has no access to memory of device ", other)};
  return {};
}

std::string CudaDevice::describe_kernels(int device) {
  const Lock lock(mutex_);
  contexts_.check(device);
  return launches_.by_nvcc(device) ? "built with the library" : "compiled here by NVRTC";
}

// ---- memory

MemoryAt CudaDevice::memory_at(const void* address) const {
  const Lock lock(mutex_);
  return memory_.memory_at(address);
}

std::byte* CudaDevice::allocate(MemoryKind kind, int device, Bytes bytes) {
  const Lock lock(mutex_);
  return memory_.allocate(kind, device, bytes);
}

void CudaDevice::free(std::byte* base) {
  const Lock lock(mutex_);
  known_flags_.clear();
  memory_.free(base);
}

MemoryHandle CudaDevice::export_memory(const std::byte* address) const {
  const Lock lock(mutex_);
  return memory_.export_memory(address);
}

std::byte* CudaDevice::import_memory(const MemoryHandle& handle) {
  const Lock lock(mutex_);
  return memory_.import_memory(handle);
}

Bytes CudaDevice::granularity(int device) const {
  const Lock lock(mutex_);
  return memory_.granularity(device);
}

DeviceRegion CudaDevice::make_region(int device, Bytes bytes) {
  const Lock lock(mutex_);
  return memory_.make_region(device, bytes);
}

void CudaDevice::free_region(DeviceRegion region) {
  const Lock lock(mutex_);
  memory_.free_region(region);
}

std::byte* CudaDevice::map_regions(std::span<const DeviceRegion> regions) {
  const Lock lock(mutex_);
  return memory_.map_regions(regions);
}

// ---- streams

cuda::Context CudaDevice::context_of(DeviceStream stream) const {
  return contexts_.of(contexts_.device_of(stream));
}

DeviceStream CudaDevice::make_stream(int device) {
  const Lock lock(mutex_);
  const Current current(driver_, contexts_.of(device));
  cuda::Stream stream = nullptr;
  driver_.stream_create(&stream, cuda::stream_beside_the_null_stream);
  return {reinterpret_cast<std::uintptr_t>(stream)};
}

void CudaDevice::end_stream(DeviceStream stream) {
  const Lock lock(mutex_);
  cuda::Context context = nullptr;
  (void)error_of([&] { context = contexts_.context_of(stream); });
  const Current current(driver_, context, Current::IfPossible::if_possible);
  driver_.stream_destroy(stream_of(stream));
}

int CudaDevice::device_of(DeviceStream stream) const {
  const Lock lock(mutex_);
  return contexts_.device_of(stream);
}

bool CudaDevice::captures(DeviceStream stream) const {
  const Lock lock(mutex_);
  const Current current(driver_, context_of(stream));
  int status = 0;
  driver_.stream_is_capturing(stream_of(stream), &status);
  return status != 0;  // one that is broken still is one
}

// Other threads go on meanwhile.
void CudaDevice::synchronize(DeviceStream stream) {
  cuda::Context context = nullptr;
  {
    const Lock lock(mutex_);
    context = context_of(stream);
  }
  const Current current(driver_, context);
  driver_.stream_synchronize(stream_of(stream));
}

// ---- work

void CudaDevice::copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) {
  const Lock lock(mutex_);
  const int device = contexts_.device_of(stream);
  memory_.reach(to, bytes, device);
  memory_.reach(from, bytes, device);
  if (bytes == 0) return;
  const Current current(driver_, contexts_.of(device));
  driver_.copy_async(address_of(to), address_of(from), bytes, stream_of(stream));
}

namespace {

// The lowest byte of one side of a move, and how many bytes there are to its highest one.
std::pair<const std::byte*, Bytes> bytes_of(const std::byte* at, const Move& move,
                                            std::ptrdiff_t stride) {
  const auto last = static_cast<std::ptrdiff_t>(move.count - 1) * stride;
  return {at + std::min<std::ptrdiff_t>(last, 0), move.length + Bytes(last < 0 ? -last : last)};
}

}  // namespace

DeviceTable CudaDevice::make_table(int device, std::span<const Move> moves) {
  const Lock lock(mutex_);
  contexts_.check(device);
  for (const Move& move : moves) {
    if (move.length == 0 || move.count == 0) continue;
    const auto [to, written] = bytes_of(move.to, move, move.to_stride);
    const auto [from, read] = bytes_of(move.from, move, move.from_stride);
    memory_.reach(to, written, device);
    memory_.reach(from, read, device);
  }
  const auto entry = tables_.try_emplace(next_).first;
  try {
    entry->second = launches_.make_table(device, moves);
  } catch (...) {
    tables_.erase(entry);
    throw;
  }
  return {next_++};
}

cuda::Table CudaDevice::at(DeviceTable table) const {
  const auto found = tables_.find(table.value);
  if (found == tables_.end()) fail(Errc::argument, "a table that was freed, or never made");
  return found->second;
}

void CudaDevice::free_table(DeviceTable table) {
  const Lock lock(mutex_);
  const cuda::Table freed = at(table);
  tables_.erase(table.value);
  launches_.free_table(freed);
}

void CudaDevice::move(DeviceStream stream, DeviceTable table) {
  const Lock lock(mutex_);
  const cuda::Table moved = at(table);
  const int device = contexts_.device_of(stream);
  if (moved.device != device)
    fail(Errc::argument, "a table of device ", moved.device, " in a stream of device ", device);
  const Current current(driver_, contexts_.of(device));
  launches_.move(stream_of(stream), moved);
}

// ---- flags

// The driver is asked once for each flag, since exchanges use the same ones again and again.
void CudaDevice::check_flags(int device, std::span<const FlagValue> flags) {
  for (const auto& [flag, value] : flags) {
    if (known_flags_.contains({device, flag})) continue;
    const MemoryAt at = memory_.reach(flag, sizeof *flag, device);
    if (address_of(flag) % sizeof *flag != 0)
      fail(Errc::argument, "a flag at byte ", reinterpret_cast<const std::byte*>(flag) - at.base,
           " of an allocation is not aligned");
    if (at.kind == MemoryKind::managed)
      fail(Errc::argument, "a flag cannot be in managed memory; allocate pinned memory for it");
    known_flags_.emplace(device, flag);
  }
}

void CudaDevice::by_stream(int device, DeviceStream stream, std::span<const FlagValue> flags,
                           int operation, unsigned how) {
  std::array<cuda::ValueOperation, cuda::most_value_operations> batch;
  const Current current(driver_, contexts_.of(device));
  for (std::size_t done = 0; done < flags.size(); done += batch.size()) {
    const auto some = flags.subspan(done, std::min(flags.size() - done, batch.size()));
    std::transform(some.begin(), some.end(), batch.begin(), [&](const FlagValue& flag) {
      return cuda::ValueOperation{operation, address_of(flag.flag), flag.value, how, 0, 0};
    });
    driver_.stream_values(stream_of(stream), static_cast<unsigned>(some.size()), batch.data(), 0);
  }
}

void CudaDevice::write_flags(DeviceStream stream, std::span<const FlagValue> flags) {
  const Lock lock(mutex_);
  if (flags.empty()) return;
  const int device = contexts_.device_of(stream);
  check_flags(device, flags);
  if (value_operations_)
    return by_stream(device, stream, flags, cuda::write_value_64, cuda::write_behind_all);
  const Current current(driver_, contexts_.of(device));
  launches_.write_flags(device, stream_of(stream), flags);
}

// The flush: a flag that another device has written may be seen before what it wrote earlier ("CUDA
// Driver API", CUstreamWaitValue_flags).
void CudaDevice::wait_flags(DeviceStream stream, std::span<const FlagValue> flags) {
  const Lock lock(mutex_);
  if (flags.empty()) return;
  const int device = contexts_.device_of(stream);
  check_flags(device, flags);
  if (value_operations_)
    return by_stream(device, stream, flags, cuda::wait_value_64,
                     cuda::wait_until_at_least | (flushes_ ? cuda::wait_then_flush : 0));
  const Current current(driver_, contexts_.of(device));
  launches_.wait_flags(device, stream_of(stream), flags);
}

// ---- events

DeviceEvent CudaDevice::make_event(int device) {
  const Lock lock(mutex_);
  const Current current(driver_, contexts_.of(device));
  auto entry = events_.extract(events_.try_emplace(0, device).first);
  cuda::Event event = nullptr;
  driver_.event_create(&event, cuda::event_without_time);
  entry.key() = reinterpret_cast<std::uintptr_t>(event);
  return {events_.insert(std::move(entry)).position->first};
}

void CudaDevice::end_event(DeviceEvent event) {
  const Lock lock(mutex_);
  const auto made = events_.extract(event.value);
  if (made.empty()) fail(Errc::argument, "an event that was ended, or never made");
  const Current current(driver_, contexts_.of(made.mapped()), Current::IfPossible::if_possible);
  driver_.event_destroy(event_of(event));
}

void CudaDevice::record(DeviceStream stream, DeviceEvent event) {
  const Lock lock(mutex_);
  const Current current(driver_, context_of(stream));
  driver_.event_record(event_of(event), stream_of(stream));
}

void CudaDevice::wait_event(DeviceStream stream, DeviceEvent event) {
  const Lock lock(mutex_);
  const Current current(driver_, context_of(stream));
  driver_.stream_wait_event(stream_of(stream), event_of(event), 0);
}

bool CudaDevice::query(DeviceEvent event) {
  const int result = driver_.event_query.result(event_of(event));
  if (result == cuda::not_ready) return false;
  driver_.event_query.check(result);
  return true;
}

void CudaDevice::synchronize(DeviceEvent event) { driver_.event_synchronize(event_of(event)); }

}  // namespace tonari
