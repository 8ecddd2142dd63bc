// SPDX-License-Identifier: BSD-3-Clause
// A word of shared memory by which a rank tells others that it has left for good. It is 0 at first.
// Whoever sees that a rank has left also sees all that it did before. Whoever has read what it
// stored afterwards sees that it had left.
#pragma once

#include <atomic>
#include <cstdint>

namespace tonari {

inline void tell_left(std::uint64_t& word) {
  std::atomic_ref(word).store(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);  // before what the program stores from here
}
inline bool has_left(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire) != 0;
}
// Ask this behind a read of the rank's own memory, which may be its program's again.
inline bool had_left(std::uint64_t& word) {
  std::atomic_thread_fence(std::memory_order_acquire);
  return has_left(word);
}

}  // namespace tonari
