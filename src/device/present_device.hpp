// SPDX-License-Identifier: BSD-3-Clause
// The devices that exchanges of this process use. Nothing is opened before memory of a device is
// met, so programs without one lose nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/device.hpp"

namespace tonari {

// With one stream of the library's own for each device that needs one.
class PresentDevice {
 public:
  explicit PresentDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~PresentDevice();
  PresentDevice(const PresentDevice&) = delete;
  PresentDevice& operator=(const PresentDevice&) = delete;

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_.get(); }
  // Made at the first call for this device.
  DeviceStream stream(int number);

 private:
  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::map<int, DeviceStream> streams_;
};

// Those of CUDA, opened at the first call, unless others were given. `cache`: as for CudaDevice.
// Throws Errc::argument with a sentence where there are none; a later call tries again.
std::shared_ptr<PresentDevice> present_device(const std::string& cache);

// These are used from now on, and tell which memory is theirs; null: those of CUDA again. For
// devices without hardware. Nobody may call meanwhile; what was made before keeps its devices.
void use_device(std::shared_ptr<Device> device);

}  // namespace tonari
