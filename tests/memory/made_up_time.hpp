// SPDX-License-Identifier: BSD-3-Clause
// Time that passes by what a thread does, not by what the machine does beside it. For one source
// file of a program: it takes the place of functions of the C library.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tonari::test {

// As long as it lives, CLOCK_MONOTONIC goes on by 100 ns at each look, by 1 us at each yield, and
// by what this thread sleeps, without sleeping. For a process with one thread.
class MadeUpTime {
 public:
  MadeUpTime() { runs = true; }
  ~MadeUpTime() { runs = false; }
  MadeUpTime(const MadeUpTime&) = delete;
  MadeUpTime& operator=(const MadeUpTime&) = delete;

  static inline bool runs = false;
  static inline long nanoseconds = 1;
};

}  // namespace tonari::test

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using tonari::test::MadeUpTime;
  if (!MadeUpTime::runs || clock != CLOCK_MONOTONIC)
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  MadeUpTime::nanoseconds += 100;
  *time = {MadeUpTime::nanoseconds / 1'000'000'000, MadeUpTime::nanoseconds % 1'000'000'000};
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  using tonari::test::MadeUpTime;
  if (!MadeUpTime::runs) return static_cast<int>(syscall(SYS_nanosleep, time, left));
  MadeUpTime::nanoseconds += time->tv_sec * 1'000'000'000 + time->tv_nsec;
  return 0;
}

int sched_yield() noexcept {
  using tonari::test::MadeUpTime;
  if (!MadeUpTime::runs) return static_cast<int>(syscall(SYS_sched_yield));
  MadeUpTime::nanoseconds += 1000;
  return 0;
}
}
