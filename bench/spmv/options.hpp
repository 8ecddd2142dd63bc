// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench_spmv.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"

namespace bench::spmv {

struct Options : CommonOptions {          // max_time: per kind of exchange and product
  std::string matrix;                     // folder with the files of `tonari partition`
  std::vector<std::string> kinds;         // forward, fields, reverse, rows, columns
  std::vector<std::string> candidates{};  // empty: all, those that do not apply left out
  std::string tune = "auto";              // tonari_tune of all that tonari makes
  bool count = false;                     // only verify and count messages; time nothing
};

// Throws tonari::Error with a sentence. The same on all ranks.
Options parse_options(int argc, char** argv);
extern const char* const usage;

}  // namespace bench::spmv
