// SPDX-License-Identifier: BSD-3-Clause
// Errors of tonari, as a program of MPI hears them.
#pragma once

#include <mpi.h>

namespace tonari::preload {

// MPI's error class for a code of tonari.
int class_of(int code);

// Prints tonari's sentence, calls the communicator's error handler, and returns MPI's error class.
// wrong: what the MPI finds wrong in this rank's arguments; MPI_SUCCESS: another rank's are wrong,
// or something else is, and the code tells the class.
int raise(MPI_Comm comm, int code, int wrong);

}  // namespace tonari::preload
