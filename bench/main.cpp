// tonari_bench: tonari beside MPI's own neighborhood collectives and plain point to point, in one
// process, every result verified.
#include <cstdio>

#include "runs.hpp"

namespace {

constexpr const char* name = "tonari_bench";

int run(int argc, char** argv, int rank) {
  const bench::Options options = bench::parse_options(argc, argv);
  if (options.help) {
    if (rank == 0) std::fputs(bench::usage, stdout);
    return 0;
  }
  const bench::Place place(options);
  const bench::Outcome outcome =
      options.setup ? bench::time_setup(place, options) : bench::compare_exchanges(place, options);
  return bench::conclude(name, outcome, options.output, place.rank);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(name, argc, argv, run); }
