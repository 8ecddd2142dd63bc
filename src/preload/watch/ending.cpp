// SPDX-License-Identifier: BSD-3-Clause
// The end of a watched program: in MPI_Finalize, where all ranks still can exchange; in MPI_Abort;
// or by exit without either.
#include <unistd.h>

#include "preload/watch/records.hpp"
#include "preload/watch/watched_call.hpp"

namespace tonari::watch {
namespace {

constexpr std::size_t most_replayed = 12;

std::atomic<bool> written{false};
const pid_t process = getpid();

void close_all_epochs() {
  for (Watcher* thread : all_watchers()) thread->close_all();
}

void finish() {
  Ending ending{.finalized = true, .seconds = seconds_since_loaded()};
  stop_watching();
  written = true;
  PMPI_Comm_rank(MPI_COMM_WORLD, &ending.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ending.ranks);
  close_all_epochs();
  std::vector<Candidate> all = candidates();
  replay_all(all, most_replayed);
  write_records(ending, all);
}

// Other threads may still be in the program: their open exchanges are left out.
void give_up() {
  if (!watching() || written.exchange(true) || process != getpid()) return;
  stop_watching();
  write_records({.seconds = seconds_since_loaded()}, {});
}

__attribute__((destructor)) void at_exit() { give_up(); }

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

TONARI_WATCHED(Finalize, finalize, void) {
  TONARI_BEHIND(Finalize, finalize);
  if (watching()) finish();
  return real();
}

TONARI_WATCHED(Abort, abort_job, Handle comm, int code) {
  TONARI_BEHIND(Abort, abort_job);
  give_up();
  return real(comm, code);
}
