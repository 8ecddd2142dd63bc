/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of tonari. It checks what neighborhood collectives deliver: payloads
 * differ by rank, edge, element and round, and what belongs to no block is left alone.
 *
 *   unmodified exchanges [distinct]   all operations on all topologies; `distinct` leaves out those
 *                                     in which a rank has a neighbor twice
 *   unmodified begun [distinct]       the same with non-blocking calls, completed in all ways
 *   unmodified persistent [distinct]  the same with persistent requests, where the MPI has them
 *   unmodified progress               exchanges proceed while ranks wait for something else
 *   unmodified in-place               all-to-all with MPI_IN_PLACE
 *   unmodified many N                 N communicators are made, used and freed
 *   unmodified leak                   communicators are never freed
 *   unmodified finalize WHEN [persistent]  a callback in MPI_Finalize exchanges once more
 *   unmodified threads                threads with communicators of their own
 *   unmodified abort                  the last rank aborts while the others wait
 *   unmodified wrong                  blocks of other sizes than their receivers expect
 *   unmodified errors                 a wrong argument returns an error
 *   unmodified calls N                N calls, and what one takes
 *
 * With "multiple" as the last word, it asks for MPI_THREAD_MULTIPLE. Compiled with LARGE_COUNTS,
 * all of it uses large counts. */
#include "unmodified.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- communicators that come and go ---- */

static void many(int number) {
  for (int k = 0; k < number; ++k) {
    edges e = {0};
    MPI_Comm comm = graph(&e, 1);
    if (k % 100 == 0) all_forms(&e, comm, 1);
    /* the first call on a communicator goes to the MPI: it may be the only one */
    for (int calls = 0; calls < 2 && k % 10 == 0; ++calls) deliver(&e, ALLTOALLV, comm, k % 7);
    MPI_Comm_free(&comm);
  }
}

static void leak(void) {
  for (int k = 0; k < 70; ++k) {
    edges e = {0};
    MPI_Comm comm = graph(&e, 1);
    deliver(&e, ALLTOALL, comm, k);
  }
}

/* ---- threads ---- */

typedef struct {
  MPI_Comm comm;
  int rank, ranks, wrong;
} ring;

/* Around a closed ring of ranks, in memory of the thread's own. */
static void* go_round(void* argument) {
  ring* r = argument;
  for (int round = 0; round < 200; ++round) {
    long out[2], in[2] = {UNTOUCHED, UNTOUCHED};
    for (int i = 0; i < 2; ++i) out[i] = payload(r->rank, i, 0, round);
    WIDTH(MPI_Neighbor_alltoall)(out, 1, MPI_LONG, in, 1, MPI_LONG, r->comm);
    const int left = (r->rank + r->ranks - 1) % r->ranks, right = (r->rank + 1) % r->ranks;
    r->wrong |= in[0] != payload(left, 1, 0, round) || in[1] != payload(right, 0, 0, round);
  }
  return NULL;
}

static void threads(void) {
  enum { COUNT = 3 };
  pthread_t thread[COUNT];
  ring rings[COUNT];
  for (int t = 0; t < COUNT; ++t) {
    ring* r = &rings[t];
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank), MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    const int left = (r->rank + r->ranks - 1) % r->ranks, right = (r->rank + 1) % r->ranks;
    const int out[2] = {left, right}, in[2] = {left, right};
    r->wrong = 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, MPI_UNWEIGHTED, 2, out, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &r->comm);
  }
  for (int t = 0; t < COUNT; ++t) pthread_create(&thread[t], NULL, go_round, &rings[t]);
  for (int t = 0; t < COUNT; ++t) {
    pthread_join(thread[t], NULL);
    if (rings[t].wrong) require(MPI_ERR_OTHER, "the ring of a thread");
    MPI_Comm_free(&rings[t].comm);
  }
}

/* ---- what goes wrong ---- */

static void abort_in_exchange(void) {
  edges e = {0};
  int ranks;
  MPI_Comm comm = line(&e, 1);
  MPI_Comm_size(comm, &ranks);
  for (int round = 0; round < 20; ++round) {
    if (round == 15 && e.rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 3);
    deliver(&e, ALLGATHER, comm, round);
  }
}

/* The last rank sends more than its neighbors expect, after calls that were right. */
static long sent[2 * REGULAR], got[2 * REGULAR];
static void other_sizes(void) {
  edges e = {0};
  int ranks;
  MPI_Comm comm = line(&e, 1);
  MPI_Comm_size(comm, &ranks);
  deliver(&e, ALLGATHER, comm, 0);
  const count elements = e.rank == ranks - 1 ? REGULAR + 1 : REGULAR;
  WIDTH(MPI_Neighbor_allgather)(sent, elements, MPI_LONG, got, REGULAR, MPI_LONG, comm);
}

static void errors(void) {
  edges e = {0};
  MPI_Comm comm = line(&e, 0);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  deliver(&e, ALLTOALL, comm, 1);
  for (int round = 0; round < 3; ++round) {
    const int rc = WIDTH(MPI_Neighbor_alltoall)(sent, -1, MPI_LONG, got, REGULAR, MPI_LONG, comm);
    if (rc == MPI_SUCCESS) require(MPI_ERR_OTHER, "a wrong call");
    deliver(&e, ALLTOALL, comm, round);
  }
  if (WIDTH(MPI_Neighbor_alltoall)(sent, 1, MPI_LONG, got, 1, MPI_LONG, MPI_COMM_WORLD) ==
      MPI_SUCCESS)
    require(MPI_ERR_OTHER, "a call without neighbors");
  MPI_Comm_free(&comm);
}

static void calls(int number) {
  edges e = {0};
  MPI_Comm comm = line(&e, 0);
  for (int k = 0; k < 100; ++k)
    WIDTH(MPI_Neighbor_alltoall)(sent, 1, MPI_LONG, got, 1, MPI_LONG, comm);
  const double begin = MPI_Wtime();
  for (int k = 0; k < number; ++k)
    WIDTH(MPI_Neighbor_alltoall)(sent, 1, MPI_LONG, got, 1, MPI_LONG, comm);
  const double end = MPI_Wtime();
  if (e.rank == 0) printf("%.3f us\n", (end - begin) / number * 1e6);
  MPI_Comm_free(&comm);
}

static void rounds_on(const edges* e, MPI_Comm comm) { all_forms(e, comm, ROUNDS); }

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int provided = 0;
  const char* last = argv[argc - 1];
  if (strcmp(what, "threads") == 0 || strcmp(last, "multiple") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE && strcmp(what, "threads") == 0) threads();
  } else {
    MPI_Init(&argc, &argv);
  }
  const int distinct = argc > 2 && strcmp(argv[2], "distinct") == 0;
  if (strcmp(what, "exchanges") == 0) exchanges(distinct, rounds_on);
  if (strcmp(what, "begun") == 0) exchanges(distinct, begun_on);
  if (strcmp(what, "persistent") == 0) exchanges(distinct, persistent_on);
  if (strcmp(what, "progress") == 0) progress();
  if (strcmp(what, "in-place") == 0) in_place();
  if (strcmp(what, "finalize") == 0) in_finalize(argv[2], argc > 3);
  if (strcmp(what, "many") == 0) many(number);
  if (strcmp(what, "leak") == 0) leak();
  if (strcmp(what, "abort") == 0) abort_in_exchange();
  if (strcmp(what, "wrong") == 0) other_sizes();
  if (strcmp(what, "errors") == 0) errors();
  if (strcmp(what, "calls") == 0) calls(number);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("unmodified: done\n");
  MPI_Finalize();
  return strcmp(what, "finalize") == 0 && !exchanged_in_finalize();
}
