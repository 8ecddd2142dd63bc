// SPDX-License-Identifier: BSD-3-Clause
// In place of an MPI, for what needs no more of it than to know that several threads may come by.
#include <mpi.h>

extern "C" int MPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

extern "C" int MPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

extern "C" int MPI_Query_thread(int* level) {
  *level = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}
