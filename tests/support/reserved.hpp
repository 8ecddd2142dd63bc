// SPDX-License-Identifier: BSD-3-Clause
// Reserved members of what the library fills in are 0, whatever was there before.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tonari::test {

// A structure as it may be before the library fills it in.
template <class Struct>
Struct with_all_bits_set() {
  static_assert(std::is_trivially_copyable_v<Struct>);
  Struct made;
  std::memset(&made, 0xff, sizeof made);
  return made;
}

template <class Struct>
bool reserved_is_zero(const Struct& filled) {
  return std::ranges::all_of(filled.reserved, [](auto word) { return word == 0; });
}

}  // namespace tonari::test
