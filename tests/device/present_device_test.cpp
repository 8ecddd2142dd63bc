// SPDX-License-Identifier: BSD-3-Clause
#include "device/present_device.hpp"

#include <gtest/gtest.h>

#include "device/program.hpp"
#include "memory/gpu_memory.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

TEST(PresentDevice, TellsWhichMemoryIsItsOwn) {
  const auto device = std::make_shared<SimulatedDevice>(alone());
  std::byte* const its = device->allocate(MemoryKind::device, 0, 8);
  std::byte* const pinned = device->allocate(MemoryKind::pinned, 0, 8);
  const int here = 0;
  EXPECT_FALSE(on_gpu(its));
  use_device(device);
  EXPECT_TRUE(on_gpu(its));
  EXPECT_TRUE(on_gpu(its + 7));
  EXPECT_FALSE(on_gpu(its + 8));
  EXPECT_FALSE(on_gpu(pinned));
  EXPECT_FALSE(on_gpu(&here));
  look_for_gpu_drivers();
  EXPECT_TRUE(on_gpu(its));
  use_device(nullptr);
  EXPECT_FALSE(on_gpu(its));
}

TEST(PresentDevice, HasOneStreamForEachDevice) {
  const auto device = std::make_shared<SimulatedDevice>(two_devices());
  use_device(device);
  const std::shared_ptr<PresentDevice> present = present_device("");
  EXPECT_EQ(present, present_device(""));
  const DeviceStream first = present->stream(0), second = present->stream(1);
  EXPECT_EQ(present->stream(0), first);
  EXPECT_EQ(device->device_of(first), 0);
  EXPECT_EQ(device->device_of(second), 1);
  expect_sentence(error_of([&] { present->stream(2); }), Errc::argument, {"no device 2"});
  expect_sentence(error_of([&] { present->stream(2); }), Errc::argument, {"no device 2"});
  use_device(nullptr);
  EXPECT_EQ(present->stream(0), first);  // what was made before keeps it
}

}  // namespace
}  // namespace tonari::test
