/* SPDX-License-Identifier: BSD-3-Clause */
/* The octant of Traff et al. 2016, section 2, on any number of ranks: every rank sends one number
 * to the seven ranks of the positive octant of a 3-d
 * torus and receives one from the seven of the negative one. The two statements of the paper stand
 * in main as they are printed.
 *
 *     mpiexec -n 8 octant
 */
#include <stdio.h>
#include <stdlib.h>
#include <tonari/iso.h>

/* What rank `from` sends as block `i`. */
static double payload(int from, int i) { return 1000.0 * i + from; }

/* Blocks that are not the one of the rank at R - C^i. */
static int wrong_blocks(MPI_Comm cartcomm, const int octant[], const double recvbuf[]) {
  int dims[3], periods[3], me[3], wrong = 0;
  MPI_Cart_get(cartcomm, 3, dims, periods, me);
  for (int i = 0; i < 7; ++i) {
    int source, at[3];
    for (int j = 0; j < 3; ++j)
      at[j] = me[j] - octant[3 * i + j]; /* periodic: MPI_Cart_rank wraps */
    MPI_Cart_rank(cartcomm, at, &source);
    wrong += recvbuf[i] != payload(source, i);
  }
  return wrong;
}

int main(int argc, char** argv) {
  int ranks, rank, dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, wrong;
  double sendbuf[7], recvbuf[7];
  MPI_Comm cartcomm, isocomm;
  Iso_request request;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cartcomm);
  MPI_Comm_rank(cartcomm, &rank);
  for (int i = 0; i < 7; ++i) {
    sendbuf[i] = payload(rank, i);
    recvbuf[i] = -1;
  }

  /* As the paper prints it. */
  /* clang-format off */
int octant[] =
{1,0,0,0,1,0,0,0,1,1,1,0,1,0,1,0,1,1,1,1,1};
Iso_neighborhood_create(cartcomm,
    7,octant,&isocomm);
  /* clang-format on */

  Iso_neighbor_alltoall_init(sendbuf, 1, MPI_DOUBLE, recvbuf, 1, MPI_DOUBLE, isocomm, &request);
  Iso_start(&request); /* complete when it returns, as in the paper */

  wrong = wrong_blocks(cartcomm, octant, recvbuf);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, cartcomm);
  if (rank == 0)
    printf("octant on %d x %d x %d ranks: %s\n", dims[0], dims[1], dims[2],
           wrong ? "WRONG" : "all blocks right");

  Iso_request_free(&request);
  MPI_Comm_free(&isocomm);
  MPI_Comm_free(&cartcomm);
  MPI_Finalize();
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
