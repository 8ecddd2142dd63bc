// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench_inplace.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"

namespace bench::inplace {

struct Options : CommonOptions {    // max_time: per kind of exchange
  long long total_bytes = 1 << 20;  // of every rank
  std::vector<std::string> algorithms{"native-out-of-place", "native-inplace", "sendrecv-replace",
                                      "mpich-order",         "linear-shift",   "hierarchical-sets"};
  std::vector<long long> memory{65536, 1048576, 8388608};  // budgets in bytes
  std::vector<std::string> channels{"auto"};
  bool equal = false;    // pairs exchange equal sizes instead of random ones
  bool general = false;  // also a redistribution whose send and receive sizes differ
  bool count = false;    // verify and weigh only; time nothing
  unsigned seed = 1;
};

// Throws tonari::Error with a sentence. The same on all ranks.
Options parse_options(int argc, char** argv);
std::string usage();

}  // namespace bench::inplace
