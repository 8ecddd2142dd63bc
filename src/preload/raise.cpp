// SPDX-License-Identifier: BSD-3-Clause
#include "preload/raise.hpp"

#include <tonari/tonari.h>

#include <cstdio>

#include "mpi/last_words.hpp"

namespace tonari::preload {

int class_of(int code) {
  switch (code) {
    case TONARI_ERR_MISMATCH:
      return MPI_ERR_TRUNCATE;
    case TONARI_ERR_OVERFLOW:
      return MPI_ERR_COUNT;
    case TONARI_ERR_BUFFERS:
      return MPI_ERR_BUFFER;
    case TONARI_ERR_MEMORY:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_OTHER;
  }
}

namespace {

// Any handler may, also MPI_ERRORS_ABORT and those of the program; all but this one.
bool may_abort(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  const bool returns = handler == MPI_ERRORS_RETURN;
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  return !returns;
}

}  // namespace

int raise(MPI_Comm comm, int code, int wrong) {
  if (may_abort(comm))
    say_before_abort(tonari_last_error());
  else
    std::fprintf(stderr, "tonari: error: %s\n", tonari_last_error());
  const int error = wrong == MPI_SUCCESS ? class_of(code) : wrong;
  PMPI_Comm_call_errhandler(comm, error);
  return error;
}

}  // namespace tonari::preload
