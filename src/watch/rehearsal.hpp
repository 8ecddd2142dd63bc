// SPDX-License-Identifier: BSD-3-Clause
// One pattern, by the MPI's messages and by tonari in turns.
#pragma once

#include <mpi.h>

#include <string>

#include "watch/epochs.hpp"

namespace tonari::watch {

// Medians over rounds of the slowest rank.
struct Medians {
  double mpi = 0.0, tonari = 0.0;  // seconds
};

// What a pattern costs when nothing else goes on. Where its sizes change, the mean over some of
// them. tonari's is then the faster of two ways: a request after each change, whose making counts,
// or one request with room for the largest sizes.
struct Replay {
  Medians all;
  Medians first, second;  // of each half of the rounds
  double making = 0.0;    // seconds of making requests, as part of tonari's
  bool has_room = false;  // for the largest sizes
  double busy = 0.0;      // share of looks at which more wanted to run than there are processors
  std::string how = {};   // what tonari took
  std::string why = {};   // it was not replayed; empty: it was
};

// Collective over comm, which has the ranks of MPI_COMM_WORLD and returns errors. pattern: null if
// this rank has none. collective: compare with MPI_Alltoallv, if all ranks say so that have one.
// seconds: how long it may take, on the first rank.
Replay replayed(const Pattern* pattern, bool collective, double seconds, MPI_Comm comm);

}  // namespace tonari::watch
