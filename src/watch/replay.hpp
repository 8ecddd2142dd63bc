// SPDX-License-Identifier: BSD-3-Clause
// The exchanges of a program once more, after its end and with buffers of their own: by the MPI's
// messages and by tonari in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "watch/rehearsal.hpp"

namespace tonari::watch {

// A pattern of this rank. Its key is the same on ranks that have done the same; after the replay on
// all ranks that have exchanged with each other.
struct Candidate {
  std::uint64_t key = 0;
  double seconds = 0.0;  // of this rank in the program
  const Pattern* pattern = nullptr;
  bool collective = false;  // the program calls MPI_Alltoallv
  std::size_t parts = 0;    // how many patterns of a loop it brings together; 0: it is a pattern
  Replay replay;
};

// Collective over MPI_COMM_WORLD. Finds which patterns of the ranks belong together, and replays
// those that took the most time, at most `most` of them.
void replay_all(std::vector<Candidate>& mine, std::size_t most);

}  // namespace tonari::watch
