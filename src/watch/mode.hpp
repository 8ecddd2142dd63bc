// SPDX-License-Identifier: BSD-3-Clause
// Whether `tonari advise` watches this process: with the variable TONARI_ADVISE_REPORT, the name of
// a folder, from the program's first message until MPI_Finalize.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tonari::watch {

// Where records go; empty if nobody wants any.
const std::string& folder();

// -1: nobody has asked yet.
extern std::atomic<int> mode;
bool decide();

inline bool watching() {
  const int now = mode.load(std::memory_order_relaxed);
  return now < 0 ? decide() : now > 0;
}
void stop_watching();

// Time in units of the processor, which takes a third of the time that clock_gettime takes.
using Ticks = std::uint64_t;
inline Ticks ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  Ticks now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return static_cast<Ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}
// As measured since the library was loaded.
double seconds_per_tick();
double seconds_since_loaded();

}  // namespace tonari::watch
