// SPDX-License-Identifier: BSD-3-Clause
// Memory of one device, parts of which are seen at several addresses: ghosts that are the surface
// that they hold copies of, so that an exchange moves nothing (Zhao et al. 2021, section 4).
//
// What is written at one address is seen at the others by later launches, not by the same one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace tonari {

// The bytes from `at` on are those from `of` on.
struct Alias {
  Bytes at = 0, of = 0, bytes = 0;
};

class AliasedMemory {
 public:
  // `bytes` of addresses. All numbers are multiples of the device's granularity; what is an alias
  // is one of bytes that are none, and of once. Its content is not initialized. Throws
  // Errc::argument where the device maps no memory, or where a number or an alias is none; and
  // Errc::memory.
  AliasedMemory(Device& device, int number, Bytes bytes, std::vector<Alias> aliases);
  ~AliasedMemory();
  AliasedMemory(const AliasedMemory&) = delete;
  AliasedMemory& operator=(const AliasedMemory&) = delete;

  std::byte* base() const { return base_; }
  Bytes bytes() const { return bytes_; }        // of addresses
  Bytes physical() const { return physical_; }  // of memory
  std::size_t mappings() const { return mappings_; }

 private:
  Device& device_;
  Bytes bytes_, physical_ = 0;
  std::size_t mappings_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace tonari
