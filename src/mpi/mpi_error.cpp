// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mpi_error.hpp"

#include <string>

#include "base/error.hpp"

namespace tonari {

void fail_mpi(int code, const char* what) {
  char says[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, says, &length) != MPI_SUCCESS)
    fail(Errc::mpi, what, " failed with error code ", code);
  fail(Errc::mpi, what, " failed: ", std::string(says, length));
}

}  // namespace tonari
