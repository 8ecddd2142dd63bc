/* SPDX-License-Identifier: BSD-3-Clause
 * All ranks scatter to all, again and again, until rank 1 is killed. */
#include <petscvec.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char** argv) {
  Vec x, y;
  IS all;
  VecScatter scatter;
  PetscMPIInt rank, ranks;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 10, PETSC_DETERMINE, &x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 5 * ranks, &y));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 5 * ranks, 0, 2, &all));
  PetscCall(VecScatterCreate(x, all, y, NULL, &scatter));
  for (int step = 0; step < 500; ++step) {
    if (rank == 1 && step == 450) kill(getpid(), SIGKILL);
    PetscCall(VecScatterBegin(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
  }
  return 0;
}
