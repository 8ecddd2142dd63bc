// SPDX-License-Identifier: BSD-3-Clause
#include "device/present_device.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "device/cuda_device.hpp"
#include "memory/gpu_memory.hpp"

namespace tonari {
namespace {

struct Present {
  std::mutex mutex;
  std::shared_ptr<PresentDevice> devices;
};
Present& present() { return lasting<Present>(); }

std::shared_ptr<PresentDevice> known() {
  const std::lock_guard lock(present().mutex);
  return present().devices;
}

// A device that cannot say has not allocated it.
bool on_given_device(const void* address) noexcept {
  bool its = false;
  (void)error_of([&] {
    if (const auto devices = known())
      its = (*devices)->memory_at(address).kind == MemoryKind::device;
  });
  return its;
}

}  // namespace

PresentDevice::~PresentDevice() {
  for (const auto& [number, stream] : streams_)
    (void)error_of([&, made = stream] { device_->end_stream(made); });
}

DeviceStream PresentDevice::stream(int number) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = streams_.try_emplace(number);
  if (!is_new) return entry->second;
  try {
    return entry->second = device_->make_stream(number);
  } catch (...) {
    streams_.erase(entry);
    throw;
  }
}

std::shared_ptr<PresentDevice> present_device(const std::string& cache) {
  const std::lock_guard lock(present().mutex);
  std::shared_ptr<PresentDevice>& devices = present().devices;
  if (!devices) devices = std::make_shared<PresentDevice>(std::make_shared<CudaDevice>(cache));
  return devices;
}

void use_device(std::shared_ptr<Device> device) {
  ask_of_gpu_memory(device ? on_given_device : nullptr);
  std::shared_ptr<PresentDevice> last, next;
  if (device) next = std::make_shared<PresentDevice>(std::move(device));
  const std::lock_guard lock(present().mutex);
  last = std::exchange(present().devices, std::move(next));
}

}  // namespace tonari
