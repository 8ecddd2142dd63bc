// SPDX-License-Identifier: BSD-3-Clause
// Memory that plays the part of a program's, so that exchanges can be tried without touching it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/hash.hpp"
#include "memory/address_span.hpp"
#include "memory/memory.hpp"

namespace tonari {

// More is not tried.
inline constexpr std::size_t most_shadow = std::size_t{1} << 29;

inline Memory zeroed_memory(std::size_t bytes) {
  Memory memory(bytes);
  std::fill_n(memory.data(), memory.bytes(), std::byte{0});
  return memory;
}
// For bytes of that span, all zero.
inline Memory memory_for(const AddressSpan& span) {
  return zeroed_memory(span.size() + cache_line);
}

// The address that plays the part of `address` when the bytes from span.low on lie in memory.
// Alignment within cache lines is kept.
inline void* stand_in(const void* address, const AddressSpan& span, const Memory& memory) {
  if (span.empty()) return const_cast<void*>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data()) + span.low % cache_line;
  return reinterpret_cast<void*>(base + (reinterpret_cast<std::uintptr_t>(address) - span.low));
}

// Different for each rank and byte, always the same.
inline void fill_as_rank(const Memory& memory, int rank) {
  std::uint64_t state = Hash().word(static_cast<std::uint64_t>(rank)).value();
  for (std::size_t k = 0; k < memory.bytes(); ++k) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    memory.data()[k] = static_cast<std::byte>(state >> 56);
  }
}

}  // namespace tonari
