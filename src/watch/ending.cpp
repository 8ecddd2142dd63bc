// SPDX-License-Identifier: BSD-3-Clause
// The end of a watched program: in MPI_Finalize, where all ranks still can exchange; in MPI_Abort;
// or by exit without either.
#include <unistd.h>

#include "watch/records.hpp"
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

constexpr std::size_t most_replayed = 24;

std::atomic<bool> written{false};
const pid_t process = getpid();

// Where the MPI runs: after it nobody can ask.
Ending ending(bool finalized) {
  Ending now{.finalized = finalized, .seconds = seconds_since_loaded()};
  int begun = 0, over = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&over);
  if (!begun || over) return now;
  PMPI_Comm_rank(MPI_COMM_WORLD, &now.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &now.ranks);
  return now;
}

bool mpi_ran() {
  int begun = 0;
  PMPI_Initialized(&begun);
  return begun != 0;
}

void finish() {
  Ending now = ending(true);
  stop_watching();
  written = true;
  for (Watcher* thread : all_watchers()) thread->close_all();
  join_threads();
  for (Watcher* thread : all_watchers()) thread->finish_loops();
  now.node = node_of(MPI_COMM_WORLD);
  std::vector<Candidate> all = candidates();
  replay_all(all, most_replayed);
  write_records(now, all_watchers(), all);
}

// Where there are several threads, they may still be in the program: then there are no loops.
// Shells and scripts that start a program load this library, too, and are no ranks.
void give_up() {
  if (!watching() || written.exchange(true) || process != getpid()) return;
  stop_watching();
  if (!mpi_ran()) return;
  const std::vector<Watcher*> threads = all_watchers();
  if (threads.size() != 1) return write_records(ending(false), {}, {});
  threads.front()->close_all();
  threads.front()->finish_loops();
  std::vector<Candidate> all = candidates();
  for (Candidate& one : all) one.replay.why = "the program did not come to MPI_Finalize";
  write_records(ending(false), threads, all);
}

int finalize(const Called<int()>& called) {
  if (watching()) finish();
  return called.real();
}

int abort_job(const Called<int(Handle, int)>& called, Handle comm, int code) {
  give_up();
  return called.real(comm, code);
}

__attribute__((destructor)) void at_exit() { give_up(); }

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

TONARI_WATCHED(MPI_Finalize, (), finalize(called));
TONARI_WATCHED(MPI_Abort, (Handle comm, int code), abort_job(called, comm, code));
