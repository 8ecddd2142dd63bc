// SPDX-License-Identifier: BSD-3-Clause
#include "halo/options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "halo/check_cubes.hpp"
#include "halo/exchange.hpp"

namespace bench::halo {
using tonari::Errc;

const char* const usage =
    "tonari_bench_halo [options], started by mpiexec: ghost exchanges of a periodic 3-d grid of "
    "doubles, side by side, and steps of a stencil with them\n"
    "  --size N,...       own cells of each rank's subdomain along each dimension (64)\n"
    "  --ghost N          width of the ghosts in cells (8)\n"
    "  --brick N          cells of a brick along each dimension: 4 or 8 (8)\n"
    "  --page BYTES       to whose multiples mapped regions are padded (the system's page)\n"
    "  --stencil S        7 (default), 125, or none: exchanges only\n"
    "  --exchanges E,...  names such as layout, or with their storage, mapped/layout (all)\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds "
    "per size (20)\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

// along a dimension: a message must not have more bytes than an int can count
constexpr long long most_cells = 1024;

long long brick_of(const std::string& word) {
  if (word != "4" && word != "8")
    tonari::fail(Errc::argument, "--brick is '", word,
                 "'; it must be 4 or 8, the sizes that the stencils are compiled for");
  return whole(word, 4, 8, "--brick");
}

int points_of(const std::string& word) {
  if (word == "none") return 0;
  if (word != "7" && word != "125")
    tonari::fail(Errc::argument, "--stencil is '", word, "'; it must be 7, 125 or none");
  return static_cast<int>(whole(word, 7, 125, "--stencil"));
}

std::vector<std::string> exchanges_of(const std::string& list) {
  const std::vector<std::string> names = split(list, ',');
  std::string all;
  std::vector<std::string> known;  // both ways to write each
  for (const Kind& kind : kinds()) {
    const std::string full = to_text(kind);
    all += (all.empty() ? "" : ", ") + full;
    known.insert(known.end(), {full, full.substr(full.find('/') + 1)});
  }
  for (const std::string& name : names)
    if (std::none_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return matches(kind, name); }))
      tonari::fail(Errc::argument, "unknown exchange '", name, "'; there are ", all,
                   tonari::did_you_mean(name, known));
  if (names.empty()) tonari::fail(Errc::argument, "--exchanges is empty; there are ", all);
  return names;
}

void check_options(const Options& options) {
  check_cubes(options.sizes, options.ghost, options.brick, ", or a smaller --brick");
  if (options.page & (options.page - 1))
    tonari::fail(Errc::argument, "--page is ", options.page, "; it must be a power of two");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  read_options(
      argc, argv,
      {numbers("size", options.sizes, 1, most_cells),
       number("ghost", options.ghost, 1, most_cells),
       {"brick", [&](const std::string& word) { options.brick = brick_of(word); }},
       number("page", options.page, 0, 1LL << 30),
       {"stencil", [&](const std::string& word) { options.points = points_of(word); }},
       {"exchanges", [&](const std::string& list) { options.exchanges = exchanges_of(list); }}},
      options);
  if (!options.help) check_options(options);
  return options;
}

}  // namespace bench::halo
