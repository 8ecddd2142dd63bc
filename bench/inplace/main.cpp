// tonari_bench_inplace: tonari's exchanges in place beside MPI's own, in one process: time and
// memory, every result verified.
#include <mpi.h>

#include <cstdio>

#include "planners/in_place/compare.hpp"

namespace {

constexpr const char* name = "tonari_bench_inplace";

int run(int argc, char** argv, int rank) {
  const bench::inplace::Options options = bench::inplace::parse_options(argc, argv);
  if (options.help) {
    if (rank == 0) std::fputs(bench::inplace::usage, stdout);
    return 0;
  }
  return bench::conclude(name, bench::inplace::compare(options, MPI_COMM_WORLD), options.output,
                         rank);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(name, argc, argv, run); }
