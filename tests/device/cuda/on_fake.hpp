// SPDX-License-Identifier: BSD-3-Clause
// The library's device for CUDA, over the driver that the tests play on simulated devices.
#pragma once

#include <functional>
#include <string>

#include "device/cuda/fake_driver.hpp"
#include "device/cuda_device.hpp"

namespace tonari::test {

// What is changed in the driver before it is opened.
using Change = std::function<void(FakeDriver&)>;

struct Driven {
  explicit Driven(const SimulatedOptions& options, const Change& change = {}) : simulated(options) {
    fake_driver().drive(simulated);
    if (change) change(fake_driver());
  }
  SimulatedDevice simulated;
};

struct CudaOnFake : Driven {
  explicit CudaOnFake(const SimulatedOptions& options = {}, const Change& change = {},
                      const std::string& cache = {})
      : Driven(options, change), cuda(cache) {}
  CudaDevice cuda;
};

}  // namespace tonari::test
