// SPDX-License-Identifier: BSD-3-Clause
// The tests of the interface, on devices of this machine: `make test-gpu` (tools/test_gpu.py) runs
// each in a process of its own, since a driver does not survive a fork.
#include <gtest/gtest.h>

#include <iostream>

#include "device/any_device.hpp"
#include "device/cuda_device.hpp"

namespace tonari::test {
namespace {

TEST(Gpu, IsThere) {
  std::optional<CudaDevice> device;
  if (const auto why_not = tonari::error_of([&] { device.emplace(); }))
    GTEST_SKIP() << why_not->what();
  std::cout << "devices: " << device->devices() << "\n";
  for (const auto& [ability, name] : {std::pair(Ability::export_memory, "export_memory"),
                                      std::pair(Ability::flags_in_order, "flags_in_order"),
                                      std::pair(Ability::mapped_memory, "mapped_memory"),
                                      std::pair(Ability::peer_access, "peer_access"),
                                      std::pair(Ability::capture_of_flags, "capture_of_flags"),
                                      std::pair(Ability::network_access, "network_access")}) {
    const Capability has = device->ability(ability);
    std::cout << name << ": " << (has ? "yes" : has.why_not) << "\n";
  }
  std::cout << "kernels: " << device->describe_kernels(0) << "\n";
  std::byte* const memory = device->allocate(MemoryKind::device, 0, 64);
  EXPECT_EQ(device->memory_at(memory).kind, MemoryKind::device);
}

std::shared_ptr<Device> of_this_machine(int devices) {
  auto made = std::make_shared<CudaDevice>();
  return made->devices() < devices ? nullptr : made;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gpu, AnyDevice, testing::Values(DeviceKind{"gpu", of_this_machine}));

}  // namespace tonari::test
