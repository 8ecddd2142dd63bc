// SPDX-License-Identifier: BSD-3-Clause
// Mapped storage on a device: ghosts that this rank owns are its surface, mapped a second time
// (Zhao et al. 2021, section 4). Ghosts of other ranks are memory of their own.
//
//   addresses   | interior | surface | ghosts from itself | ghosts from others |
//   memory      |    a     |    b    |         b          |         c          |
//
// What is written at one address is seen at the other by later launches.
#pragma once

#include <memory>

#include "grid/grid_device.hpp"
#include "grid/grid_layout.hpp"
#include "packing/aliased_memory.hpp"

namespace tonari {

class ShownSurface {
 public:
  // All copies of all subdomains, where the layout's file has them. Zeros. Throws Errc::argument
  // and Errc::memory as the device does.
  ShownSurface(GridDevice device, const GridLayout& layout, Bytes bytes);

  std::byte* storage(const GridLayout& layout, int subdomain, int copy) const {
    return memory_->base() + layout.file_offset(layout.rank(), subdomain, copy);
  }
  // Of a copy: those that are the surface. Without it each would be a message.
  std::size_t ghosts() const { return ghosts_; }
  Bytes bytes() const { return memory_->physical(); }  // of memory
  std::size_t mappings() const { return memory_->mappings(); }

 private:
  GridDevice device_;  // lives as long as the memory
  std::size_t ghosts_ = 0;
  std::unique_ptr<AliasedMemory> memory_;
};

}  // namespace tonari
