// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_device.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "memory/process.hpp"
#include "neighborhood/staging.hpp"
#include "request/buffer.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

// No driver knows memory that was freed.
void check_on_host(const std::byte* array, const std::string& name) {
  if (gpu_driver_known.load(std::memory_order_relaxed) && !may_be_read(array))
    fail(Errc::argument, name,
         " is memory that neither the host nor a GPU can read; give memory that is allocated, and "
         "was not freed");
}

}  // namespace

void check_on_device(const GridDevice& device, const std::byte* array, Bytes bytes,
                     const char* name) {
  for (const std::byte* at : {array, array + bytes - 1}) {
    const MemoryAt memory = (*device.devices)->memory_at(at);
    if (memory.kind != MemoryKind::device || memory.device != device.number)
      fail(Errc::argument, name, " does not ", at == array ? "begin" : "end",
           " in memory of device ", device.number, "; give ", bytes,
           " bytes there, and all arrays of a rank on one device");
  }
}

GridDevice device_of_arrays(std::span<std::byte* const> arrays, const std::vector<Bytes>& bytes) {
  look_for_gpu_drivers();
  GridDevice found;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = text("array ", i);
    const bool its = on_gpu(arrays[i]);
    if (!its) check_on_host(arrays[i], name);
    if (its != on_gpu(arrays[0]))
      fail(Errc::argument, "array ", its ? i : 0, " is memory of a GPU, and array ", its ? 0 : i,
           " is not; give all arrays of a rank in memory of one kind");
    if (!its) continue;
    if (!found) {
      found.devices = devices_for(name);
      const MemoryAt first = (*found.devices)->memory_at(arrays[i]);
      if (first.kind != MemoryKind::device)
        refuse_gpu_memory(name, "no device of this process has allocated it");
      found.number = first.device;
    }
    check_on_device(found, arrays[i], bytes[i], name.c_str());
  }
  return found;
}

GridDevice device_of_number(int number) {
  GridDevice device;
  const std::optional<Error> none =
      error_of([&] { device.devices = present_device(cache_directory()); });
  if (none)
    fail(Errc::argument,
         "shape.memory is TONARI_MEMORY_DEVICE, and no device can be used: ", none->what());
  if (const int all = (*device.devices)->devices(); number < 0 || number >= all)
    fail(Errc::argument, "shape.device is ", number, "; there ", all == 1 ? "is " : "are ", all,
         all == 1 ? " device" : " devices", ", from 0 on");
  device.number = number;
  return device;
}

std::size_t page_of(const GridDevice& device) {
  const Device& all = **device.devices;
  if (const Capability mapped = all.ability(Ability::mapped_memory); !mapped)
    fail(Errc::argument, "storage mapped cannot be in memory of device ", device.number, ": ",
         mapped.why_not, "; choose storage brick");
  return all.granularity(device.number);
}

// Pinned zeros are copied once, and then what is zero already.
void fill_with_zeros(const GridDevice& of, std::byte* base, Bytes bytes) {
  constexpr Bytes most = Bytes{1} << 20;
  Device& device = **of.devices;
  HeldOnDevice meanwhile(device);
  Bytes done = std::min(bytes, most);
  std::byte* const zeros = meanwhile.allocate(MemoryKind::pinned, of.number, done);
  std::memset(zeros, 0, done);
  const DeviceStream stream = of.devices->stream(of.number);
  const std::optional<Error> failed = error_of([&] {
    device.copy(stream, base, zeros, done);
    for (Bytes some = 0; done < bytes; done += some) {
      some = std::min(done, bytes - done);
      device.copy(stream, base + done, base, some);
    }
  });
  device.synchronize(stream);  // what is in use cannot be given back
  if (failed) throw *failed;
}

DeviceMemory::DeviceMemory(GridDevice device)
    : device_(std::move(device)), held_(**device_.devices) {}

std::byte* DeviceMemory::zeroed(Bytes bytes) {
  std::byte* const base = held_.allocate(MemoryKind::device, device_.number, bytes);
  fill_with_zeros(device_, base, bytes);
  return base;
}

}  // namespace tonari
