// SPDX-License-Identifier: BSD-3-Clause
// One pattern, by the MPI's messages and by tonari in turns.
#pragma once

#include <mpi.h>

#include <string>

#include "watch/epochs.hpp"

namespace tonari::watch {

// What a pattern costs when nothing else goes on: medians over rounds of the slowest rank.
struct Replay {
  double mpi_seconds = 0.0, tonari_seconds = 0.0;
  std::string how;  // what tonari took
  std::string why;  // it was not replayed; empty: it was
};

// Collective over comm, which has the ranks of MPI_COMM_WORLD and returns errors. pattern: null if
// this rank has none. collective: compare with MPI_Alltoallv, if all ranks say so that have one.
Replay replayed(const Pattern* pattern, bool collective, MPI_Comm comm);

}  // namespace tonari::watch
