// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "memory/memory.hpp"
#include "memory/pages.hpp"
#include "memory/process.hpp"
#include "memory/shared_file.hpp"

namespace tonari {
namespace {

constexpr std::int32_t simulated_kind = 0x51D;
constexpr std::size_t most_freed = 256;
constexpr int uninitialized = 0x5A;  // so that a forgotten initialization shows

Bytes in_pages(Bytes bytes) { return round_up(bytes, system_page()); }

std::uint64_t& life_word(const View& life) {
  return *reinterpret_cast<std::uint64_t*>(life.data());
}

View life_of(const SimulatedRegion& region) {
  return {*region.file, std::array{FilePiece{region.file->bytes() - system_page(), system_page()}}};
}

// What the regions show one after the other: their bytes, or who touched them.
View view_of(std::span<const std::shared_ptr<SimulatedRegion>> regions, bool touches) {
  const auto file = [&](const SimulatedRegion& region) {
    return touches ? region.touched_file : region.file;
  };
  const Bytes scale = touches ? sizeof(SimulatedTouch) : 1;
  const SimulatedRegion& first = *regions.front();
  const Bytes unit =
      scale * (regions.size() == 1 ? in_pages(first.bytes) : SimulatedMemory::granularity);
  Bytes all = 0, at = 0;
  for (const auto& region : regions) all += scale * in_pages(region->bytes);
  View view(*file(first), std::vector<FilePiece>(all / unit, {0, unit}));
  for (const auto& region : regions) {
    const Bytes bytes = scale * in_pages(region->bytes);
    view.replace(at, *file(*region), {0, bytes});
    at += bytes;
  }
  return view;
}

// Addresses without access that nothing else gets.
Mapping reserve_addresses(Bytes bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    fail(Errc::memory, "cannot reserve ", bytes, " addresses for memory of a simulated device (",
         system_reason(errno), "): look at `ulimit -v`");
  return {static_cast<std::byte*>(at), bytes};
}

}  // namespace

// ---- regions

SimulatedRegion::SimulatedRegion(MemoryKind k, int d, Bytes b, bool watch_order)
    : kind(k), device(d), bytes(b) {
  const Bytes whole = in_pages(bytes);
  file = MappedFile::create(whole + system_page(), system_page(), false);
  if (watch_order)
    touched_file = MappedFile::create(whole * sizeof(SimulatedTouch), system_page(), false);
  life = life_of(*this);
}

SimulatedRegion::SimulatedRegion(MemoryKind k, int d, Bytes b, const FileName& name)
    : kind(k), device(d), bytes(b), foreign(true), file(MappedFile::open(name)) {
  if (file->bytes() != in_pages(bytes) + system_page())
    fail(Errc::argument, "the handle of ", bytes, " bytes is that of other memory");
  life = life_of(*this);
}

bool SimulatedRegion::freed() const {
  return std::atomic_ref(life_word(life)).load(std::memory_order_relaxed) != 0;
}
void SimulatedRegion::end() const {
  std::atomic_ref(life_word(life)).store(1, std::memory_order_relaxed);
}

const SimulatedRange::Part& SimulatedRange::part(Bytes at) const {
  const auto behind = std::upper_bound(parts.begin(), parts.end(), at,
                                       [](Bytes a, const Part& part) { return a < part.at; });
  return *std::prev(behind);
}

bool SimulatedRange::any_region_freed() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.region->freed(); });
}

// ---- allocations

void SimulatedMemory::check_device(int device) const {
  if (device < 0 || device >= options_.devices)
    fail(Errc::argument, "there is no device ", device, ", only ", options_.devices, " from 0 on");
}

Bytes SimulatedMemory::left(int device) const {
  Bytes used = 0;
  for (const auto& one : made_)
    if (const auto region = one.lock(); region && region->device == device) used += region->bytes;
  return options_.memory - used;
}

SimulatedMemory::Region SimulatedMemory::make(MemoryKind kind, int device, Bytes bytes) {
  if (device >= 0 && bytes > left(device))
    fail(Errc::memory, "device ", device, " has ", left(device), " of ", options_.memory,
         " bytes left, and ", bytes, " are needed");
  auto region = std::make_shared<SimulatedRegion>(kind, device, bytes, options_.watch_order);
  std::erase_if(made_, [](const auto& one) { return one.expired(); });
  made_.push_back(region);
  return region;
}

// `regions`: at least one.
std::byte* SimulatedMemory::show(const std::vector<Region>& regions, bool owns) {
  const auto range = std::make_shared<SimulatedRange>();
  for (const Region& region : regions) {
    range->parts.push_back({range->bytes, region});
    range->bytes += regions.size() == 1 ? region->bytes : in_pages(region->bytes);
  }
  range->kind = regions.front()->kind;
  range->device = regions.front()->device;
  range->owns = owns;
  range->shown = view_of(regions, false);
  range->work = range->base = range->shown.data();
  const bool watched = std::all_of(regions.begin(), regions.end(),
                                   [](const Region& region) { return !!region->touched_file; });
  if (watched) range->touches = view_of(regions, true);
  range->touched = reinterpret_cast<SimulatedTouch*>(range->touches.data());
  if (range->kind == MemoryKind::device) {
    range->reserved = reserve_addresses(in_pages(range->bytes));
    range->base = range->reserved.data();
  }
  ranges_[reinterpret_cast<std::uintptr_t>(range->base)] = range;
  return range->base;
}

std::byte* SimulatedMemory::allocate(MemoryKind kind, int device, Bytes bytes) {
  if (kind == MemoryKind::host)
    fail(Errc::argument, "memory of the host alone is not allocated by a device");
  if (bytes == 0) fail(Errc::argument, "an allocation of a device has at least one byte");
  if (kind == MemoryKind::pinned) device = -1;
  if (kind != MemoryKind::pinned) check_device(device);
  std::byte* const base = show({make(kind, device, bytes)}, true);
  std::memset(find(base)->work, uninitialized, bytes);
  return base;
}

// Tables may still know the range, so it says that it is gone.
void SimulatedMemory::free(const SharedRange& range) {
  last_.reset();
  const auto entry = ranges_.find(reinterpret_cast<std::uintptr_t>(range->base));
  const OwnRange own = entry->second;
  ranges_.erase(entry);
  if (own->owns) own->parts.front().region->end();
  own->gone = true;
  if (own->reserved) freed_.push_back(std::move(own->reserved));
  if (freed_.size() > most_freed) freed_.pop_front();
  own->shown = {};
  own->touches = {};
  own->parts.clear();
}

// ---- handles

MemoryHandle SimulatedMemory::export_memory(const std::byte* address) const {
  const MemoryAt at = memory_at(address);
  if (at.kind == MemoryKind::host)
    fail(Errc::argument, "memory of the host has no handle of a device");
  if (!at.not_exported.empty()) fail(Errc::argument, at.not_exported);
  const FileName name = find(address)->parts.front().region->file->name();
  MemoryHandle handle{at.bytes, at.device, simulated_kind, {}};
  static_assert(sizeof name + sizeof(at.kind) <= sizeof handle.content);
  std::memcpy(handle.content.data(), &name, sizeof name);
  handle.content.back() = static_cast<std::uint64_t>(at.kind);
  shared_ = true;
  return handle;
}

// A region of this process, which a handle may come back to.
std::shared_ptr<SimulatedRegion> SimulatedMemory::own_region(const FileName& name) const {
  for (const auto& [base, range] : ranges_) {
    const FileName own = range->parts.front().region->file->name();
    if (range->owns && own.number == name.number && own.descriptor == name.descriptor)
      return range->parts.front().region;
  }
  fail(Errc::argument, "the handle means memory of this process that was freed");
}

std::byte* SimulatedMemory::import_memory(const MemoryHandle& handle) {
  if (handle.kind != simulated_kind)
    fail(Errc::argument, "the handle was not made by a simulated device");
  check_device(std::max(handle.device, 0));
  FileName name;
  std::memcpy(static_cast<void*>(&name), handle.content.data(), sizeof name);
  if (name.process == this_process()) return show({own_region(name)}, false);
  const auto kind = static_cast<MemoryKind>(handle.content.back());
  const auto region = std::make_shared<SimulatedRegion>(kind, handle.device, handle.bytes, name);
  if (region->freed())
    fail(Errc::argument, "the handle means memory that process ", name.process, " has freed");
  shared_ = true;
  return show({region}, false);
}

// ---- regions

DeviceRegion SimulatedMemory::make_region(int device, Bytes bytes) {
  check_device(device);
  check_region_bytes(bytes, granularity);
  return regions_.add(make(MemoryKind::device, device, bytes));
}

void SimulatedMemory::free_region(DeviceRegion region) { (void)regions_.take(region); }

std::byte* SimulatedMemory::map_regions(std::span<const DeviceRegion> regions) {
  return show(regions_.of(regions), false);
}

// ---- addresses

SharedRange SimulatedMemory::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto within = [&](const SimulatedRange& range) {
    return at - reinterpret_cast<std::uintptr_t>(range.base) < range.bytes;
  };
  if (last_ && within(*last_)) return last_;
  const auto behind = ranges_.upper_bound(at);
  if (behind == ranges_.begin() || !within(*std::prev(behind)->second)) return nullptr;
  return last_ = std::prev(behind)->second;
}

bool SimulatedMemory::was_freed(const void* address) const {
  return std::any_of(freed_.begin(), freed_.end(), [&](const Mapping& range) {
    return address >= range.data() && address < range.data() + range.bytes();
  });
}

MemoryAt SimulatedMemory::memory_at(const void* address) const {
  const SharedRange range = find(address);
  if (!range) return {};
  MemoryAt at{range->kind, range->device, range->base, range->bytes, {}};
  if (range->parts.size() > 1)
    at.not_exported = text("memory of ", range->parts.size(), " regions has no single handle");
  else if (!range->owns)
    at.not_exported = "only the process that allocated memory exports it";
  return at;
}

SharedRange SimulatedMemory::range(const std::byte* base, const char* verb) const {
  const SharedRange found = find(base);
  if (found && found->base == base) return found;
  if (found)
    fail(Errc::argument, "byte ", base - found->base, " of an allocation cannot be ", verb,
         ", only its first one");
  if (was_freed(base)) fail(Errc::argument, "memory of a device that was freed cannot be ", verb);
  fail(Errc::argument, "memory that no device allocated cannot be ", verb);
}

SimulatedBytes SimulatedMemory::reach(const std::byte* address, Bytes bytes, int device) const {
  const SharedRange range = find(address);
  if (!range && was_freed(address))
    fail(Errc::argument, "work of device ", device, " uses memory that was freed");
  if (!range)
    fail(Errc::argument, "work of device ", device,
         " uses memory that no device allocated, or bytes outside of it; only pinned and managed "
         "memory of the host is in its reach");
  const auto at = static_cast<Bytes>(address - range->base);
  if (bytes > range->bytes - at)
    fail(Errc::argument, "bytes ", at, " to ", at + bytes,
         " are outside of an allocation of a device of ", range->bytes, " bytes");
  const bool lacks_peers =
      std::count(options_.lacks.begin(), options_.lacks.end(), Ability::peer_access) > 0;
  if (range->kind == MemoryKind::device && range->device != device && lacks_peers)
    fail(Errc::argument, "work of device ", device, " uses memory of device ", range->device,
         ", and has no access to it");
  return {range, at, bytes};
}

}  // namespace tonari
