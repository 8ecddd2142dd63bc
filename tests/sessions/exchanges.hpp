// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace sessions {

// Exchanges of every kind, by this library. Frees all that it makes.
void with_tonari(MPI_Comm comm);

// Neighborhood collectives, by the MPI; frees: the communicator that it makes for them.
void with_mpi(MPI_Comm comm, bool frees);

// Whether communicators that no session makes are refused with a sentence.
bool refuses_without_mpi();

}  // namespace sessions
