// SPDX-License-Identifier: BSD-3-Clause
// The tests of the interface, on the simulated device.
#include "device/any_device.hpp"
#include "device/simulated_device.hpp"

namespace tonari::test {
namespace {

std::shared_ptr<Device> simulated(int devices) {
  SimulatedOptions options;
  options.devices = devices;
  return std::make_shared<SimulatedDevice>(options);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Simulated, AnyDevice, testing::Values(DeviceKind{"simulated", simulated}));

}  // namespace tonari::test
