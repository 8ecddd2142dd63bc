// SPDX-License-Identifier: BSD-3-Clause
// Where the cells of a grid lie on this rank, if not in memory of the host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "device/held_on_device.hpp"
#include "device/present_device.hpp"

namespace tonari {

struct GridDevice {
  std::shared_ptr<PresentDevice> devices = {};  // null: the host's
  int number = -1;

  explicit operator bool() const { return devices != nullptr; }
};

// The device that a program's arrays lie on; bytes: of each. Local. Throws Errc::argument unless
// the host reads all arrays, or one device of this process has all of them.
GridDevice device_of_arrays(std::span<std::byte* const> arrays, const std::vector<Bytes>& bytes);

// The device of this number. Throws Errc::argument where this process has none.
GridDevice device_of_number(int number);

// To whose multiples that device maps memory. Throws Errc::argument where it maps none.
std::size_t page_of(const GridDevice& device);

// Fills memory of that device with zeros. Throws as the device does.
void fill_with_zeros(const GridDevice& device, std::byte* base, Bytes bytes);

// What the library has allocated on a device, until this ends.
class DeviceMemory {
 public:
  explicit DeviceMemory(GridDevice device);
  // Throws Errc::memory, and Errc::argument where the device fails.
  std::byte* zeroed(Bytes bytes);

 private:
  GridDevice device_;
  HeldOnDevice held_;
};

// Throws Errc::argument unless the array begins and ends in memory of that device. name: of the
// argument, for the sentence.
void check_on_device(const GridDevice& device, const std::byte* array, Bytes bytes,
                     const char* name);

}  // namespace tonari
