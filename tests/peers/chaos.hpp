// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of one kind while one rank is killed, or stopped and resumed, at random times; or is
// stopped once (halt), or comes late.
#pragma once

#include "peers/signals.hpp"

namespace tonari::test {

struct Chaos {
  std::string kind = "alltoall", deed = "kill";
  int words = 1, exchanges = 200;
  std::uint64_t seed = 1;
  // microseconds, in which it is killed, or until it is stopped again, or by which it is late
  int within = 20'000;

  Deed what_to_do() const;
};

// In each rank, after MPI_Init. Returns what main returns.
int run_chaos(const Chaos& chaos, const RankBesideAnother& beside);

}  // namespace tonari::test
