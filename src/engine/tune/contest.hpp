// SPDX-License-Identifier: BSD-3-Clause
// Contests: exchanges are timed against each other, whatever they are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/context.hpp"
#include "engine/wait/exchange.hpp"
#include "select/evidence.hpp"

namespace tonari {

// The result of an exchange in a contest; the same on all ranks.
struct Standing {
  double seconds = 0;  // the largest over ranks, between lower quartile and median over rounds
  std::size_t rounds = 0;
  bool steady = false;    // the rounds took similar times
  bool finished = false;  // it was not dropped for being slow
};

// Starts it and waits for it. If that fails, other ranks that wait for this one's part hear of it.
void run_or_give_up(Exchange& exchange);

// Collective, together on comm: runs the exchanges in turns, round by round, until `budget` seconds
// are used (at least three rounds). Those that fall far behind leave. Null ones take no part, and
// are null on all ranks alike. between: what this rank does before each exchange, like a program's
// own work, which decides what lies in caches. It must not fail. If an exchange fails on some rank,
// all ranks throw its error, as soon as they have completed that exchange.
std::vector<Standing> time_in_turns(MPI_Comm comm, std::span<Exchange* const> exchanges,
                                    double budget, const std::function<void()>& between = {});

// Seconds for measuring at one init: rank 0's TONARI_TUNE_SECONDS, or else the mode's default.
// Collective.
double tune_seconds(MPI_Comm comm, Tune tune);

inline bool measures(Tune tune) { return tune == Tune::automatic || tune == Tune::measure; }

// Alternatives that no planner lists: kinds of halo exchanges, routes of vectors. The same on all
// ranks.
struct Alternatives {
  std::vector<std::string> names;  // the best guess first
  // Collective: prepares the k-th. Errors must occur on all ranks alike; Errc::memory and
  // Errc::algorithm say that it does not apply.
  std::function<void(std::size_t)> make;
  // Collective: the exchange to time for the k-th, which was made. It lives as long as that.
  std::function<Exchange&(std::size_t)> timed;
  std::string question = {};           // for wisdom: what the choice depends on
  std::function<void()> between = {};  // as for time_in_turns
  // Collective, before several are made to be measured; Errc::memory says that nothing can be.
  std::function<void()> prepare = [] {};
  double part = 0.5;              // of the time for measuring: each may have measured for itself
  int exchanges = 1;              // in one start of what is timed
  std::size_t native = SIZE_MAX;  // which of them is MPI's own collective, if one is
};

struct Decision : Evidence {
  std::size_t winner = 0;
  std::string details = {};  // lines for tonari_request_describe: what was compared
  std::vector<std::size_t> made = {};
  std::string question = {};  // online: the key under which starts remember the winner
};

// Where there is one way, or nobody wants to know which is fastest.
inline const Decision by_fixed_rule{{"fixed rule"}};

// Collective, together on the context's communicator. Makes what was remembered, or else all
// alternatives, and finds the fastest; online all that apply are left to choose from. Where nothing
// is to be measured, only the first is made.
// Throws the same on all ranks if none applies.
Decision decide(Context& context, Tune tune, const Alternatives& alternatives);

}  // namespace tonari
