#include "halo/options.hpp"

#include <getopt.h>

#include <algorithm>

#include "base/error.hpp"
#include "halo/exchange.hpp"
#include "words.hpp"

namespace bench::halo {
using tonari::Errc;

const char* const usage =
    "tonari_bench_halo [options], started by mpiexec: ghost exchanges of a periodic 3-d grid of doubles, side by side, and steps of a stencil with them\n"
    "  --size N,...       own cells of each rank's subdomain along each dimension (64)\n"
    "  --ghost N          width of the ghosts in cells (8)\n"
    "  --brick N          cells of a brick along each dimension: 4 or 8 (8)\n"
    "  --page BYTES       to whose multiples mapped regions are padded (the system's page)\n"
    "  --stencil S        7 (default), 125, or none: exchanges only\n"
    "  --exchanges E,...  names such as layout, or with their storage, mapped/layout (all)\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds per size (20)\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

enum Key { size = 256, ghost, brick, page, stencil, exchanges, rounds, max_time, output, help };

const option keys[] = {{"size", required_argument, nullptr, size},
                       {"ghost", required_argument, nullptr, ghost},
                       {"brick", required_argument, nullptr, brick},
                       {"page", required_argument, nullptr, page},
                       {"stencil", required_argument, nullptr, stencil},
                       {"exchanges", required_argument, nullptr, exchanges},
                       {"rounds", required_argument, nullptr, rounds},
                       {"max-time", required_argument, nullptr, max_time},
                       {"output", required_argument, nullptr, output},
                       {"help", no_argument, nullptr, help},
                       {nullptr, 0, nullptr, 0}};

constexpr long long most_cells = 1024;  // along a dimension: a message must not have more bytes than an int can count

std::vector<long long> sizes_of(const std::string& list) {
  std::vector<long long> sizes;
  for (const std::string& part : split(list, ',')) sizes.push_back(whole(part, 1, most_cells, "--size"));
  if (sizes.empty()) tonari::fail(Errc::argument, "--size names no size; for example 32,64");
  return sizes;
}

long long brick_of(const std::string& word) {
  if (word != "4" && word != "8") tonari::fail(Errc::argument, "--brick is '", word, "'; it must be 4 or 8, the sizes that the stencils are compiled for");
  return whole(word, 4, 8, "--brick");
}

int points_of(const std::string& word) {
  if (word == "none") return 0;
  if (word != "7" && word != "125") tonari::fail(Errc::argument, "--stencil is '", word, "'; it must be 7, 125 or none");
  return static_cast<int>(whole(word, 7, 125, "--stencil"));
}

std::vector<std::string> exchanges_of(const std::string& list) {
  const std::vector<std::string> names = split(list, ',');
  std::string all;
  for (const Kind& kind : kinds()) all += (all.empty() ? "" : ", ") + to_text(kind);
  for (const std::string& name : names)
    if (std::none_of(kinds().begin(), kinds().end(), [&](const Kind& kind) { return matches(kind, name); }))
      tonari::fail(Errc::argument, "unknown exchange '", name, "'; there are ", all);
  if (names.empty()) tonari::fail(Errc::argument, "--exchanges is empty; there are ", all);
  return names;
}

void check(const Options& options) {
  const auto in_bricks = [&](const char* what, long long cells) {
    if (cells % options.brick == 0) return;
    const long long more = cells / options.brick * options.brick + options.brick;
    tonari::fail(Errc::argument, what, " ", cells, " is no multiple of bricks of ", options.brick, " cells; take ", more, ", or a smaller --brick");
  };
  in_bricks("--ghost", options.ghost);
  for (const long long n : options.sizes) {
    in_bricks("--size", n);
    if (n < 2 * options.ghost)
      tonari::fail(Errc::argument, "--size ", n, " is less than two halos of ", options.ghost, " cells; make it at least ", 2 * options.ghost, ", or --ghost smaller");
  }
  if (options.page & (options.page - 1)) tonari::fail(Errc::argument, "--page is ", options.page, "; it must be a power of two");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  opterr = 0;
  for (int key; (key = getopt_long(argc, argv, "h", keys, nullptr)) != -1;) {
    switch (key) {
      case size:
        options.sizes = sizes_of(optarg);
        break;
      case ghost:
        options.ghost = whole(optarg, 1, most_cells, "--ghost");
        break;
      case brick:
        options.brick = brick_of(optarg);
        break;
      case page:
        options.page = whole(optarg, 0, 1LL << 30, "--page");
        break;
      case stencil:
        options.points = points_of(optarg);
        break;
      case exchanges:
        options.exchanges = exchanges_of(optarg);
        break;
      case rounds:
        options.rounds = static_cast<int>(whole(optarg, 1, 10'000'000, "--rounds"));
        break;
      case max_time:
        options.max_time = seconds(optarg, "--max-time");
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
  check(options);
  return options;
}

}  // namespace bench::halo
