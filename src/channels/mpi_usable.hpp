// Whether what destructors give back to the MPI can be given back.
#pragma once

#include <mpi.h>

#include "memory/process.hpp"

namespace tonari {

// Not after MPI_Finalize, which has freed all of it, nor in a child made by fork(): its calls would
// take part in the rank's communication.
inline bool mpi_usable() {
  int finalized = 0;
  return !in_forked_child() && MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

}  // namespace tonari
