// SPDX-License-Identifier: BSD-3-Clause
#include "peers/chaos.hpp"

#include <mpi.h>
#include <tonari/tonari.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "peers/exchanges.hpp"
#include "peers/report.hpp"

namespace tonari::test {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// usleep may end early, by a signal
void sleep_for(int microseconds) {
  for (const double end = now() + 1e-6 * microseconds; now() < end;) usleep(10'000);
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
  if (deed == "kill") return kill_within(seed, within);
  if (deed == "halt") return stop_for(within);
  if (deed == "stop") return stop_now_and_then(seed, within, within);
  return nullptr;
}

int run_chaos(const Chaos& chaos, const RankBesideAnother& beside) {
  int size = 1;
  PeerReport report;
  MPI_Comm_rank(MPI_COMM_WORLD, &report.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto exchange = make_exchange(chaos.kind, chaos.words);
  if (!exchange) return std::fprintf(stderr, "there is no kind %s\n", chaos.kind.c_str()), 2;
  run_until(*exchange, 3, report);
  MPI_Barrier(MPI_COMM_WORLD);  // from here on a rank may die
  const bool kills = chaos.deed == "kill";
  const bool victim =
      report.rank == static_cast<int>(chaos.seed % static_cast<std::uint64_t>(size));
  if (victim) chaos.deed == "late" ? sleep_for(chaos.within) : beside.say_go();
  if (victim && chaos.deed == "halt") sleep_for(200'000);  // it is stopped in here
  run_until(*exchange, kills ? 100'000'000 : chaos.exchanges, report);
  exchange->free();
  report.write();
  if (kills) _exit(0);  // the MPI would wait for the dead
  MPI_Finalize();
  return report.wrong > 0 || report.code != TONARI_SUCCESS;
}

}  // namespace tonari::test
