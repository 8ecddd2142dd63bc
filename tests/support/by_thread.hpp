// SPDX-License-Identifier: BSD-3-Clause
// For exchanges that a thread drives (tonari_progress).
#pragma once

#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace tonari::test {

inline bool several_threads_may_call_mpi() {
  int provided = 0;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

inline int threads() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                        std::filesystem::directory_iterator()));
}

// As many as there are once so many are left. One that has ended is listed for a moment longer.
inline int threads_left(int expected) {
  for (int looks = 0; threads() != expected && looks < 100'000; ++looks) sched_yield();
  return threads();
}

// Whether it becomes true while the program calls nobody: f only looks at memory.
template <class F>
bool comes_true(F f) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (!f()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace tonari::test
