// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/options.hpp"

#include <climits>

#include "base/error.hpp"
#include "inplace/exchange.hpp"

namespace bench::inplace {
using tonari::Errc;

namespace {

std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace

std::string usage() {
  return "tonari_bench_inplace [options], started by mpiexec: all-to-all exchanges in place, time "
         "and "
         "memory side by side\n"
         "  --total-bytes N    bytes of a rank's blocks together (1048576)\n"
         "  --sizes NAME       random (default): the size that two ranks exchange is uniformly "
         "random; equal\n"
         "  --seed N           of the random sizes (1)\n"
         "  --algorithms A,... " +
         list(known_algorithms()) +
         " (default: all but auto and one-shot)\n"
         "  --memory N,N,...   tonari_inplace_memory, one row each (65536,1048576,8388608)\n"
         "  --channel C,...    tonari_channel, one row each: auto (default), shared, p2p-packed\n"
         "  --general          also a redistribution whose send and receive sizes differ, beside "
         "MPI_Alltoallv\n"
         "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many "
         "seconds "
         "per kind of exchange (20)\n"
         "  --count            verify and measure memory only\n"
         "  --output FILE      where the JSON goes (standard output)\n";
}

namespace {

// MPI_Alltoallv has int displacements, here of 64-bit integers.
constexpr long long most_bytes = 8LL * INT_MAX;

bool is_equal(const std::string& word) {
  if (word != "random" && word != "equal")
    tonari::fail(Errc::argument, "--sizes is '", word, "'; it must be random or equal");
  return word == "equal";
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  read_options(argc, argv,
               {number("total-bytes", options.total_bytes, 1, most_bytes),
                {"sizes", [&](const std::string& word) { options.equal = is_equal(word); }},
                number("seed", options.seed, 0, UINT_MAX),
                names("algorithms", options.algorithms, known_algorithms(), "algorithm"),
                numbers("memory", options.memory, 0, most_bytes),
                names("channel", options.channels, {"auto", "shared", "p2p-packed"}, "channel"),
                flag("general", options.general),
                flag("count", options.count)},
               options);
  return options;
}

}  // namespace bench::inplace
