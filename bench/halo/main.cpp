// tonari_bench_halo: ghost exchanges of a 3-d grid in every storage beside what programs do with
// MPI alone, in one process (paper 001: Zhao et al. 2021, section 7).
#include <mpi.h>

#include <cstdio>

#include "halo/compare.hpp"

namespace {

constexpr const char* name = "tonari_bench_halo";

int run(int argc, char** argv, int rank) {
  const bench::halo::Options options = bench::halo::parse_options(argc, argv);
  if (options.help) {
    if (rank == 0) std::fputs(bench::halo::usage, stdout);
    return 0;
  }
  return bench::conclude(name, bench::halo::compare(options, MPI_COMM_WORLD), options.output, rank);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(name, argc, argv, run); }
