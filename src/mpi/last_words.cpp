// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/last_words.hpp"

#include <time.h>

#include <cstdio>

namespace tonari {

void say_before_abort(const char* sentence) {
  std::fprintf(stderr, "tonari: error: %s\n", sentence);
  std::fflush(stderr);
  const timespec rest{0, 20'000'000};
  ::nanosleep(&rest, nullptr);
}

}  // namespace tonari
