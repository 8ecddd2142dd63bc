#include "planners/in_place/options.hpp"

#include <algorithm>
#include <climits>

#include "base/error.hpp"
#include "planners/in_place/exchange.hpp"
#include "words.hpp"

namespace bench::inplace {
using tonari::Errc;

const char* const usage =
    "tonari_bench_inplace [options], started by mpiexec: all-to-all exchanges in place, time and "
    "memory side by side\n"
    "  --total-bytes N    bytes of a rank's blocks together (1048576)\n"
    "  --sizes NAME       random (default): the size that two ranks exchange is uniformly random "
    "(paper 004, section 4.1); equal\n"
    "  --seed N           of the random sizes (1)\n"
    "  --algorithms A,... native-out-of-place, native-inplace, sendrecv-replace; tonari's auto, "
    "mpich-order, linear-shift, "
    "hierarchical-sets\n"
    "                     (default: all but auto)\n"
    "  --memory N,N,...   tonari_inplace_memory, one row each (65536,1048576,8388608)\n"
    "  --channel C,...    tonari_channel, one row each: auto (default), shared, p2p-packed\n"
    "  --general          also a redistribution whose send and receive sizes differ, beside "
    "MPI_Alltoallv\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds "
    "per kind of exchange (20)\n"
    "  --count            verify and measure memory only\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

// MPI_Alltoallv has int displacements, here of 64-bit integers.
constexpr long long most_bytes = 8LL * INT_MAX;

std::vector<std::string> names(const std::string& list, const std::vector<std::string>& known,
                               const char* what) {
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
  if (word != "random" && word != "equal")
    tonari::fail(Errc::argument, "--sizes is '", word, "'; it must be random or equal");
  return word == "equal";
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  read_options(argc, argv,
               {{"total-bytes",
                 [&](const std::string& word) {
                   options.total_bytes = whole(word, 1, most_bytes, "--total-bytes");
                 }},
                {"sizes", [&](const std::string& word) { options.equal = is_equal(word); }},
                {"seed",
                 [&](const std::string& word) {
                   options.seed = static_cast<unsigned>(whole(word, 0, UINT_MAX, "--seed"));
                 }},
                {"algorithms",
                 [&](const std::string& list) {
                   options.algorithms = names(list, known_algorithms(), "algorithm");
                 }},
                {"memory",
                 [&](const std::string& list) {
                   options.memory =
                       whole_numbers(list, 0, most_bytes, "--memory", "--memory names no budget");
                 }},
                {"channel",
                 [&](const std::string& list) {
                   options.channels = names(list, {"auto", "shared", "p2p-packed"}, "channel");
                 }},
                flag("general", options.general),
                flag("count", options.count)},
               options);
  return options;
}

}  // namespace bench::inplace
