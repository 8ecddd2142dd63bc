// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/options.hpp"

#include <climits>

#include "sparse/ways.hpp"

namespace bench::sparse {

std::string usage() {
  std::string names;
  for (const std::string& name : known_algorithms()) names += (names.empty() ? "" : ", ") + name;
  return "tonari_bench_sparse [options], started by mpiexec: messages to ranks that do not expect "
         "them\n"
         "  --bytes N,N,...    of a message, rounded up to 8 (8,1024,65536)\n"
         "  --targets N        random ranks that each rank sends to (6)\n"
         "  --seed N           of these (1)\n"
         "  --algorithms A,... " +
         names +
         " (default: all but store-and-forward)\n"
         "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many "
         "seconds per size (20)\n"
         "  --output FILE      where the JSON goes (standard output)\n";
}

Options parse_options(int argc, char** argv) {
  Options options;
  read_options(
      argc, argv,
      {numbers("bytes", options.bytes, 1, INT_MAX), number("targets", options.targets, 0, INT_MAX),
       number("seed", options.seed, 0, UINT_MAX),
       names("algorithms", options.algorithms, known_algorithms(), "algorithm")},
      options);
  return options;
}

}  // namespace bench::sparse
