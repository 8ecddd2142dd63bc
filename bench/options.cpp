#include "options.hpp"

#include <getopt.h>

#include "base/error.hpp"
#include "graph_patterns.hpp"
#include "words.hpp"

namespace bench {
using tonari::Errc;

const char* const usage =
    "tonari_bench --pattern moore:3:1 [options], started by mpiexec\n"
    "  patterns           moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2, a file of offsets; graphs: random:DENSITY, hotspot, hotspot-in,\n"
    "                     scale-free:LINKS, clique:RANKS, each with an optional :SEED\n"
    "  --op NAME          alltoall (default), alltoallv, alltoallw, allgather, allgatherv, allgatherw\n"
    "  --bytes N,N,...    bytes of a block; the largest block in v and w forms (default 8)\n"
    "  --algorithms A,... auto, linear, torus, torus-direct, additive-basis, joint-basis; on graphs auto, linear, colouring, tree,\n"
    "                     node-aware, common-neighbourhood; tonari-native, tonari-irecv, each also with a channel (torus/p2p-typed,\n"
    "                     linear/shared, linear/shared/view); native, native-nonblocking, native-persistent, irecv, irecv-persistent; floor; all\n"
    "  --dims 3x3x3       the grid (default: MPI_Dims_create)      --mesh  not periodic\n"
    "  --layout NAME      contiguous, strided (w forms), halo (alltoallw; its default)\n"
    "  --rounds N         timed rounds (200)      --warmup N  rounds before them (10)\n"
    "  --min-time S, --max-time S   seconds per block size: go on at least, at most so long (0, 20)\n"
    "  --tune MODE        tonari_tune of auto, and of the channel of forced algorithms: auto (default), off, model, measure\n"
    "  --setup            time the making of neighbourhoods and requests instead (paper 000, Table 2)\n"
    "  --count            verify and count messages only\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

enum Key { op = 256, pattern, bytes, algorithms, dims, mesh, layout, rounds, warmup, min_time, max_time, tune, setup, count, output, help };

const option keys[] = {{"op", required_argument, nullptr, op},
                       {"pattern", required_argument, nullptr, pattern},
                       {"bytes", required_argument, nullptr, bytes},
                       {"algorithms", required_argument, nullptr, algorithms},
                       {"dims", required_argument, nullptr, dims},
                       {"mesh", no_argument, nullptr, mesh},
                       {"layout", required_argument, nullptr, layout},
                       {"rounds", required_argument, nullptr, rounds},
                       {"warmup", required_argument, nullptr, warmup},
                       {"min-time", required_argument, nullptr, min_time},
                       {"max-time", required_argument, nullptr, max_time},
                       {"tune", required_argument, nullptr, tune},
                       {"setup", no_argument, nullptr, setup},
                       {"count", no_argument, nullptr, count},
                       {"output", required_argument, nullptr, output},
                       {"help", no_argument, nullptr, help},
                       {nullptr, 0, nullptr, 0}};

std::vector<long long> sizes(const std::string& text) {
  std::vector<long long> result;
  for (const std::string& part : split(text, ',')) result.push_back(whole(part, 1, 1 << 30, "--bytes"));
  if (result.empty()) tonari::fail(Errc::argument, "--bytes names no size");
  return result;
}

std::vector<int> extents(const std::string& text) {
  std::vector<int> result;
  for (const std::string& part : split(text, 'x')) result.push_back(static_cast<int>(whole(part, 1, 1 << 20, "an extent in --dims")));
  return result;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  std::string layout_word;
  opterr = 0;
  for (int key; (key = getopt_long(argc, argv, "h", keys, nullptr)) != -1;) {
    switch (key) {
      case op: options.operation = parse_operation(optarg); break;
      case pattern: options.pattern = optarg; break;
      case bytes: options.bytes = sizes(optarg); break;
      case algorithms: options.algorithms = split(optarg, ','); break;
      case dims: options.dims = extents(optarg); break;
      case mesh: options.mesh = true; break;
      case layout: layout_word = optarg; break;
      case rounds: options.rounds = static_cast<int>(whole(optarg, 1, 10'000'000, "--rounds")); break;
      case warmup: options.warmup = static_cast<int>(whole(optarg, 0, 1'000'000, "--warmup")); break;
      case min_time: options.min_time = seconds(optarg, "--min-time"); break;
      case max_time: options.max_time = seconds(optarg, "--max-time"); break;
      case tune: options.tune = optarg; break;
      case setup: options.setup = true; break;
      case count: options.count = true; break;
      case output: options.output = optarg; break;
      case 'h':
      case help: options.help = true; return options;
      default: tonari::fail(Errc::argument, "unknown or incomplete option '", argv[optind - 1], "'; --help lists them");
    }
  }
  if (optind < argc) tonari::fail(Errc::argument, "unexpected argument '", argv[optind], "'; --help lists the options");
  if (options.pattern.empty()) tonari::fail(Errc::argument, "--pattern is missing, for example --pattern moore:3:1");
  if (layout_word.empty() && is_graph(options.pattern)) layout_word = "contiguous";
  options.layout = parse_layout(layout_word, options.operation);
  return options;
}

}  // namespace bench
