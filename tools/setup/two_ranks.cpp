// SPDX-License-Identifier: BSD-3-Clause
// Succeeds if it is one of exactly two ranks of a working MPI.
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0, ranks = 0, one = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return size == 2 && ranks == 2 ? 0 : 1;
}
