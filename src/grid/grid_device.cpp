// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_device.hpp"

#include <string>

#include "memory/process.hpp"
#include "neighborhood/staging.hpp"
#include "request/buffer.hpp"

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

}  // namespace tonari
