#include "inplace/options.hpp"

#include <getopt.h>

#include <algorithm>
#include <climits>

#include "base/error.hpp"
#include "inplace/exchange.hpp"
#include "words.hpp"

namespace bench::inplace {
using tonari::Errc;

const char* const usage =
    "tonari_bench_inplace [options], started by mpiexec: all-to-all exchanges in place, time and memory side by side\n"
    "  --total-bytes N    bytes of a rank's blocks together (1048576)\n"
    "  --sizes NAME       random (default): the size that two ranks exchange is uniformly random (paper 004, section 4.1); equal\n"
    "  --seed N           of the random sizes (1)\n"
    "  --algorithms A,... native-out-of-place, native-inplace, sendrecv-replace; tonari's auto, mpich-order, linear-shift, "
    "hierarchical-sets\n"
    "                     (default: all but auto)\n"
    "  --memory N,N,...   tonari_inplace_memory, one row each (65536,1048576,8388608)\n"
    "  --channel C,...    tonari_channel, one row each: auto (default), shared, p2p-packed\n"
    "  --general          also a redistribution whose send and receive sizes differ, beside MPI_Alltoallv\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds per kind of exchange (20)\n"
    "  --count            verify and measure memory only\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

enum Key { total_bytes = 256, sizes, seed, algorithms, memory, channel, general, rounds, max_time, count, output, help };

const option keys[] = {{"total-bytes", required_argument, nullptr, total_bytes},
                       {"sizes", required_argument, nullptr, sizes},
                       {"seed", required_argument, nullptr, seed},
                       {"algorithms", required_argument, nullptr, algorithms},
                       {"memory", required_argument, nullptr, memory},
                       {"channel", required_argument, nullptr, channel},
                       {"general", no_argument, nullptr, general},
                       {"rounds", required_argument, nullptr, rounds},
                       {"max-time", required_argument, nullptr, max_time},
                       {"count", no_argument, nullptr, count},
                       {"output", required_argument, nullptr, output},
                       {"help", no_argument, nullptr, help},
                       {nullptr, 0, nullptr, 0}};

// MPI_Alltoallv has int displacements, here of 64-bit integers.
constexpr long long most_bytes = 8LL * INT_MAX;

std::vector<std::string> names(const std::string& list, const std::vector<std::string>& known, const char* what) {
  std::vector<std::string> result = split(list, ',');
  for (const std::string& name : result) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    tonari::fail(Errc::argument, "unknown ", what, " '", name, "'; there are ", all);
  }
  if (result.empty()) tonari::fail(Errc::argument, "the list of ", what, "s is empty");
  return result;
}

bool is_equal(const std::string& word) {
  if (word != "random" && word != "equal") tonari::fail(Errc::argument, "--sizes is '", word, "'; it must be random or equal");
  return word == "equal";
}

std::vector<long long> budgets(const std::string& list) {
  std::vector<long long> result;
  for (const std::string& part : split(list, ',')) result.push_back(whole(part, 0, most_bytes, "--memory"));
  if (result.empty()) tonari::fail(Errc::argument, "--memory names no budget");
  return result;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  opterr = 0;
  for (int key; (key = getopt_long(argc, argv, "h", keys, nullptr)) != -1;) {
    switch (key) {
      case total_bytes:
        options.total_bytes = whole(optarg, 1, most_bytes, "--total-bytes");
        break;
      case sizes:
        options.equal = is_equal(optarg);
        break;
      case seed:
        options.seed = static_cast<unsigned>(whole(optarg, 0, UINT_MAX, "--seed"));
        break;
      case algorithms:
        options.algorithms = names(optarg, known_algorithms(), "algorithm");
        break;
      case memory:
        options.memory = budgets(optarg);
        break;
      case channel:
        options.channels = names(optarg, {"auto", "shared", "p2p-packed"}, "channel");
        break;
      case general:
        options.general = true;
        break;
      case rounds:
        options.rounds = static_cast<int>(whole(optarg, 1, 10'000'000, "--rounds"));
        break;
      case max_time:
        options.max_time = seconds(optarg, "--max-time");
        break;
      case count:
        options.count = true;
        break;
      case output:
        options.output = optarg;
        break;
      case 'h':
      case help:
        options.help = true;
        return options;
      default:
        tonari::fail(Errc::argument, "unknown or incomplete option '", argv[optind - 1], "'; --help lists them");
    }
  }
  if (optind < argc) tonari::fail(Errc::argument, "unexpected argument '", argv[optind], "'; --help lists the options");
  return options;
}

}  // namespace bench::inplace
