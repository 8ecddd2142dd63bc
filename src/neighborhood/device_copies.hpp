// SPDX-License-Identifier: BSD-3-Clause
// Memory of a device in the place of a call's blocks, which init must not touch: what is measured
// exchanges it.
#pragma once

#include <memory>
#include <vector>

#include "channels/arguments.hpp"
#include "device/held_on_device.hpp"
#include "device/present_device.hpp"

namespace tonari {

class DeviceCopies {
 public:
  // For blocks that all lie on this device; one that has bytes is in a space that moves. Throws
  // Errc::memory where there is not so much memory.
  DeviceCopies(std::shared_ptr<PresentDevice> devices, int number, const Binding& blocks);

  // From the blocks to their copies, by space.
  Shifts shifts() const { return shifts_; }
  // Back.
  std::vector<std::ptrdiff_t> none() const { return std::vector<std::ptrdiff_t>(shifts_.size()); }

 private:
  std::shared_ptr<PresentDevice> devices_;
  HeldOnDevice held_;
  std::vector<std::ptrdiff_t> shifts_;
};

}  // namespace tonari
