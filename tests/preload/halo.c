/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of tonari, and exchanges its halos by hand, in several ways. Its
 * places of call are named in comments (site: ...), which tests/python/test_advise.py looks for.
 * Payloads differ by rank, neighbor, element and step; it ends with 1 if one is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 26, CELLS = 384 }; /* 3 KiB */

static int rank, ranks, wrong;
static MPI_Comm grid;
static int neighbors, near[MOST], back[MOST]; /* ranks, and the direction that leads back */
static int64_t out[MOST][CELLS], in[MOST][CELLS];

static int64_t cell(int from, int direction, int element, int step) {
  return ((int64_t)from * 1000 + direction) * 1000000 + element * 1000 + step % 1000;
}

static void fill(int step, int cells) {
  for (int k = 0; k < neighbors; ++k)
    for (int e = 0; e < cells; ++e) out[k][e] = cell(rank, k, e, step);
  memset(in, -1, sizeof in);
}

static void check(int step, int cells) {
  for (int k = 0; k < neighbors; ++k)
    for (int e = 0; e < cells && near[k] != MPI_PROC_NULL; ++e)
      wrong |= in[k][e] != cell(near[k], back[k], e, step);
}

/* A periodic or open grid of so many dimensions, with or without diagonal neighbors. */
static void make_grid(int dimensions, int periodic, int diagonals) {
  int dims[3] = {0, 0, 0}, closed[3] = {periodic, periodic, periodic}, at[3], all = 1;
  MPI_Dims_create(ranks, dimensions, dims);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, closed, 0, &grid);
  MPI_Cart_coords(grid, rank, dimensions, at);
  for (int d = 0; d < dimensions; ++d) all *= 3;
  neighbors = 0;
  for (int code = 0; code < all; ++code) {
    int steps = 0, inside = 1, to[3], left = code;
    for (int d = 0; d < dimensions; ++d, left /= 3) {
      const int step = left % 3 - 1;
      to[d] = at[d] + step;
      steps += step != 0;
      inside &= periodic || (to[d] >= 0 && to[d] < dims[d]);
    }
    if (steps == 0 || (steps > 1 && !diagonals)) continue;
    near[neighbors] = MPI_PROC_NULL;
    if (inside) MPI_Cart_rank(grid, to, &near[neighbors]);
    ++neighbors;
  }
  for (int k = 0; k < neighbors; ++k) back[k] = neighbors - 1 - k; /* codes are symmetric */
}

static void begun(int step) {
  MPI_Request requests[2 * MOST];
  int made = 0;
  fill(step, CELLS);
  for (int k = 0; k < neighbors; ++k)
    MPI_Irecv(in[k], CELLS, MPI_INT64_T, near[k], back[k], grid, &requests[made++]);
  for (int k = 0; k < neighbors; ++k)
    MPI_Isend(out[k], CELLS, MPI_INT64_T, near[k], k, grid, &requests[made++]); /* site: Isend */
  MPI_Waitall(made, requests, MPI_STATUSES_IGNORE);                             /* site: begun */
  check(step, CELLS);
}

/* Receives are waited for one by one, sends by tests. */
static void one_by_one(int step) {
  MPI_Request receives[MOST], sends[MOST];
  int done = 0;
  fill(step, CELLS);
  for (int k = 0; k < neighbors; ++k)
    MPI_Irecv(in[k], CELLS, MPI_INT64_T, near[k], back[k], grid, &receives[k]);
  for (int k = 0; k < neighbors; ++k)
    MPI_Isend(out[k], CELLS, MPI_INT64_T, near[k], k, grid, &sends[k]);
  for (int k = 0; k < neighbors; ++k)
    MPI_Wait(&receives[k], MPI_STATUS_IGNORE); /* site: one-by-one */
  while (!done) MPI_Testall(neighbors, sends, &done, MPI_STATUSES_IGNORE);
  check(step, CELLS);
}

static void blocking(int step) {
  fill(step, CELLS);
  for (int k = 0; k < neighbors; ++k) {
    const int b = back[k];                               /* what comes from the other side */
    MPI_Sendrecv(out[k], CELLS, MPI_INT64_T, near[k], k, /* site: blocking */
                 in[b], CELLS, MPI_INT64_T, near[b], k, grid, MPI_STATUS_IGNORE);
  }
  check(step, CELLS);
}

static void persistent(int steps) {
  MPI_Request requests[2 * MOST];
  for (int k = 0; k < neighbors; ++k) {
    MPI_Recv_init(in[k], CELLS, MPI_INT64_T, near[k], back[k], grid, &requests[k]);
    MPI_Send_init(out[k], CELLS, MPI_INT64_T, near[k], k, grid, &requests[neighbors + k]);
  }
  for (int step = 0; step < steps; ++step) {
    fill(step, CELLS);
    MPI_Startall(neighbors, requests);
    for (int k = 0; k < neighbors; ++k) MPI_Start(&requests[neighbors + k]);
    MPI_Waitall(2 * neighbors, requests, MPI_STATUSES_IGNORE); /* site: persistent */
    check(step, CELLS);
  }
  for (int k = 0; k < 2 * neighbors; ++k) MPI_Request_free(&requests[k]);
}

/* Each rank sends to the next ranks only, by a collective call of all. */
static void mostly_zero(int step) {
  int counts[2][64] = {{0}}, places[2][64] = {{0}};
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  counts[0][next] = counts[1][before] = CELLS;
  for (int e = 0; e < CELLS; ++e) out[0][e] = cell(rank, 0, e, step);
  MPI_Alltoallv(out[0], counts[0], places[0], MPI_INT64_T, in[0], /* site: mostly-zero */
                counts[1], places[1], MPI_INT64_T, MPI_COMM_WORLD);
  for (int e = 0; e < CELLS; ++e) wrong |= in[0][e] != cell(before, 0, e, step);
}

/* How many messages there are, where they go and how large they are changes with every step. */
static void changing(int step) {
  MPI_Request requests[2 * 23];
  const int count = 1 + step * 7 % 23;
  const int shift = 1 + step % (ranks > 1 ? ranks - 1 : 1), cells = 1 + step * 7 % CELLS;
  const int to = (rank + shift) % ranks, from = (rank + ranks - shift) % ranks;
  for (int e = 0; e < cells; ++e) out[0][e] = cell(rank, 0, e, step);
  for (int k = 0; k < count; ++k) {
    MPI_Irecv(in[k], cells, MPI_INT64_T, from, k, MPI_COMM_WORLD, &requests[2 * k]);
    MPI_Isend(out[0], cells, MPI_INT64_T, to, k, MPI_COMM_WORLD, &requests[2 * k + 1]);
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE); /* site: changing */
  for (int k = 0; k < count; ++k)
    for (int e = 0; e < cells; ++e) wrong |= in[k][e] != cell(from, 0, e, step);
}

/* Sends are waited for before receives are posted: two exchanges, of which neither is whole. */
static void apart(int step) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request request;
  out[0][0] = cell(rank, 0, 0, step);
  MPI_Isend(out[0], 1, MPI_INT64_T, right, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: apart */
  MPI_Irecv(in[0], 1, MPI_INT64_T, left, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong |= in[0][0] != cell(left, 0, 0, step);
}

static void wait_for_sends(int count, MPI_Request* sends) {
  MPI_Waitall(count, sends, MPI_STATUSES_IGNORE); /* site: shared */
}

/* To the next rank: the last one sends nothing, so it first waits elsewhere. Then the same closed.
 * Both wait for their sends at one place. */
static void two_share(int step) {
  for (int closed = 0; closed < 2; ++closed) {
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, cells = 1 + closed;
    const int sends = closed || rank < ranks - 1, receives = closed || rank > 0;
    MPI_Request receive, send;
    for (int e = 0; e < cells; ++e) out[closed][e] = cell(rank, closed, e, step);
    if (receives) MPI_Irecv(in[0], cells, MPI_INT64_T, left, 0, MPI_COMM_WORLD, &receive);
    if (sends) MPI_Isend(out[closed], cells, MPI_INT64_T, right, 0, MPI_COMM_WORLD, &send);
    wait_for_sends(sends, &send);
    if (receives) MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int e = 0; e < cells && receives; ++e) wrong |= in[0][e] != cell(left, closed, e, step);
  }
}

/* Along one dimension after the other: patterns that take turns. */
static void in_turn(int step) {
  fill(step, CELLS);
  for (int k = 0; k < neighbors / 2; ++k) {
    MPI_Request requests[4];
    for (int side = 0; side < 2; ++side) {
      const int n = side ? neighbors - 1 - k : k;
      MPI_Irecv(in[n], CELLS, MPI_INT64_T, near[n], back[n], grid, &requests[2 * side]);
      MPI_Isend(out[n], CELLS, MPI_INT64_T, near[n], n, grid, &requests[2 * side + 1]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* site: in-turn */
  }
  check(step, CELLS);
}

static void packed(int step) {
  char buffer[CELLS * sizeof(int64_t)], back_again[CELLS * sizeof(int64_t)];
  int place = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request requests[2];
  for (int e = 0; e < CELLS; ++e) out[0][e] = cell(rank, 0, e, step);
  MPI_Pack(out[0], CELLS, MPI_INT64_T, buffer, sizeof buffer, &place, /* site: pack */
           MPI_COMM_WORLD);
  MPI_Irecv(back_again, sizeof back_again, MPI_PACKED, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, place, MPI_PACKED, right, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  place = 0;
  MPI_Unpack(back_again, sizeof back_again, &place, in[0], CELLS, MPI_INT64_T, MPI_COMM_WORLD);
  for (int e = 0; e < CELLS; ++e) wrong |= in[0][e] != cell(left, 0, e, step);
}

/* Around the ring of a thread's own communicator, in memory of its own. */
static void* go_round(void* given) {
  MPI_Comm* ring = given;
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int step = 0; step < 100; ++step) {
    int64_t mine = cell(rank, 0, 0, step), theirs = -1;
    MPI_Request requests[2];
    MPI_Irecv(&theirs, 1, MPI_INT64_T, left, 0, *ring, &requests[0]);
    MPI_Isend(&mine, 1, MPI_INT64_T, right, 0, *ring, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: threads */
    if (theirs != cell(left, 0, 0, step)) return ring;
  }
  return NULL;
}

enum { THREADS = 4 };

/* In each round other threads. */
static void threads(int rounds) {
  MPI_Comm rings[THREADS];
  pthread_t all[THREADS];
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &rings[t]);
  for (int round = 0; round < rounds; ++round) {
    for (int t = 0; t < THREADS; ++t) pthread_create(&all[t], NULL, go_round, &rings[t]);
    for (int t = 0; t < THREADS; ++t) {
      void* failed = NULL;
      pthread_join(all[t], &failed);
      wrong |= failed != NULL;
    }
  }
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free(&rings[t]);
}

/* Communicators that come and go, more than are watched at a time. */
static void many(int count) {
  MPI_Comm* comms = malloc((size_t)count * sizeof *comms);
  for (int k = 0; k < count; ++k) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
    go_round(&comms[k]);
    if (k % 2) MPI_Comm_free(&comms[k]);
  }
  for (int k = 0; k < count; k += 2) MPI_Comm_free(&comms[k]);
  free(comms);
}

static void each_step(void (*exchange)(int), int steps) {
  for (int step = 0; step < steps; ++step) exchange(step);
}

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* halo CASE STEPS DIMENSIONS open|periodic faces|all [abort] */
int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "begun";
  const int steps = argc > 2 ? atoi(argv[2]) : 100, dimensions = argc > 3 ? atoi(argv[3]) : 2;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, is(name, "threads") ? MPI_THREAD_MULTIPLE : level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make_grid(dimensions, argc > 4 && is(argv[4], "periodic"), argc > 5 && is(argv[5], "all"));
  if (is(name, "persistent"))
    persistent(steps);
  else if (is(name, "threads"))
    threads(steps);
  else if (is(name, "many"))
    many(steps);
  else if (!is(name, "nothing"))
    each_step(is(name, "one-by-one")    ? one_by_one
              : is(name, "blocking")    ? blocking
              : is(name, "mostly-zero") ? mostly_zero
              : is(name, "changing")    ? changing
              : is(name, "in-turn")     ? in_turn
              : is(name, "packed")      ? packed
              : is(name, "apart")       ? apart
              : is(name, "two-share")   ? two_share
                                        : begun,
              steps);
  MPI_Comm_free(&grid);
  if (argc > 6) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) puts(wrong ? "halo: wrong" : "halo: done");
  MPI_Finalize();
  return wrong;
}
