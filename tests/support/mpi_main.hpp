// SPDX-License-Identifier: BSD-3-Clause
// What tests ask about the run they are part of.
#pragma once

#include <mpi.h>

namespace tonari::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// True on all ranks if it is true on all of them. For conditions that decide about going on: a rank
// that left a test alone would leave the others waiting in it.
inline bool everywhere(bool here) {
  int all = here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace tonari::test
