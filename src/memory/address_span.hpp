// SPDX-License-Identifier: BSD-3-Clause
// Which addresses some blocks reach.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace tonari {

// Addresses from the lowest byte to one past the highest.
struct AddressSpan {
  std::uintptr_t low = UINTPTR_MAX, high = 0;
  friend auto operator<=>(const AddressSpan&, const AddressSpan&) = default;
  bool empty() const { return high <= low; }
  std::size_t size() const { return empty() ? 0 : high - low; }
  void add(const AddressSpan& more) {
    low = std::min(low, more.low), high = std::max(high, more.high);
  }
};

}  // namespace tonari
