// tonari_bench_spmv: exchanges for sparse matrix-vector products, and whole products: tonari's
// vectors and alltoallv beside MPI's own and plain messages, in one process.
#include <mpi.h>

#include <cstdio>

#include "spmv/compare.hpp"

namespace {

constexpr const char* name = "tonari_bench_spmv";

int run(int argc, char** argv, int rank) {
  const bench::spmv::Options options = bench::spmv::parse_options(argc, argv);
  if (options.help) {
    if (rank == 0) std::fputs(bench::spmv::usage, stdout);
    return 0;
  }
  return bench::conclude(name, bench::spmv::compare(options, MPI_COMM_WORLD), options.output, rank);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(name, argc, argv, run); }
