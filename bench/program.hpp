// The frame of a benchmark program: MPI around it, rows out of it, errors as one sentence.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"

namespace bench {

struct Outcome {
  std::vector<Row> rows;       // the same on all ranks
  bool tonari_correct = true;  // every exchange made by tonari delivered what it should
};

// [collective] Initializes and finalizes MPI. body gets the command line and this rank; its result
// is the exit status.
int run_program(const char* name, int argc, char** argv,
                int (*body)(int argc, char** argv, int rank));

// Writes the rows on rank 0 (an empty file name: to standard output); the exit status.
int conclude(const char* name, const Outcome& outcome, const std::string& file, int rank);

// The MPI that this was compiled against.
const char* mpi_name();
std::string mpi_version();

}  // namespace bench
