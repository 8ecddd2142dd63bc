// SPDX-License-Identifier: BSD-3-Clause
// For calls without which a test cannot go on.
#pragma once

#include <tonari/tonari.h>

#include <cstdio>

#include "support/oracle.hpp"

namespace tonari::test {

inline void must(int code) {
  if (code == TONARI_SUCCESS) return;
  std::fprintf(stderr, "rank %d: %s\n", world_rank(), tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);  // the others would wait for this rank
}

}  // namespace tonari::test
