// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench_sparse.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"

namespace bench::sparse {

struct Options : CommonOptions {  // max_time: per size
  std::vector<long long> bytes{8, 1024, 65536};
  int targets = 6;
  unsigned seed = 1;
  std::vector<std::string> algorithms{"counts",    "dense", "plain-nbx",   "auto",
                                      "in-flight", "nbx",   "personalized"};
};

// Throws tonari::Error with a sentence. The same on all ranks.
Options parse_options(int argc, char** argv);
std::string usage();

}  // namespace bench::sparse
