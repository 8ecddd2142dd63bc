/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank sends blocks of more than 2^31 elements to itself, with large counts (MPI 4): by
 * blocking, non-blocking and persistent calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR, GATHER, BEGUN, PERSISTENT, WAYS };

int main(int argc, char** argv) {
  const MPI_Count count = ((MPI_Count)1 << 31) + 4099;
  const MPI_Aint at = 0;
  const int self = 0;
  MPI_Comm comm;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  unsigned char *from = malloc(count), *to = calloc(count, 1);
  for (MPI_Count k = 0; k < count; ++k) from[k] = (unsigned char)(k % 251);
  for (int way = 0; way < WAYS; ++way) {
    memset(to, 0, count);
    if (way == VECTOR) {
      MPI_Neighbor_alltoallv_c(from, &count, &at, MPI_BYTE, to, &count, &at, MPI_BYTE, comm);
    } else if (way == GATHER) {
      MPI_Neighbor_allgather_c(from, count, MPI_BYTE, to, count, MPI_BYTE, comm);
    } else if (way == BEGUN) {
      MPI_Ineighbor_alltoall_c(from, count, MPI_BYTE, to, count, MPI_BYTE, comm, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
      MPI_Neighbor_alltoallv_init_c(from, &count, &at, MPI_BYTE, to, &count, &at, MPI_BYTE, comm,
                                    MPI_INFO_NULL, &r);
      MPI_Start(&r), MPI_Wait(&r, MPI_STATUS_IGNORE);
      MPI_Request_free(&r);
    }
    if (memcmp(from, to, count) == 0) continue;
    fprintf(stderr, "huge: a wrong block in way %d\n", way);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_free(&comm);
  free(from), free(to);
  MPI_Finalize();
  return 0;
}
