// SPDX-License-Identifier: BSD-3-Clause
// Tells memory of a GPU, which the host cannot read, from memory that it can. Only the driver
// knows, and only a program that uses one has loaded it: this library is linked with none.
#pragma once

#include <atomic>

namespace tonari {

// Looks for drivers (CUDA's and HIP's) if the program has loaded a library since the last time.
void look_for_gpu_drivers() noexcept;

// Another one that is asked from now on, whatever is loaded: that of devices without hardware.
// Null: none any more.
using OnOtherGpu = bool(const void* address) noexcept;
void ask_of_gpu_memory(OnOtherGpu* other) noexcept;

extern std::atomic<bool> gpu_driver_known;
bool asks_gpu_drivers(const void* address) noexcept;

// Whether only a GPU can read what is at this address, as far as drivers are known by now: those
// that were there when look_for_gpu_drivers was called last. Managed and pinned memory are not
// meant. Where there is no driver, this reads one flag.
inline bool on_gpu(const void* address) noexcept {
  return gpu_driver_known.load(std::memory_order_relaxed) && asks_gpu_drivers(address);
}

}  // namespace tonari
