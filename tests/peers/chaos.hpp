// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of one kind while one rank is killed, or stopped and resumed, at random times; or is
// stopped once (halt), or comes late. Or the exchange is made, again and again, of a communicator
// that is new (making) or the first of all (first), while one rank dies in a call of the MPI, is
// stopped there, or comes late; and then by the others alone (remaking). Or all but one hang in
// such a call, and that one dies (hung).
#pragma once

#include "peers/signals.hpp"

namespace tonari::test {

struct Chaos {
  std::string kind = "alltoall", deed = "kill";
  int words = 1, exchanges = 200;
  std::uint64_t seed = 1;
  // where it befalls a rank: a function of the MPI, after so many calls of it (peers/at_call.hpp)
  std::string call;
  int calls = 0;
  // microseconds, in which it is killed, or until it is stopped again, or by which it is late
  int within = 20'000;

  Deed what_to_do() const;
};

// In each rank, after MPI_Init. Returns what main returns.
int run_chaos(const Chaos& chaos, const RankBesideAnother& beside);

}  // namespace tonari::test
