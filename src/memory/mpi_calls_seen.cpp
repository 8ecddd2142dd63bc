// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mpi_calls_seen.hpp"

namespace tonari {

MpiCallsSeen::Lasting MpiCallsSeen::look(double passed) {
  Lasting longest;
  for (std::size_t k = 0; k < most_mpi_marks; ++k) {
    const char* const call = mpi_mark(k).call.load(std::memory_order_acquire);
    const std::uint64_t number = mpi_mark(k).number.load(std::memory_order_relaxed);
    Seen& last = seen_[k];
    const bool same = call && number == last.number;
    last = {call ? number : 0, same ? last.seconds + passed : 0};
    if (same && last.seconds > longest.seconds) longest = {call, last.seconds};
  }
  return longest;
}

}  // namespace tonari
