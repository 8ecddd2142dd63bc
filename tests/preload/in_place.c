/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all with MPI_IN_PLACE, between all ranks. */
#include "unmodified.h"

#include <stddef.h>

enum { MOST_RANKS = 16, ROOM = 2 * MOST_ELEMENTS + GAP };

/* Both ranks of a pair have as many elements for each other. */
static int between(int a, int b, int round) { return (a + b + round) % MOST_ELEMENTS; }

static void in_place_once(MPI_Comm comm, int rank, int ranks, form how, int round) {
  long all[MOST_RANKS * ROOM];
  count number[MOST_RANKS];
  place at[MOST_RANKS], bytes[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS], holes;
  const edges e = {.rank = rank};
  const int step = how == ALLTOALLW ? 2 : 1, room = how == ALLTOALL ? REGULAR : ROOM;
  MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &holes);
  MPI_Type_commit(&holes);
  for (int k = 0; k < MOST_RANKS * ROOM; ++k) all[k] = UNTOUCHED;
  for (int r = 0; r < ranks; ++r) {
    number[r] = how == ALLTOALL ? REGULAR : between(rank, r, round);
    at[r] = (how == ALLTOALL ? r : ranks - 1 - r) * room, bytes[r] = at[r] * (place)sizeof(long);
    types[r] = holes;
    for (int k = 0; k < number[r]; ++k) all[at[r] + k * step] = payload(rank, r, k, round);
  }
  if (how == ALLTOALL)
    WIDTH(MPI_Alltoall)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, REGULAR, MPI_LONG, comm);
  else if (how == ALLTOALLV)
    WIDTH(MPI_Alltoallv)(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, number, at, MPI_LONG,
                         comm);
  else
    WIDTH(MPI_Alltoallw)(MPI_IN_PLACE, NULL, NULL, NULL, all, number, bytes, types, comm);
  for (int r = 0; r < ranks; ++r)
    for (int k = 0; k < room; ++k) {
      const int ours = k % step == 0 && k / step < number[r];
      const long should = ours ? payload(r, rank, k / step, round) : UNTOUCHED;
      if (all[at[r] + k] != should) fail(&e, "in place", r, k, all[at[r] + k], should);
    }
  MPI_Type_free(&holes);
}

static void in_place_on(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int round = 0; round < ROUNDS; ++round)
    for (form how = ALLTOALL; how <= ALLTOALLW; ++how) in_place_once(comm, rank, ranks, how, round);
}

void in_place(void) {
  int rank, ranks;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long out[MOST_RANKS], in[MOST_RANKS];
  for (int r = 0; r < ranks; ++r) out[r] = payload(rank, r, 0, 0);
  WIDTH(MPI_Alltoall)(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
  const edges e = {.rank = rank};
  for (int r = 0; r < ranks; ++r)
    if (in[r] != payload(r, rank, 0, 0)) fail(&e, "alltoall", r, 0, in[r], payload(r, rank, 0, 0));
  in_place_on(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  in_place_on(half);
  MPI_Comm_free(&half);
}
