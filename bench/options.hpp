// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench.
#pragma once

#include <string>
#include <vector>

#include "operation.hpp"
#include "option_table.hpp"

namespace bench {

struct Options : CommonOptions {
  std::string pattern;
  Operation operation{tonari::Collective::alltoall, Form::regular};
  Layout layout = Layout::contiguous;
  std::vector<long long> bytes{8};
  std::vector<std::string> algorithms;  // empty: the usual ones, those that do not apply left out
  std::vector<int> dims;                // empty: as MPI_Dims_create likes it
  bool mesh = false;
  int warmup = 10;
  int lead_in = 0;      // exchanges of `auto` before the rounds
  int batch = 0;        // exchanges in a row in a round; 0: as many as the clock can see
  int work = 0;         // microseconds that each rank computes before each exchange
  double min_time = 0;  // seconds per block size
  std::string tune = "auto";
  bool setup = false;  // time the making of neighborhoods and requests instead
  bool count = false;  // only count messages and verify; time nothing
};

// Throws tonari::Error with a sentence. The same on all ranks.
Options parse_options(int argc, char** argv);
std::string usage();

}  // namespace bench
