// SPDX-License-Identifier: BSD-3-Clause
#include "peers/chaos.hpp"

#include <mpi.h>
#include <tonari/tonari.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "peers/at_call.hpp"
#include "peers/exchanges.hpp"
#include "peers/report.hpp"
#include "peers/verified_blocks.hpp"

namespace tonari::test {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs until an error, or so many exchanges in all.
void run_until(VerifiedExchange& exchange, int end, PeerReport& report) {
  for (int k = report.exchanges; k < end && report.code == TONARI_SUCCESS; ++k) {
    const double begin = now();
    report.code = exchange.run(k);
    report.seconds = now() - begin;
    if (report.code != TONARI_SUCCESS)
      report.sentence = tonari_last_error();
    else
      report.wrong += exchange.wrong(k), ++report.exchanges;
  }
}

}  // namespace

Deed Chaos::what_to_do() const {
  if (deed == "kill" || deed == "hung") return kill_within(seed, within);
  if (deed.ends_with("-halt")) return resume_when_stopped(within);
  if (deed == "halt") return stop_for(within);
  if (deed == "stop") return stop_now_and_then(seed, within, within);
  return nullptr;
}

namespace {

// A report of what could not be made.
void note(PeerReport& report, const NotMade& error) {
  report.code = error.code;
  report.sentence = error.sentence;
}

bool befalls_while_made(const std::string& deed) {
  return deed.starts_with("making-") || deed.starts_with("remaking-") || deed.starts_with("first-");
}

void befall(const Chaos& chaos) {
  const Fate fate = chaos.deed.ends_with("-die")    ? Fate::die
                    : chaos.deed.ends_with("-halt") ? Fate::halt
                                                    : Fate::spin;
  if (!let_befall(fate, chaos.call, chaos.calls))
    std::fprintf(stderr, "calls of %s are not watched\n", chaos.call.c_str()), _exit(2);
}

void make_once(const Chaos& chaos, PeerReport& report) {
  try {
    const double begin = now();
    auto exchange = make_exchange(chaos.kind, chaos.words);
    report.seconds = now() - begin;
    run_until(*exchange, 1, report);
  } catch (const NotMade& error) {
    note(report, error);
  }
}

// For later exchanges.
void take_comm(MPI_Comm comm) {
  exchange_comm() = comm;
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

MPI_Comm without(bool victim) {
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, victim ? MPI_UNDEFINED : 0, 0, &others);
  return others;
}

// Makes, and exchanges once: the first time of all, or with another communicator; then again, of
// those who are left.
int run_making(const Chaos& chaos, const RankBesideAnother& beside, bool victim,
               PeerReport& report) {
  const bool again = chaos.deed.starts_with("remaking");
  MPI_Comm others = MPI_COMM_NULL;
  if (again || chaos.deed.starts_with("making")) {
    make_once(chaos, report);
    MPI_Comm next = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    take_comm(next);
    if (again) others = without(victim);
    report.exchanges = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (victim) beside.say_go();
  if (victim && chaos.deed.ends_with("-late"))
    wait_for_go(chaos.within);
  else if (victim)
    befall(chaos);
  make_once(chaos, report);
  if (again && report.code != TONARI_SUCCESS) {
    report.code = TONARI_SUCCESS;
    take_comm(others);
    make_once(chaos, report);
  }
  report.write();
  if (chaos.deed.ends_with("-die")) _exit(0);
  MPI_Finalize();
  return report.wrong > 0 || report.code != TONARI_SUCCESS;
}

}  // namespace

int run_chaos(const Chaos& chaos, const RankBesideAnother& beside) {
  int size = 1;
  PeerReport report;
  MPI_Comm_rank(MPI_COMM_WORLD, &report.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool victim =
      report.rank == static_cast<int>(chaos.seed % static_cast<std::uint64_t>(size));
  if (befalls_while_made(chaos.deed)) return run_making(chaos, beside, victim, report);
  auto exchange = make_exchange(chaos.kind, chaos.words);
  if (!exchange) return std::fprintf(stderr, "there is no kind %s\n", chaos.kind.c_str()), 2;
  run_until(*exchange, 3, report);
  MPI_Barrier(MPI_COMM_WORLD);  // from here on a rank may die
  const bool kills = chaos.deed == "kill" || chaos.deed == "hung";
  if (victim) chaos.deed == "late" ? wait_for_go(chaos.within) : beside.say_go();
  // it is stopped in here
  for (int k = 0; victim && chaos.deed == "halt" && k < 20; ++k) usleep(10'000);
  if (!victim && chaos.deed == "hung") befall(chaos);
  run_until(*exchange, kills ? 100'000'000 : chaos.exchanges, report);
  exchange->free();
  report.write();
  if (kills) _exit(0);  // the MPI would wait for the dead
  MPI_Finalize();
  return report.wrong > 0 || report.code != TONARI_SUCCESS;
}

}  // namespace tonari::test
