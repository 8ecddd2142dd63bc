// SPDX-License-Identifier: BSD-3-Clause
// The frame of a benchmark program: MPI around it, rows out of it, errors as one sentence.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "report.hpp"

namespace bench {

struct Outcome {
  std::vector<Row> rows;       // the same on all ranks
  bool tonari_correct = true;  // every exchange made by tonari delivered what it should
};

// [collective] Initializes and finalizes MPI; body gets this rank, and its result is the exit
// status.
int run_program(const char* name, int argc, char** argv, const std::function<int(int)>& body);

// Writes the rows on rank 0 (an empty file name: to standard output); the exit status.
int conclude(const char* name, const Outcome& outcome, const std::string& file, int rank);

// [collective] All that main does.
template <class Options>
int run_comparison(const char* name, const char* usage, int argc, char** argv,
                   Options (*parse)(int, char**), Outcome (*compare)(const Options&, MPI_Comm)) {
  return run_program(name, argc, argv, [&](int rank) {
    const Options options = parse(argc, argv);
    if (!options.help)
      return conclude(name, compare(options, MPI_COMM_WORLD), options.output, rank);
    if (rank == 0) std::fputs(usage, stdout);
    return 0;
  });
}

}  // namespace bench
