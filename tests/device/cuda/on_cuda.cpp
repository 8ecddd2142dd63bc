// SPDX-License-Identifier: BSD-3-Clause
// The tests of the interface, over the driver that the tests play.
#include "device/any_device.hpp"
#include "device/cuda/on_fake.hpp"

namespace tonari::test {
namespace {

std::shared_ptr<Device> on_fake(int devices, const Change& change) {
  SimulatedOptions options;
  options.devices = devices;
  const auto made = std::make_shared<CudaOnFake>(options, change);
  return {made, &made->cuda};
}

std::shared_ptr<Device> cuda(int devices) { return on_fake(devices, {}); }

// Flags by a kernel of one thread.
std::shared_ptr<Device> cuda_without_value_operations(int devices) {
  return on_fake(devices, [](FakeDriver& fake) {
    fake.attributes[cuda::value_operations] = 0;
    fake.attributes[cuda::flushes_remote_writes] = 0;
  });
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Cuda, AnyDevice,
                         testing::Values(DeviceKind{"cuda", cuda},
                                         DeviceKind{"cuda_without_value_operations",
                                                    cuda_without_value_operations}));

}  // namespace tonari::test
