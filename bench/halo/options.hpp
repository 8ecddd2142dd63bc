// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench_halo.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"

namespace bench::halo {

struct Options : CommonOptions {  // max_time: per size, half of it for exchanges and half for steps
  std::vector<long long> sizes{64};  // own cells of a rank's subdomain along each dimension
  long long ghost = 8;
  long long brick = 8;                 // cells along each dimension: 4 or 8
  long long page = 0;                  // bytes; 0: the system's
  int points = 7;                      // of the stencil: 7, 125, or 0 for none
  std::vector<std::string> exchanges;  // names, or storage/name; empty: all
};

// Throws tonari::Error with a sentence. The same on all ranks.
Options parse_options(int argc, char** argv);
extern const char* const usage;

}  // namespace bench::halo
