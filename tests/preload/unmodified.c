/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of tonari. It checks what neighborhood collectives deliver: payloads
 * differ by rank, edge, element and round, and what belongs to no block is left alone.
 *
 *   unmodified exchanges [distinct]   all operations on all topologies; `distinct` leaves out those
 *                                     in which a rank has a neighbor twice
 *   unmodified many N                 N communicators are made, used and freed
 *   unmodified leak                   communicators are never freed
 *   unmodified threads                threads with communicators of their own
 *   unmodified abort                  the last rank aborts while the others wait
 *   unmodified wrong                  blocks of other sizes than their receivers expect
 *   unmodified errors                 a wrong argument returns an error
 *   unmodified calls N                N calls, and what one takes */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 64, MOST_ELEMENTS = 8, ROUNDS = 14, GAP = 2, WHOLE = 63 };
#define UNTOUCHED (-7L)

/* What one rank has to do with its neighbors. Of receive block j: from which rank, and which of the
 * blocks that it sends; -1: from nobody. */
typedef struct {
  int rank, in, out;
  int source[MOST_EDGES], block[MOST_EDGES];
} edges;

static void fail(const edges* e, const char* what, int block, int element, long is, long should) {
  fprintf(stderr, "unmodified: rank %d, %s: element %d of block %d is %ld, not %ld\n", e->rank,
          what, element, block, is, should);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
static void require(int rc, const char* what) {
  if (rc == MPI_SUCCESS) return;
  fprintf(stderr, "unmodified: %s returned %d\n", what, rc);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long payload(int rank, int edge, int element, int round) {
  return ((rank * 64L + edge) * 64 + element) * 1024 + round;
}
/* Elements of the blocks of v and w forms. */
static int length(int rank, int edge, int round) { return (rank + 3 * edge + round) % 5; }

static long sent[MOST_EDGES * (2 * MOST_ELEMENTS + GAP)];
static long got[MOST_EDGES * (2 * MOST_ELEMENTS + GAP)];
static int counts[MOST_EDGES], displs[MOST_EDGES], from_counts[MOST_EDGES], from_displs[MOST_EDGES];

/* ---- the forms, each with blocks of its own lengths ---- */

enum { REGULAR = 4 };
static const int stride = 2 * MOST_ELEMENTS + GAP;

static void fill(const edges* e, int blocks, int step, int fixed, int round) {
  for (int i = 0; i < blocks; ++i) {
    const int edge = blocks == 1 && fixed < 0 ? WHOLE : i;
    for (int k = 0; k < step; ++k) sent[i * step + k] = payload(e->rank, edge, k, round);
  }
  for (size_t k = 0; k < sizeof got / sizeof *got; ++k) got[k] = UNTOUCHED;
}

static void check(const edges* e, const char* what, int j, int at, int between, int elements,
                  int whole, int round) {
  for (int k = 0; k < elements; ++k) {
    const long should =
        e->source[j] < 0 ? UNTOUCHED : payload(e->source[j], whole ? WHOLE : e->block[j], k, round);
    if (got[at + k * between] != should) fail(e, what, j, k, got[at + k * between], should);
  }
}
static void check_gap(const edges* e, const char* what, int j, int from, int end) {
  for (int k = from; k < end; ++k)
    if (got[k] != UNTOUCHED) fail(e, what, j, k, got[k], UNTOUCHED);
}

static int expected(const edges* e, int j, int whole, int round) {
  return e->source[j] < 0 ? 1 : length(e->source[j], whole ? WHOLE : e->block[j], round);
}

static void alltoall(const edges* e, MPI_Comm comm, int round) {
  fill(e, e->out, REGULAR, 0, round);
  require(MPI_Neighbor_alltoall(sent, REGULAR, MPI_LONG, got, REGULAR, MPI_LONG, comm), "alltoall");
  for (int j = 0; j < e->in; ++j) check(e, "alltoall", j, j * REGULAR, 1, REGULAR, 0, round);
  check_gap(e, "alltoall", e->in, e->in * REGULAR, e->in * REGULAR + GAP);
}

static void lists(const edges* e, int whole, int round) {
  for (int i = 0; i < e->out; ++i) counts[i] = length(e->rank, i, round), displs[i] = i * stride;
  for (int j = 0; j < e->in; ++j)
    from_counts[j] = expected(e, j, whole, round), from_displs[j] = (e->in - 1 - j) * stride;
}

static void check_v(const edges* e, const char* what, int between, int whole, int round) {
  for (int j = 0; j < e->in; ++j) {
    const int at = from_displs[j], elements = from_counts[j];
    check(e, what, j, at, between, elements, whole, round);
    check_gap(e, what, j, at + elements * between, at + stride);
    for (int k = 0; between == 2 && k < elements; ++k)
      check_gap(e, what, j, at + 2 * k + 1, at + 2 * k + 2);
  }
}

static void alltoallv(const edges* e, MPI_Comm comm, int round) {
  fill(e, e->out, stride, 0, round), lists(e, 0, round);
  require(MPI_Neighbor_alltoallv(sent, counts, displs, MPI_LONG, got, from_counts, from_displs,
                                 MPI_LONG, comm),
          "alltoallv");
  check_v(e, "alltoallv", 1, 0, round);
}

/* What is sent in one piece is received with a hole after each element. */
static void alltoallw(const edges* e, MPI_Comm comm, int round) {
  MPI_Aint at[MOST_EDGES], from_at[MOST_EDGES];
  MPI_Datatype types[MOST_EDGES], from_types[MOST_EDGES], holes;
  fill(e, e->out, stride, 0, round), lists(e, 0, round);
  MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &holes);
  MPI_Type_commit(&holes);
  for (int i = 0; i < e->out; ++i) types[i] = MPI_LONG, at[i] = displs[i] * (MPI_Aint)sizeof(long);
  for (int j = 0; j < e->in; ++j)
    from_types[j] = holes, from_at[j] = from_displs[j] * (MPI_Aint)sizeof(long);
  require(
      MPI_Neighbor_alltoallw(sent, counts, at, types, got, from_counts, from_at, from_types, comm),
      "alltoallw");
  MPI_Type_free(&holes);
  check_v(e, "alltoallw", 2, 0, round);
}

static void allgather(const edges* e, MPI_Comm comm, int round) {
  fill(e, 1, REGULAR, -1, round);
  require(MPI_Neighbor_allgather(sent, REGULAR, MPI_LONG, got, REGULAR, MPI_LONG, comm),
          "allgather");
  for (int j = 0; j < e->in; ++j) check(e, "allgather", j, j * REGULAR, 1, REGULAR, 1, round);
}

static void allgatherv(const edges* e, MPI_Comm comm, int round) {
  fill(e, 1, stride, -1, round), lists(e, 1, round);
  require(MPI_Neighbor_allgatherv(sent, length(e->rank, WHOLE, round), MPI_LONG, got, from_counts,
                                  from_displs, MPI_LONG, comm),
          "allgatherv");
  check_v(e, "allgatherv", 1, 1, round);
}

static void all_forms(const edges* e, MPI_Comm comm, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    alltoall(e, comm, round), alltoallv(e, comm, round), alltoallw(e, comm, round);
    allgather(e, comm, round), allgatherv(e, comm, round);
  }
}

/* ---- topologies ---- */

/* MPI 4.1, 8.6: two neighbors per dimension, at -1 and at +1. What goes towards +1 arrives as the
 * block from -1. */
static MPI_Comm grid(edges* e, int dims, const int* extents, const int* periods) {
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, dims, extents, periods, 0, &cart);
  if (cart == MPI_COMM_NULL) return cart;
  MPI_Comm_rank(cart, &e->rank);
  e->in = e->out = 2 * dims;
  for (int d = 0; d < dims; ++d) {
    MPI_Cart_shift(cart, d, 1, &e->source[2 * d], &e->source[2 * d + 1]);
    e->block[2 * d] = 2 * d + 1, e->block[2 * d + 1] = 2 * d;
  }
  for (int j = 0; j < e->in; ++j)
    if (e->source[j] == MPI_PROC_NULL) e->source[j] = -1;
  return cart;
}

/* Rank r sends to so many ranks, and to these. Distinct ones are as many as it receives from; else
 * it has some twice, and may be one of them. */
static int degree(int r, int ranks, int distinct) {
  return distinct ? (ranks > 2 ? 2 : ranks) : r % 4 + (r == 1 ? 3 : 0);
}
static int target(int r, int i, int ranks, int distinct) {
  return distinct ? (r + 1 + i) % ranks : (r * 5 + i * (i + 1) / 2) % ranks;
}

static MPI_Comm graph(edges* e, int distinct) {
  int ranks, targets[MOST_EDGES];
  MPI_Comm comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &e->rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  e->out = degree(e->rank, ranks, distinct), e->in = 0;
  for (int i = 0; i < e->out; ++i) targets[i] = target(e->rank, i, ranks, distinct);
  for (int r = ranks - 1; r >= 0; --r) /* the k-th block to a rank is the k-th from there */
    for (int i = 0; i < degree(r, ranks, distinct); ++i)
      if (target(r, i, ranks, distinct) == e->rank) e->source[e->in] = r, e->block[e->in++] = i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, e->in, e->source, MPI_UNWEIGHTED, e->out, targets,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

static void on_grid(int dims, const int* extents, const int* periods) {
  edges e = {0};
  MPI_Comm comm = grid(&e, dims, extents, periods);
  if (comm == MPI_COMM_NULL) return;
  all_forms(&e, comm, ROUNDS);
  MPI_Comm copy; /* a duplicate has the topology, but nothing that was attached */
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&comm);
  all_forms(&e, copy, 3);
  MPI_Comm_free(&copy);
}

static void on_graph(int distinct) {
  edges e = {0};
  MPI_Comm comm = graph(&e, distinct);
  all_forms(&e, comm, ROUNDS);
  MPI_Comm_free(&comm);
}

static void exchanges(int distinct) {
  int ranks, line[1], flat[2] = {0, 0};
  const int open[2] = {0, 0}, mixed[2] = {1, 0}, closed[2] = {1, 1}, single[2] = {1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Dims_create(ranks, 2, flat);
  on_grid(1, line, open), on_grid(2, flat, open);
  on_graph(1);
  if (distinct) return;
  on_grid(1, line, closed), on_grid(2, flat, mixed), on_grid(2, flat, closed);
  on_grid(2, single, closed); /* one rank in two closed dimensions; the others are left out */
  on_graph(0);
}

/* ---- communicators that come and go ---- */

static void many(int count) {
  for (int k = 0; k < count; ++k) {
    edges e = {0};
    MPI_Comm comm = graph(&e, 1);
    if (k % 100 == 0) all_forms(&e, comm, 1);
    if (k % 10 == 0) alltoallv(&e, comm, k % 7);
    MPI_Comm_free(&comm);
  }
}

static void leak(void) {
  for (int k = 0; k < 70; ++k) {
    edges e = {0};
    MPI_Comm comm = graph(&e, 1);
    alltoall(&e, comm, k);
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
    MPI_Neighbor_alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, r->comm);
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
  int ranks, line[1];
  const int closed[1] = {1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, closed);
  for (int round = 0; round < 20; ++round) {
    if (round == 15 && e.rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 3);
    allgather(&e, comm, round);
  }
}

/* The last rank sends more than its neighbors expect, after calls that were right. */
static void other_sizes(void) {
  edges e = {0};
  int ranks, line[1];
  const int closed[1] = {1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, closed);
  allgather(&e, comm, 0);
  const int count = e.rank == ranks - 1 ? REGULAR + 1 : REGULAR;
  MPI_Neighbor_allgather(sent, count, MPI_LONG, got, REGULAR, MPI_LONG, comm);
}

static void errors(void) {
  edges e = {0};
  int ranks, line[1];
  const int open[1] = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, open);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 3; ++round) {
    const int rc = MPI_Neighbor_alltoall(sent, -1, MPI_LONG, got, REGULAR, MPI_LONG, comm);
    if (rc == MPI_SUCCESS) require(MPI_ERR_OTHER, "a wrong call");
    alltoall(&e, comm, round);
  }
  if (MPI_Neighbor_alltoall(sent, 1, MPI_LONG, got, 1, MPI_LONG, MPI_COMM_WORLD) == MPI_SUCCESS)
    require(MPI_ERR_OTHER, "a call without neighbors");
  MPI_Comm_free(&comm);
}

static void calls(int count) {
  edges e = {0};
  int ranks, line[1];
  const int open[1] = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, open);
  for (int k = 0; k < 100; ++k) MPI_Neighbor_alltoall(sent, 1, MPI_LONG, got, 1, MPI_LONG, comm);
  const double begin = MPI_Wtime();
  for (int k = 0; k < count; ++k) MPI_Neighbor_alltoall(sent, 1, MPI_LONG, got, 1, MPI_LONG, comm);
  const double end = MPI_Wtime();
  if (e.rank == 0) printf("%.3f us\n", (end - begin) / count * 1e6);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int provided = 0;
  if (strcmp(what, "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) threads();
  } else {
    MPI_Init(&argc, &argv);
  }
  if (strcmp(what, "exchanges") == 0) exchanges(argc > 2 && strcmp(argv[2], "distinct") == 0);
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
  return 0;
}
