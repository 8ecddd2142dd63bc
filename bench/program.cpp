// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "base/setting_table.hpp"

namespace bench {

namespace {

void write(const std::vector<Row>& rows, const std::string& file) {
  if (file.empty()) {
    std::cout << rows << std::flush;
    return;
  }
  std::ofstream out(file);
  out << rows << std::flush;
  if (!out) tonari::fail(tonari::Errc::file, "cannot write ", file);
}

// Arguments are the same on all ranks and tonari's errors are agreed on, so all ranks come here or
// none; only memory can run out on one alone.
int run_and_complain(const char* name, int rank, const std::function<int(int)>& body) {
  try {
    return body(rank);
  } catch (const tonari::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s: error: %s\n", name, error.what());
    return error.code() == tonari::Errc::file ? MPI_Abort(MPI_COMM_WORLD, 1), 1 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: rank %d: %s\n", name, rank, error.what());
    return MPI_Abort(MPI_COMM_WORLD, 1), 1;
  }
}

}  // namespace

int run_program(const char* name, int argc, char** argv, const std::function<int(int)>& body) {
  // They would override what the candidates ask for.
  for (const tonari::Setting& row : tonari::all_settings())
    if (*row.key && *row.variable) unsetenv(row.variable);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = run_and_complain(name, rank, body);
  MPI_Finalize();
  return status;
}

int conclude(const char* name, const Outcome& outcome, const std::string& file, int rank) {
  if (rank == 0) write(outcome.rows, file);
  if (outcome.tonari_correct) return 0;
  if (rank == 0)
    std::fprintf(
        stderr, "%s: error: tonari delivered wrong data; see the rows with verified false\n", name);
  return 3;
}

}  // namespace bench
