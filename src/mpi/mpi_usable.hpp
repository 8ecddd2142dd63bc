// SPDX-License-Identifier: BSD-3-Clause
// Tells whether destructors can still give back to the MPI what they hold.
#pragma once

#include <mpi.h>

#include "memory/process.hpp"
#include "mpi/same_mpi.hpp"

namespace tonari {

// It is not usable after MPI_Finalize, which has freed everything, unless sessions go on. Nor is it
// in a child made by fork(), whose calls would take part in the rank's communication.
inline bool mpi_usable() {
  int finalized = 0;
  return !in_forked_child() && MPI_Finalized(&finalized) == MPI_SUCCESS &&
         (!finalized || sessions_proved());
}

}  // namespace tonari
