/* SPDX-License-Identifier: BSD-3-Clause
 * Exchanges whose partners, sizes and periods are drawn by a seed that all ranks have. Each kind is
 * what a kind of real programs does. Rank 0 prints what it drew, and every element is checked.
 *
 *     drawn KIND SEED STEPS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8, ROOM = 40000, LEVELS = 12 };

static unsigned long long state;
static int rank, ranks, wrong;
static unsigned char out[MOST][ROOM], in[MOST][ROOM];

static int draw(int least, int most) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return least + (int)((state >> 33) % (unsigned)(most - least + 1));
}

/* Shifts on a ring of ranks, none twice. */
static int draw_shifts(int* shifts) {
  const int most = ranks - 1 < MOST ? ranks - 1 : MOST, count = draw(1, most > 4 ? 4 : most);
  for (int k = 0; k < count; ++k) {
    int again = 1;
    while (again) {
      shifts[k] = draw(1, ranks - 1), again = 0;
      for (int b = 0; b < k; ++b) again |= shifts[b] == shifts[k];
    }
  }
  return count;
}

static unsigned char value(int from, int k, int step) {
  return (unsigned char)(from * 31 + k * 7 + step);
}

static void fill(int k, int bytes, int step) {
  memset(out[k], value(rank, k, step), (size_t)bytes);
}

static void check(int k, int from, int bytes, int step) {
  for (int e = 0; e < bytes; ++e) wrong |= in[k][e] != value(from, k, step);
}

/* Partners stay, sizes do not: as in molecular dynamics. Receives have room for more. */
static void exchange(int count, const int* shifts, const int* bytes, int step) {
  MPI_Request requests[2 * MOST];
  for (int k = 0; k < count; ++k) {
    fill(k, bytes[k], step);
    MPI_Irecv(in[k], ROOM, MPI_BYTE, (rank + ranks - shifts[k]) % ranks, k, MPI_COMM_WORLD,
              &requests[2 * k]); /* site: receive */
    MPI_Isend(out[k], bytes[k], MPI_BYTE, (rank + shifts[k]) % ranks, k, MPI_COMM_WORLD,
              &requests[2 * k + 1]); /* site: send */
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE); /* site: drawn */
  for (int k = 0; k < count; ++k) check(k, (rank + ranks - shifts[k]) % ranks, bytes[k], step);
}

static void tell(const char* kind, int count, int period, int least, int most) {
  if (rank == 0)
    printf("{\"kind\": \"%s\", \"messages\": %d, \"period\": %d, \"least\": %d, \"most\": %d}\n",
           kind, count, period, least, most);
}

static void sizes_change(int steps, int longest) {
  int shifts[MOST], bytes[MOST] = {0}, least = ROOM, most = 0;
  const int count = draw_shifts(shifts), period = longest > 1 ? draw(3, longest) : 1;
  for (int step = 0; step < steps; ++step) {
    if (step % period == 0)
      for (int k = 0; k < count; ++k) {
        bytes[k] = draw(1000, ROOM);
        least = bytes[k] < least ? bytes[k] : least, most = bytes[k] > most ? bytes[k] : most;
      }
    exchange(count, shifts, bytes, step);
  }
  tell("sizes", count, period, least, most);
}

/* Swaps of a step, two with each partner, whose sizes change all at once: as where domains are cut
 * in two along each dimension. */
static void swaps(int steps) {
  int shifts[MOST], bytes[MOST][2] = {{0}};
  const int count = draw_shifts(shifts), period = draw(3, 30);
  for (int step = 0; step < steps; ++step) {
    if (step % period == 0)
      for (int k = 0; k < 2 * count; ++k) bytes[k / 2][k % 2] = draw(1000, ROOM);
    for (int k = 0; k < 2 * count; ++k) exchange(1, &shifts[k / 2], &bytes[k / 2][k % 2], step);
  }
  tell("swaps", 2 * count, period, 1000, ROOM);
}

/* Sizes of a setup come once each, and then one comes for good: its sizes do not change. */
static void setup_first(int steps) {
  int shifts[MOST], bytes[MOST];
  const int count = draw_shifts(shifts), setups = draw(2, 6);
  for (int step = 0; step < setups + steps; ++step) {
    for (int k = 0; k < count; ++k) bytes[k] = step < setups ? 8 * (step + 1) : 5000;
    exchange(count, shifts, bytes, step);
  }
  tell("setup", count, setups, 8, 5000);
}

/* A large exchange after so many small ones, at the same place. */
static void seldom(int steps) {
  int shifts[MOST], small[MOST], large[MOST];
  const int count = draw_shifts(shifts), period = draw(12, 40);
  for (int k = 0; k < count; ++k) small[k] = 8, large[k] = ROOM - draw(0, 1) * 8;
  for (int step = 0; step < steps; ++step)
    exchange(count, shifts, step % period == period - 1 ? large : small, step);
  tell("seldom", count, period, 8, ROOM);
}

static void start_and_wait(int count, MPI_Request* requests) {
  MPI_Startall(count, requests);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); /* site: levels */
}

/* Persistent requests of many levels, all by one function: as in a hierarchy of grids. */
static void levels(int steps) {
  static MPI_Request requests[LEVELS][2 * MOST];
  int shifts[MOST], bytes[LEVELS];
  const int count = draw_shifts(shifts);
  for (int level = 0; level < LEVELS; ++level) {
    bytes[level] = (level + 1) * 100 + draw(0, 99);
    for (int k = 0; k < count; ++k) {
      MPI_Recv_init(in[k], bytes[level], MPI_BYTE, (rank + ranks - shifts[k]) % ranks, k,
                    MPI_COMM_WORLD, &requests[level][2 * k]);
      MPI_Send_init(out[k], bytes[level], MPI_BYTE, (rank + shifts[k]) % ranks, k, MPI_COMM_WORLD,
                    &requests[level][2 * k + 1]);
    }
  }
  for (int step = 0; step < steps; ++step)
    for (int level = 0; level < LEVELS; ++level) {
      for (int k = 0; k < count; ++k) fill(k, bytes[level], step);
      start_and_wait(2 * count, requests[level]);
      for (int k = 0; k < count; ++k)
        check(k, (rank + ranks - shifts[k]) % ranks, bytes[level], step);
    }
  for (int level = 0; level < LEVELS; ++level)
    for (int k = 0; k < 2 * count; ++k) MPI_Request_free(&requests[level][k]);
  tell("levels", count, 1, bytes[0], bytes[LEVELS - 1]);
}

/* A library's wait, called from two places. */
__attribute__((noinline)) static void wrapper(int count, const int* shifts, const int* bytes,
                                              int step) {
  exchange(count, shifts, bytes, step);
}

static void called_from(int steps) {
  int shifts[MOST], one[MOST], other[MOST];
  const int count = draw_shifts(shifts);
  for (int k = 0; k < MOST; ++k) one[k] = 2000, other[k] = 3000;
  wrapper(count, shifts, one, steps); /* as programs do that set something up */
  for (int step = 0; step < steps; ++step) {
    wrapper(count, shifts, one, step);   /* site: first caller */
    wrapper(count, shifts, other, step); /* site: second caller */
  }
  tell("callers", count, 1, 2000, 3000);
}

/* A neighborhood collective, which needs no advice. */
static void neighborhood(int steps) {
  MPI_Comm ring;
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int step = 0; step < steps; ++step) {
    MPI_Request request;
    fill(0, 100, step);
    MPI_Neighbor_alltoall(out[0], 100, MPI_BYTE, in[0], 100, MPI_BYTE, ring); /* site: neighbor */
    check(0, left, 100, step);
    MPI_Ineighbor_alltoall(out[0], 100, MPI_BYTE, in[0], 100, MPI_BYTE, ring,
                           &request); /* site: ineighbor */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(0, left, 100, step);
  }
  MPI_Comm_free(&ring);
  tell("neighborhood", 1, 1, 100, 100);
}

/* Communicators that are used once each, as for setting something up. */
static void used_once(int steps) {
  for (int step = 0; step < steps; ++step) {
    MPI_Comm ring;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    fill(0, 100, step);
    MPI_Neighbor_alltoall(out[0], 100, MPI_BYTE, in[0], 100, MPI_BYTE, ring); /* site: once */
    check(0, left, 100, step);
    MPI_Comm_free(&ring);
  }
  tell("once", 1, 1, 100, 100);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* kind = argc > 3 ? argv[1] : "";
  state = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
  const int steps = argc > 3 ? atoi(argv[3]) : 0;
  for (int k = 0; k < 8; ++k) (void)draw(0, 1);
  if (!strcmp(kind, "sizes")) sizes_change(steps, 30);
  if (!strcmp(kind, "each")) sizes_change(steps, 1);
  if (!strcmp(kind, "swaps")) swaps(steps);
  if (!strcmp(kind, "setup")) setup_first(steps);
  if (!strcmp(kind, "seldom")) seldom(steps);
  if (!strcmp(kind, "levels")) levels(steps);
  if (!strcmp(kind, "callers")) called_from(steps);
  if (!strcmp(kind, "neighborhood")) neighborhood(steps);
  if (!strcmp(kind, "once")) used_once(steps);
  if (!strcmp(kind, "sleep")) sleep((unsigned)steps);
  if (wrong) fprintf(stderr, "rank %d: wrong elements\n", rank);
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Finalize();
  return 0;
}
