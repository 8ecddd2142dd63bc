// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks, by the MPI and by tonari in turns.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "watch/epochs.hpp"

namespace tonari::watch {

using Messages = std::vector<Message>;

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

// Collective over comm, which returns errors: what these messages cost, those of this rank.
// collective: beside MPI_Alltoallv instead of messages, the same on all ranks. seconds: how long it
// may take, on the first rank.
Replay measured(const Messages& messages, bool collective, double seconds, MPI_Comm comm);

}  // namespace tonari::watch
