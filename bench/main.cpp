// tonari_bench: tonari beside MPI's own neighbourhood collectives and plain point to point, in one process, every result verified.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "runs.hpp"

namespace {

void write(const bench::Outcome& outcome, const std::string& file) {
  if (file.empty()) {
    std::cout << outcome.rows << std::flush;
    return;
  }
  std::ofstream out(file);
  out << outcome.rows << std::flush;
  if (!out) tonari::fail(tonari::Errc::file, "cannot write ", file);
}

int run(const bench::Options& options) {
  const bench::Place place(options);
  const bench::Outcome outcome = options.setup ? bench::time_setup(place, options) : bench::compare_exchanges(place, options);
  if (place.rank == 0) write(outcome, options.output);
  if (outcome.tonari_correct) return 0;
  if (place.rank == 0) std::fprintf(stderr, "tonari_bench: error: tonari delivered wrong data; see the rows with verified false\n");
  return 3;
}

// Arguments are the same on all ranks and tonari's errors are agreed on, so all ranks come here or none; only memory can run out on one alone.
int run_and_complain(int argc, char** argv, int rank) {
  try {
    const bench::Options options = bench::parse_options(argc, argv);
    if (!options.help) return run(options);
    if (rank == 0) std::fputs(bench::usage, stdout);
    return 0;
  } catch (const tonari::Error& error) {
    if (rank == 0) std::fprintf(stderr, "tonari_bench: error: %s\n", error.what());
    return error.code() == tonari::Errc::file ? MPI_Abort(MPI_COMM_WORLD, 1), 1 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tonari_bench: error: rank %d: %s\n", rank, error.what());
    return MPI_Abort(MPI_COMM_WORLD, 1), 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // They would override what the candidates ask for.
  for (const char* name : {"TONARI_ALGORITHM", "TONARI_CHANNEL", "TONARI_TUNE", "TONARI_PORTS"}) unsetenv(name);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = run_and_complain(argc, argv, rank);
  MPI_Finalize();
  return status;
}
