// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/hung_mpi.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/wait/hang_report.hpp"
#include "engine/wait/known_processes.hpp"
#include "memory/mpi_calls_seen.hpp"
#include "memory/process.hpp"
#include "memory/wait_record.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

constexpr double look_every = 1;  // seconds
std::atomic<bool> watching{false}, world_ran{false}, ends_expected{false};
std::atomic<double> patience{10};  // TONARI_TIMEOUT

void sleep_for(double seconds) {
  const timespec t{static_cast<time_t>(seconds), 0};
  ::nanosleep(&t, nullptr);
}

std::string names_of(const std::vector<KnownProcess>& dead) {
  std::string names;
  for (const KnownProcess& one : dead)
    names += text(names.empty() ? "" : ", ", "rank ", one.rank, " (process ", one.process, ")");
  return names + (dead.size() == 1 ? " has ended" : " have ended");
}

// The launcher ends the job if it does so where a rank fails. Otherwise the others find this
// process ended.
[[noreturn]] void end_with_sentence(const MpiCallsSeen::Lasting& hung,
                                    const std::vector<KnownProcess>& dead) {
  const std::int32_t rank = known_rank();
  const std::string words = text("tonari: ", rank < 0 ? "" : text("rank ", rank, " "), "(process ",
                                 this_process(), ") ends, because it has been inside ", hung.call,
                                 " for ", static_cast<long long>(hung.seconds), " s and ",
                                 names_of(dead), ": the MPI may wait for that forever\n");
  std::fputs(words.c_str(), stderr);
  std::_Exit(EXIT_FAILURE);
}

void look(MpiCallsSeen& calls, double passed) {
  const MpiCallsSeen::Lasting hung = calls.look(passed);
  if (!hung.call) return;
  tell_of_call(hung.call, hung.seconds);
  if (hung.seconds < patience || ends_expected) return;
  std::vector<KnownProcess> dead = known_processes();
  // Where sessions run alone, nothing tells that a rank ends as it should: the launcher's ranks
  // may.
  std::erase_if(dead, [](const KnownProcess& other) {
    return !other.ended || !(world_ran || other.connected);
  });
  if (!dead.empty()) end_with_sentence(hung, dead);
}

void watch() {
  MpiCallsSeen calls;
  for (double last = steady_seconds();;) {
    sleep_for(look_every);
    const double now = steady_seconds();
    // all threads of a process that was stopped have waited as long
    (void)error_of([&] { look(calls, std::min(now - last, 2 * look_every)); });
    last = now;
  }
}

// It gets no signal that is meant for the program.
void start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::optional<Error> refused = error_of([] { std::thread(watch).detach(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused) watching = false;
}

}  // namespace

void watch_for_hangs() noexcept {
  patience = timeout_in_environment();
  if (world_runs()) world_ran = true;
  if (!watching.exchange(true)) start_thread();
}

void expect_ends() noexcept { ends_expected = true; }

}  // namespace tonari
