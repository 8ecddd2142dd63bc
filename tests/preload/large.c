/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighborhood collectives with large counts (MPI 4), on a closed line of three ranks or more.
 * Payloads differ by rank, block, element and round. `large huge` sends a block of more than 2^31
 * elements to itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char* what, long is, long should) {
  fprintf(stderr, "large: %s: %ld, not %ld\n", what, is, should);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long payload(int rank, int block, int k, int round) {
  return ((rank * 2L + block) * 8 + k) * 64 + round;
}

enum { ROOM = 4 };
static MPI_Comm line;
static int rank, peers[2];
static long out[2 * ROOM], in[2 * ROOM];

/* Block 0 comes from the left, which sent it as its block 1; gathered ones are all block 0. */
static void check(const char* what, int gathers, int round) {
  for (int j = 0; j < 2; ++j)
    for (int k = 0; k < ROOM; ++k) {
      const long should = k < 3 ? payload(peers[j], gathers ? 0 : 1 - j, k, round) : -7;
      if (in[j * ROOM + k] != should) wrong(what, in[j * ROOM + k], should);
    }
}

static void begin(int round) {
  for (int k = 0; k < 2 * ROOM; ++k) out[k] = payload(rank, k / ROOM, k % ROOM, round), in[k] = -7;
}

static void all_forms(int round) {
  const MPI_Count counts[2] = {3, 3};
  const MPI_Aint at[2] = {0, ROOM}, bytes[2] = {0, ROOM * sizeof(long)};
  const MPI_Datatype types[2] = {MPI_LONG, MPI_LONG};
  MPI_Datatype three, block;
  MPI_Type_contiguous(3, MPI_LONG, &three);
  MPI_Type_create_resized(three, 0, ROOM * sizeof(long), &block);
  MPI_Type_commit(&block);
  begin(round), MPI_Neighbor_alltoall_c(out, 1, block, in, 1, block, line);
  check("alltoall", 0, round);
  begin(round);
  MPI_Neighbor_alltoallv_c(out, counts, at, MPI_LONG, in, counts, at, MPI_LONG, line);
  check("alltoallv", 0, round);
  begin(round);
  MPI_Neighbor_alltoallw_c(out, counts, bytes, types, in, counts, bytes, types, line);
  check("alltoallw", 0, round);
  begin(round), MPI_Neighbor_allgather_c(out, 3, MPI_LONG, in, 1, block, line);
  check("allgather", 1, round);
  begin(round);
  MPI_Neighbor_allgatherv_c(out, 3, MPI_LONG, in, counts, at, MPI_LONG, line);
  check("allgatherv", 1, round);
  MPI_Type_free(&block), MPI_Type_free(&three);
}

/* One rank, and one edge to itself. */
static void huge(void) {
  const MPI_Count count = ((MPI_Count)1 << 31) + 4099;
  const MPI_Aint at = 0;
  const int self = 0;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  unsigned char *from = malloc(count), *to = calloc(count, 1);
  for (MPI_Count k = 0; k < count; ++k) from[k] = (unsigned char)(k % 251);
  for (int form = 0; form < 2; ++form) {
    memset(to, 0, count);
    if (form == 0)
      MPI_Neighbor_alltoallv_c(from, &count, &at, MPI_BYTE, to, &count, &at, MPI_BYTE, comm);
    else
      MPI_Neighbor_allgather_c(from, count, MPI_BYTE, to, count, MPI_BYTE, comm);
    if (memcmp(from, to, count) != 0) wrong("a huge block", form, -1);
  }
  MPI_Comm_free(&comm);
  free(from), free(to);
}

int main(int argc, char** argv) {
  int ranks, closed = 1;
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    huge();
  } else {
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &closed, 0, &line);
    MPI_Comm_rank(line, &rank);
    MPI_Cart_shift(line, 0, 1, &peers[0], &peers[1]);
    for (int round = 0; round < 14; ++round) all_forms(round);
    MPI_Comm_free(&line);
  }
  MPI_Finalize();
  return 0;
}
