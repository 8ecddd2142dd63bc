// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "base/error.hpp"
#include "graph_patterns.hpp"
#include "planners/registry.hpp"

namespace bench {
using tonari::Errc;

namespace {

std::string list(tonari::AppliesTo pattern) {
  std::string names;
  for (const std::string& name : tonari::algorithm_names(pattern)) names += ", " + name;
  return names;
}

}  // namespace

std::string usage() {
  return "tonari_bench --pattern moore:3:1 [options], started by mpiexec\n"
         "  patterns           moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2, a file of "
         "offsets; graphs: random:DENSITY, hotspot, hotspot-in,\n"
         "                     scale-free:LINKS, clique:RANKS, each with an optional :SEED\n"
         "  --op NAME          alltoall (default), alltoallv, alltoallw, allgather, allgatherv, "
         "allgatherw\n"
         "  --bytes N,N,...    bytes of a block; the largest block in v and w forms (default 8)\n"
         "  --algorithms A,... auto" +
         list(tonari::AppliesTo::offsets) + ";\n                     on graphs auto" +
         list(tonari::AppliesTo::graphs) +
         ";\n                     one-shot, tonari-native, tonari-irecv, each also with a variant "
         "(balanced/both ends), a channel\n"
         "                     (torus/p2p-typed, linear/shared, linear/shared/view), "
         "start-with, two-requests, group or requests\n"
         "                     (auto/start-with); native, native-nonblocking, "
         "native-persistent, irecv,\n"
         "                     irecv-persistent; floor; all; forced: auto with each way that it "
         "may choose\n"
         "  --dims 3x3x3       the grid (default: MPI_Dims_create)      --mesh  not periodic\n"
         "  --layout NAME      contiguous, strided (w forms), halo (alltoallw; its default)\n"
         "  --rounds N         timed rounds (200)      --warmup N  rounds before them (10)\n"
         "  --lead-in N        exchanges of auto before all rounds, so that it has chosen (0)\n"
         "  --batch N          exchanges in a row in a round, between two barriers (0: as many as "
         "the clock can see)\n"
         "  --work US          microseconds that each rank computes before each exchange (0)\n"
         "  --min-time S, --max-time S   seconds per block size: go on at least, at most so long "
         "(0, "
         "20)\n"
         "  --tune MODE        tonari_tune of auto, and of the channel of forced algorithms: auto "
         "(default), online, off, model, measure\n"
         "  --setup            time the making of neighborhoods and requests instead\n"
         "  --count            verify and count messages only\n"
         "  --output FILE      where the JSON goes (standard output)\n";
}

namespace {

std::vector<int> extents(const std::string& text) {
  std::vector<int> result;
  for (const std::string& part : split(text, 'x'))
    result.push_back(static_cast<int>(whole(part, 1, 1 << 20, "an extent in --dims")));
  return result;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  std::string layout_word;
  read_options(
      argc, argv,
      {{"op", [&](const std::string& name) { options.operation = parse_operation(name); }},
       word("pattern", options.pattern),
       numbers("bytes", options.bytes, 1, 1 << 30),
       {"algorithms", [&](const std::string& list) { options.algorithms = split(list, ','); }},
       {"dims", [&](const std::string& list) { options.dims = extents(list); }},
       flag("mesh", options.mesh),
       word("layout", layout_word),
       number("warmup", options.warmup, 0, 1'000'000),
       number("lead-in", options.lead_in, 0, 1'000'000),
       number("batch", options.batch, 0, 1'000'000),
       number("work", options.work, 0, 1'000'000),
       duration("min-time", options.min_time),
       word("tune", options.tune),
       flag("setup", options.setup),
       flag("count", options.count)},
      options);
  if (options.help) return options;
  if (options.pattern.empty())
    tonari::fail(Errc::argument, "--pattern is missing, for example --pattern moore:3:1");
  if (layout_word.empty() && is_graph(options.pattern)) layout_word = "contiguous";
  options.layout = parse_layout(layout_word, options.operation);
  return options;
}

}  // namespace bench
