// SPDX-License-Identifier: BSD-3-Clause
// Stores that go past the caches, as hand-written kernels use them. On x86 a release store that
// follows does not order them.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <cstdint>

#include "support/mpi_main.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tonari::test {

inline void stream(std::uint64_t* to, std::uint64_t value) {
#if defined(__x86_64__)
  _mm_stream_si64(reinterpret_cast<long long*>(to), static_cast<long long>(value));
#else
  *to = value;
#endif
}

// Each rank on a core of its own, where there are so many: between ranks that take turns on one
// core nothing is ever stale.
class OwnCore {
 public:
  OwnCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    int left = world_rank();
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&before_) >= world_size(); ++core)
      if (CPU_ISSET(core, &before_) && left-- == 0) move_to(core);
  }
  ~OwnCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  static void move_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
  }

  cpu_set_t before_;
};

// What round(1), round(2), ... found stale. Goes on for a second, however slow ranks that share
// a core may be, or until something is stale on a rank.
template <class Round>
long stale_in_rounds(Round round) {
  const OwnCore core;
  long stale = 0;
  int number = 0;
  const double end = MPI_Wtime() + 1;
  while (everywhere(stale == 0 && MPI_Wtime() < end))
    for (int k = 0; k < 1000; ++k) stale += round(++number);
  return stale;
}

}  // namespace tonari::test
