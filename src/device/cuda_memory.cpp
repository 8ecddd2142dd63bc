// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "memory/process.hpp"
#include "memory/shared_file.hpp"
#include "memory/taken_file.hpp"

namespace tonari::cuda {
namespace {

constexpr auto if_possible = Current::IfPossible::if_possible;

// Smaller allocations may share a block with others, and a handle shows the whole block ("CUDA
// Runtime API", cudaIpcGetMemHandle): what we allocate has blocks of its own.
constexpr Bytes shared_block = Bytes{2} << 20;

Address address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
std::byte* bytes_at(Address address) { return reinterpret_cast<std::byte*>(address); }

Bytes in_blocks(Bytes bytes) {
  return checked_add(bytes, shared_block - 1, "bytes of a device") / shared_block * shared_block;
}

// ---- what the driver says of an address

// Each answer is written into zeros, as wide as its attribute is.
struct Answers {
  std::uint64_t type = 0, managed = 0, device = 0, legacy = 0, start = 0, size = 0, pool = 0;
  int number() const { return static_cast<int>(static_cast<std::uint32_t>(device)); }
};

Answers ask(const Driver& driver, Address address) {
  Answers answers;
  std::array<int, 7> which = {
      attribute_type,        attribute_is_managed, attribute_device, attribute_is_legacy_capable,
      attribute_range_start, attribute_range_size, attribute_pool};
  std::array<void*, 7> to = {&answers.type,  &answers.managed, &answers.device, &answers.legacy,
                             &answers.start, &answers.size,    &answers.pool};
  const int result = driver.pointer_get_attributes.result(static_cast<unsigned>(which.size()),
                                                          which.data(), to.data(), address);
  if (result == invalid_context) return {};  // nothing of a device is in use yet
  driver.pointer_get_attributes.check(result);
  return answers;
}

}  // namespace

const Memory::Held* Memory::held_around(Address address) const {
  const auto behind = held_.upper_bound(address);
  if (behind == held_.begin()) return nullptr;
  const auto& [base, held] = *std::prev(behind);
  return address - base < held.bytes ? &held : nullptr;
}

AllocationProperties Memory::properties_at(Address address) const {
  Allocation allocation = 0;
  driver_.allocation_at(&allocation, bytes_at(address));
  AllocationProperties properties;
  const int result = driver_.allocation_properties.result(&properties, allocation);
  driver_.allocation_release(allocation);
  driver_.allocation_properties.check(result);
  return properties;
}

std::string Memory::why_not_exported(Address address, const Known& known) const {
  switch (known.at.kind) {
    case MemoryKind::host:
      return "memory of the host has no handle of a device";
    case MemoryKind::pinned:
      return "pinned memory has no handle of a device";
    case MemoryKind::managed:
      return "managed memory has no handle; allocate it by cudaMalloc";
    case MemoryKind::device:
      break;
  }
  const Held* const held = held_around(address);
  if (held && held->imported) return "only the process that allocated memory exports it";
  if (held && held->mapped.size() > 1)
    return text("memory of ", held->mapped.size(), " regions has no single handle");
  switch (known.handle) {
    case Handle::legacy:
      return "";
    case Handle::mapping:
      break;
    case Handle::pool:
      return "memory of a pool (cudaMallocAsync) is shared only with its whole pool; allocate it "
             "by "
             "cudaMalloc";
    case Handle::none:
      return "the driver has no handle for this memory; allocate it by cudaMalloc";
  }
  return properties_at(address).handle_types & by_descriptor
             ? ""
             : "this memory was made (cuMemCreate) without handles by descriptor; allocate it by "
               "cudaMalloc, in PyTorch without expandable segments";
}

Memory::Known Memory::known(const void* address) const {
  const Address at = address_of(address);
  Known known;
  if (!address) return known;
  const Answers answers = ask(driver_, at);
  if (answers.type == 0) return known;
  known.at.base = bytes_at(answers.start);
  known.at.bytes = answers.size;
  known.at.kind = answers.managed             ? MemoryKind::managed
                  : answers.type == type_host ? MemoryKind::pinned
                                              : MemoryKind::device;
  if (known.at.kind != MemoryKind::pinned) known.at.device = answers.number();
  known.handle = answers.legacy ? Handle::legacy : answers.pool ? Handle::pool : Handle::none;
  if (known.at.kind == MemoryKind::device && known.handle == Handle::none)
    look_at_mapping(at, known);
  return known;
}

void Memory::look_at_mapping(Address address, Known& known) const {
  std::uint64_t base = 0, bytes = 0;
  std::array<int, 2> which = {attribute_mapping_base, attribute_mapping_size};
  std::array<void*, 2> to = {&base, &bytes};
  driver_.pointer_get_attributes(2, which.data(), to.data(), address);
  if (bytes == 0) return;
  known.handle = Handle::mapping;
  const Held* const held = held_around(address);
  if (held && held->how == How::mapped) return;  // all of a range of our own
  known.at.base = bytes_at(base);
  known.at.bytes = bytes;
}

MemoryAt Memory::memory_at(const void* address) const {
  Known found = known(address);
  found.at.not_exported = why_not_exported(address_of(address), found);
  return found.at;
}

MemoryAt Memory::reach(const void* address, Bytes bytes, int device) const {
  const Known first = known(address);
  if (first.at.kind == MemoryKind::host)
    fail(Errc::argument, "work of device ", device,
         " uses memory that no device allocated, or bytes outside of it; only pinned and managed "
         "memory of the host is in its reach");
  if (first.at.kind == MemoryKind::device) contexts_.enable(device, first.at.device);
  const auto at = static_cast<Bytes>(static_cast<const std::byte*>(address) - first.at.base);
  const Bytes here = first.at.bytes - at;
  if (bytes <= here) return first.at;
  const auto* const next = static_cast<const std::byte*>(address) + here;
  if (first.handle != Handle::mapping || known(next).handle != Handle::mapping)
    fail(Errc::argument, "bytes ", at, " to ", at + bytes,
         " are outside of an allocation of a device of ", first.at.bytes, " bytes");
  reach(next, bytes - here, device);
  return first.at;
}

// ---- allocations

Address Memory::allocate_here(MemoryKind kind, int device, Bytes bytes) const {
  const Current current(driver_, contexts_.of(device));
  Address base = 0;
  if (kind == MemoryKind::pinned) {
    void* host = nullptr;
    const int result =
        driver_.host_allocate.result(&host, bytes, portable_host_memory | mapped_host_memory);
    if (result == out_of_memory)
      fail(Errc::memory, "the host has no ", bytes, " bytes left for pinned memory");
    driver_.host_allocate.check(result);
    return address_of(host);
  }
  if (kind == MemoryKind::managed) {
    driver_.managed_allocate(&base, bytes, attached_globally);
    return base;
  }
  const int result = driver_.memory_allocate.result(&base, bytes);
  std::size_t left = 0, whole = 0;
  if (result == out_of_memory && driver_.memory_get_info.result(&left, &whole) == success)
    fail(Errc::memory, "device ", device, " has ", left, " of ", whole, " bytes left, and ", bytes,
         " are needed");
  driver_.memory_allocate.check(result);
  return base;
}

// Room for what is taken then, so that no error comes behind that.
Memory::Addresses::node_type Memory::room() { return held_.extract(held_.try_emplace(0).first); }

std::byte* Memory::hold(Addresses::node_type entry, Address base) {
  entry.key() = base;
  return bytes_at(held_.insert(std::move(entry)).position->first);
}

std::byte* Memory::allocate(MemoryKind kind, int device, Bytes bytes) {
  if (kind == MemoryKind::host)
    fail(Errc::argument, "memory of the host alone is not allocated by a device");
  if (bytes == 0) fail(Errc::argument, "an allocation of a device has at least one byte");
  // Pinned memory is allocated in the context of any device. A context takes memory of its device,
  // so that is the caller's, if it has one.
  if (kind == MemoryKind::pinned && (device < 0 || device >= contexts_.count())) device = 0;
  contexts_.check(device);
  if (kind == MemoryKind::device) bytes = in_blocks(bytes);
  const How how = kind == MemoryKind::pinned    ? How::pinned
                  : kind == MemoryKind::managed ? How::managed
                                                : How::allocated;
  Addresses::node_type entry = room();
  entry.mapped() = {how, device, 1, bytes, {}, false};
  return hold(std::move(entry), allocate_here(kind, device, bytes));
}

void Memory::cannot_free(const std::byte* base) const {
  const MemoryAt at = memory_at(base);
  if (at.kind == MemoryKind::host)
    fail(Errc::argument,
         "memory that no device allocated, or that was freed, cannot be freed by a device");
  if (at.base != base)
    fail(Errc::argument, "byte ", base - at.base,
         " of an allocation cannot be freed, only its first one");
  fail(Errc::argument, "memory that the program allocated itself cannot be freed here");
}

void Memory::free(std::byte* base) {
  const auto found = held_.find(address_of(base));
  if (found == held_.end()) cannot_free(base);
  if (--found->second.uses > 0) {
    if (found->second.how == How::opened) give_back(found->first, found->second);
    return;
  }
  descriptors_.erase(found->first);
  const auto taken = held_.extract(found);
  give_back(taken.key(), taken.mapped());
}

// Everything that there is to give back, also behind the first error.
void Memory::give_back(Address base, const Held& held) const {
  if (held.how == How::the_programs) return;
  const Current current(driver_, contexts_.of(held.device), if_possible);
  switch (held.how) {
    case How::allocated:
    case How::managed:
      return driver_.memory_free(base);
    case How::pinned:
      return driver_.host_free(bytes_at(base));
    case How::opened:
      return driver_.ipc_close_handle(base);
    case How::mapped:
    case How::the_programs:
      break;
  }
  int unmapped = success;
  Address at = base;
  for (const Bytes bytes : held.mapped) {
    if (const int result = driver_.unmap.result(at, bytes); result != success) unmapped = result;
    at += bytes;
  }
  const int freed = driver_.address_free.result(base, held.bytes);
  driver_.unmap.check(unmapped);
  driver_.address_free.check(freed);
}

Memory::~Memory() {
  for (const auto& [base, held] : held_) {
    const auto once = [&, at = base, &which = held] { give_back(at, which); };
    (void)error_of(once);
    for (std::size_t again = 1; held.how == How::opened && again < held.uses; ++again)
      (void)error_of(once);
  }
  for (const auto& [number, region] : regions_.all())
    (void)driver_.allocation_release.result(region.allocation);
}

// ---- handles

namespace {

constexpr std::int32_t cuda_kind = 0x43554441;  // "CUDA"

// What a handle's words hold.
struct Content {
  std::int32_t process = 0, descriptor = -1;  // -1: it goes by `legacy`
  Address base = 0;                           // in the process that exported it
  Uuid device{};
  IpcHandle legacy{};
};
static_assert(sizeof(Content) <= sizeof(MemoryHandle::content));

Content content_of(const MemoryHandle& handle) {
  Content content;
  std::memcpy(static_cast<void*>(&content), handle.content.data(), sizeof content);
  return content;
}

}  // namespace

int Memory::descriptor_of(Address base) const {
  OpenFile& file = descriptors_[base];
  if (file) return file.descriptor();
  Allocation allocation = 0;
  driver_.allocation_at(&allocation, bytes_at(base));
  int descriptor = -1;
  const int result = driver_.allocation_export.result(&descriptor, allocation, by_descriptor, 0);
  if (result == success) file = OpenFile(descriptor);
  driver_.allocation_release(allocation);
  driver_.allocation_export.check(result);
  return file.descriptor();
}

MemoryHandle Memory::export_memory(const std::byte* address) const {
  const auto [at, how] = known(address);
  const std::string why_not = why_not_exported(address_of(address), {at, how});
  if (!why_not.empty()) fail(Errc::argument, why_not);
  Content content;
  content.process = checked_cast<std::int32_t>(this_process(), "the number of a process");
  content.base = address_of(at.base);
  content.device = contexts_.uuid(at.device);
  const Current current(driver_, contexts_.of(at.device));
  if (how == Handle::mapping)
    content.descriptor = descriptor_of(content.base);
  else
    driver_.ipc_get_handle(&content.legacy, content.base);
  MemoryHandle handle{at.bytes, at.device, cuda_kind, {}};
  std::memcpy(handle.content.data(), &content, sizeof content);
  return handle;
}

std::byte* Memory::import_memory(const MemoryHandle& handle) {
  if (handle.kind != cuda_kind) fail(Errc::argument, "the handle was not made by a device of CUDA");
  const Content content = content_of(handle);
  if (content.process == this_process()) return import_own(handle, content.base);
  return content.descriptor < 0 ? open_legacy(handle) : open_descriptor(handle);
}

// The driver does not open a handle in the process that made it, which has the memory already.
std::byte* Memory::import_own(const MemoryHandle& handle, Address base) {
  const MemoryAt at = memory_at(bytes_at(base));
  if (at.kind != MemoryKind::device || at.base != bytes_at(base) || at.bytes != handle.bytes)
    fail(Errc::argument, "the handle means memory of this process that was freed");
  const auto [entry, is_new] = held_.try_emplace(base);
  if (is_new)
    entry->second = {How::the_programs, at.device, 1, at.bytes, {}, false};
  else
    ++entry->second.uses;
  return at.base;
}

// By the device where this process sees it, and otherwise by one that has access to it.
std::byte* Memory::open_legacy(const MemoryHandle& handle) {
  const Content content = content_of(handle);
  const int device = std::max(contexts_.find(content.device), 0);
  const Current current(driver_, contexts_.of(device));
  Addresses::node_type entry = room();
  Address base = 0;
  driver_.ipc_open_handle(&base, content.legacy, lazy_peer_access);
  if (const auto again = held_.find(base); again != held_.end()) {
    ++again->second.uses;
    return bytes_at(base);
  }
  entry.mapped() = {How::opened, device, 1, handle.bytes, {}, true};
  return hold(std::move(entry), base);
}

std::byte* Memory::open_descriptor(const MemoryHandle& handle) {
  const Content content = content_of(handle);
  const int device = contexts_.find(content.device);
  if (device < 0)
    fail(Errc::argument,
         "the handle is one of a device that this process does not see; look at "
         "CUDA_VISIBLE_DEVICES");
  const OpenFile file = take_file(content.process, content.descriptor);
  if (!file)
    fail(Errc::argument, "descriptor ", content.descriptor, " of process ", content.process,
         " cannot be taken (", system_reason(errno),
         "); let processes attach to each other (kernel.yama.ptrace_scope = 0), or allocate by "
         "cudaMalloc");
  const Current current(driver_, contexts_.of(device));
  Region region{0, device, handle.bytes};
  // CUDA takes a descriptor as the value of a pointer
  auto* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(file.descriptor()));
  driver_.allocation_import(&region.allocation, number, by_descriptor);
  std::byte* shown = nullptr;
  const std::optional<Error> error = error_of([&] { shown = map({&region, 1}); });
  (void)driver_.allocation_release.result(region.allocation);  // it lives on where it is mapped
  if (error) throw *error;
  held_.at(address_of(shown)).imported = true;
  return shown;
}

// ---- regions

AllocationProperties Memory::properties(int device) const {
  AllocationProperties properties;
  properties.location.number = device;
  if (contexts_.attribute(device, handles_by_descriptor)) properties.handle_types = by_descriptor;
  return properties;
}

Bytes Memory::granularity(int device) const {
  contexts_.check(device);
  const AllocationProperties wanted = properties(device);
  std::size_t bytes = 0;
  driver_.allocation_granularity(&bytes, &wanted, minimum_granularity);
  return bytes;
}

DeviceRegion Memory::make_region(int device, Bytes bytes) {
  check_region_bytes(bytes, granularity(device));
  const AllocationProperties wanted = properties(device);
  const DeviceRegion made = regions_.add({0, device, bytes});
  const int result =
      driver_.allocation_create.result(&regions_[made].allocation, bytes, &wanted, 0);
  if (result != success) (void)regions_.take(made);
  if (result == out_of_memory)
    fail(Errc::memory, "device ", device, " has no ", bytes, " bytes left for a region");
  driver_.allocation_create.check(result);
  return made;
}

void Memory::free_region(DeviceRegion region) {
  driver_.allocation_release(regions_.take(region).allocation);
}

std::byte* Memory::map_regions(std::span<const DeviceRegion> regions) {
  return map(regions_.of(regions));
}

std::vector<Access> Memory::access_of(int device) const {
  std::vector<Access> all;
  for (int other = 0; other < contexts_.count(); ++other)
    if (contexts_.reaches(other, device)) all.push_back({{at_device, other}, read_write});
  return all;
}

std::byte* Memory::map(std::span<const Region> regions) {
  const std::vector<Access> access = access_of(regions.front().device);
  Addresses::node_type entry = room();
  Held& range = entry.mapped();
  range.how = How::mapped;
  range.device = regions.front().device;
  for (const Region& region : regions) range.bytes += region.bytes;
  range.mapped.reserve(regions.size());
  Address base = 0;
  const Current current(driver_, contexts_.of(range.device));
  driver_.address_reserve(&base, range.bytes, 0, 0, 0);
  const auto mapped = error_of([&] {
    Address at = base;
    for (const Region& region : regions) {
      driver_.map(at, region.bytes, 0, region.allocation, 0);
      range.mapped.push_back(region.bytes);
      at += region.bytes;
    }
    driver_.set_access(base, range.bytes, access.data(), access.size());
  });
  if (mapped) {
    (void)error_of([&] { give_back(base, range); });
    throw *mapped;
  }
  return hold(std::move(entry), base);
}

}  // namespace tonari::cuda
