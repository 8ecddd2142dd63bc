// SPDX-License-Identifier: BSD-3-Clause
// The world of MPI_Init: MPI_COMM_WORLD, MPI_COMM_SELF, and the end in MPI_Finalize. A program with
// sessions (MPI_Session_init, from MPI 4.0 on) may never have one. Then nothing may touch the two
// communicators, and the MPI says nowhere whether it runs.
#pragma once

#include <mpi.h>

namespace tonari {

// From MPI_Init on to the end of MPI_Finalize.
inline bool world_runs() {
  int begun = 0, over = 0;
  return MPI_Initialized(&begun) == MPI_SUCCESS && begun && MPI_Finalized(&over) == MPI_SUCCESS &&
         !over;
}

// Has MPI_Finalize call `function` first thing, while everything still works: MPI deletes the
// attributes of MPI_COMM_SELF before all else. Returns false where there is no world, for which
// nothing is done. Throws Errc::mpi.
bool call_in_finalize(MPI_Comm_delete_attr_function* function);

}  // namespace tonari
