// SPDX-License-Identifier: BSD-3-Clause
// Timing of several candidates side by side.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "statistics.hpp"

namespace bench {

struct Effort {
  int rounds;
  int warmup;
  double min_time;  // seconds
  double max_time;
  int look_every = 8;  // rounds between two agreements whether to go on
  // per candidate what is done each time before the clock starts; empty: nothing
  std::vector<std::function<void()>> before{};
  int batch = 0;    // exchanges in a row in a round; 0: as many as the clock can see
  double work = 0;  // seconds of the processor's that each rank computes before each exchange
};

struct Timing {
  std::vector<Spread> seconds;  // per candidate: of one exchange and its work, max over ranks
  int rounds = 0;
  int batch = 1;  // exchanges between two looks at the clock, the same for all
};

// [collective] Each round runs every candidate once, after a barrier each, in an order drawn anew:
// nobody always follows the same one.
Timing time_side_by_side(const std::vector<std::function<void()>>& candidates, const Effort& effort,
                         MPI_Comm comm);

// [collective] Half a round trip of 8 bytes between the first and the last rank, in seconds: on a
// quiet machine p90 is close to the median. Zeros if there is one rank.
Spread ping_pong(MPI_Comm comm);

// Ping-pongs before and after a measurement.
struct Quiet {
  Spread before, after;
  // More than the usual jitter within one look, or a changed machine between the two.
  bool disturbed() const {
    const auto noisy = [](const Spread& s) { return s.p90 > 2 * s.median; };
    return noisy(before) || noisy(after) ||
           std::max(before.median, after.median) > 1.5 * std::min(before.median, after.median);
  }
};

}  // namespace bench
