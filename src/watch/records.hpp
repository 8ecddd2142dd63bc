// SPDX-License-Identifier: BSD-3-Clause
// What a process tells `tonari advise`: a file of JSON lines in the folder of TONARI_ADVISE_REPORT.
//
//   {"record": "rank", ...}     one: how long it ran, and whether it called MPI_Finalize
//   {"record": "loop", ...}     one for each loop of each thread, with its patterns
//   {"record": "packing", ...}  one for each place that packs
//   {"record": "neighborhood", ...}  one for each place that calls a neighborhood collective
#pragma once

#include <string>
#include <vector>

#include "watch/machine.hpp"
#include "watch/replay.hpp"

namespace tonari::watch {

// Patterns that came often enough, by keys that are the same on all ranks of one program: the place
// of the loop, the size of the communicator, the number of the thread, and the pattern's place
// among the loop's own in the order in which they came first.
std::vector<Candidate> candidates();

struct Ending {
  int rank = -1, ranks = 0;  // -1: not known
  bool finalized = false;
  double seconds = 0.0;  // since the library was loaded
  Node node = {};
};
// Once per process, of these threads.
void write_records(const Ending& ending, const std::vector<Watcher*>& threads,
                   const std::vector<Candidate>& replayed);

}  // namespace tonari::watch
