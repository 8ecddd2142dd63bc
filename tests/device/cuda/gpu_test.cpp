// SPDX-License-Identifier: BSD-3-Clause
// The devices of this machine, for `make test-gpu` (tools/test_gpu.py).
#include <gtest/gtest.h>

#include <iostream>

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
                                      std::pair(Ability::capture_of_flags, "capture_of_flags")}) {
    const Capability has = device->ability(ability);
    std::cout << name << ": " << (has ? "yes" : has.why_not) << "\n";
  }
  std::byte* const memory = device->allocate(MemoryKind::device, 0, 64);
  EXPECT_EQ(device->memory_at(memory).kind, MemoryKind::device);
}

}  // namespace
}  // namespace tonari::test
