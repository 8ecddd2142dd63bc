// SPDX-License-Identifier: BSD-3-Clause
// Turns error codes of MPI into errors of tonari.
#pragma once

#include <mpi.h>

namespace tonari {

// Throws Errc::mpi with the name of the call and what MPI says about the code.
[[noreturn]] void fail_mpi(int code, const char* what);

inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) fail_mpi(code, what);
}

}  // namespace tonari
