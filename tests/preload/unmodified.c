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

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define INIT(form) MPI_Neighbor_##form##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#define INIT(form) MPIX_Neighbor_##form##_init
#endif

enum { MOST_EDGES = 64, MOST_ELEMENTS = 4, ROUNDS = 14, GAP = 2, WHOLE = 63 };
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

/* ---- the forms, each with blocks of its own lengths ---- */

enum { REGULAR = 4, STRIDE = 2 * MOST_ELEMENTS + GAP };
typedef enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FORMS } form;
static const char* const names[] = {"alltoall", "alltoallv", "alltoallw", "allgather",
                                    "allgatherv"};

/* What one exchange needs until it is complete. */
typedef struct {
  long sent[MOST_EDGES * STRIDE], got[MOST_EDGES * STRIDE];
  int counts[MOST_EDGES], displs[MOST_EDGES], from_counts[MOST_EDGES], from_displs[MOST_EDGES];
  MPI_Aint at[MOST_EDGES], from_at[MOST_EDGES];
  MPI_Datatype types[MOST_EDGES], from_types[MOST_EDGES], holes;
} flight;

static int gathers(form how) { return how == ALLGATHER || how == ALLGATHERV; }
static int regular(form how) { return how == ALLTOALL || how == ALLGATHER; }

static void fill(const edges* e, form how, flight* f, int round) {
  const int blocks = gathers(how) ? 1 : e->out;
  for (int i = 0; i < blocks; ++i)
    for (int k = 0; k < STRIDE; ++k) /* regular blocks lie side by side */
      f->sent[i * (regular(how) ? REGULAR : STRIDE) + k] =
          payload(e->rank, gathers(how) ? WHOLE : i, k, round);
  for (int k = 0; k < MOST_EDGES * STRIDE; ++k) f->got[k] = UNTOUCHED;
}

static int expected(const edges* e, int j, form how, int round) {
  if (e->source[j] < 0) return 1;
  return length(e->source[j], gathers(how) ? WHOLE : e->block[j], round);
}

static void lists(const edges* e, form how, flight* f, int round) {
  for (int i = 0; i < e->out; ++i) {
    f->counts[i] = length(e->rank, i, round), f->displs[i] = i * STRIDE;
    f->at[i] = f->displs[i] * (MPI_Aint)sizeof(long), f->types[i] = MPI_LONG;
  }
  for (int j = 0; j < e->in; ++j) {
    f->from_counts[j] = expected(e, j, how, round), f->from_displs[j] = (e->in - 1 - j) * STRIDE;
    f->from_at[j] = f->from_displs[j] * (MPI_Aint)sizeof(long), f->from_types[j] = f->holes;
  }
}

static void prepare(const edges* e, form how, flight* f, int round) {
  /* what is sent in one piece is received with a hole after each element */
  MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &f->holes);
  MPI_Type_commit(&f->holes);
  fill(e, how, f, round), lists(e, how, f, round);
}

static int block_of(const edges* e, form how, int round) {
  return how == ALLGATHERV ? length(e->rank, WHOLE, round) : REGULAR;
}

static void exchange(const edges* e, form how, flight* f, MPI_Comm c, int round) {
  int rc = MPI_SUCCESS;
  if (how == ALLTOALL)
    rc = MPI_Neighbor_alltoall(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c);
  else if (how == ALLTOALLV)
    rc = MPI_Neighbor_alltoallv(f->sent, f->counts, f->displs, MPI_LONG, f->got, f->from_counts,
                                f->from_displs, MPI_LONG, c);
  else if (how == ALLTOALLW)
    rc = MPI_Neighbor_alltoallw(f->sent, f->counts, f->at, f->types, f->got, f->from_counts,
                                f->from_at, f->from_types, c);
  else if (how == ALLGATHER)
    rc = MPI_Neighbor_allgather(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c);
  else
    rc = MPI_Neighbor_allgatherv(f->sent, block_of(e, how, round), MPI_LONG, f->got, f->from_counts,
                                 f->from_displs, MPI_LONG, c);
  require(rc, names[how]);
}

static void begin(const edges* e, form how, flight* f, MPI_Comm c, int round, MPI_Request* r) {
  int rc = MPI_SUCCESS;
  prepare(e, how, f, round);
  if (how == ALLTOALL)
    rc = MPI_Ineighbor_alltoall(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c, r);
  else if (how == ALLTOALLV)
    rc = MPI_Ineighbor_alltoallv(f->sent, f->counts, f->displs, MPI_LONG, f->got, f->from_counts,
                                 f->from_displs, MPI_LONG, c, r);
  else if (how == ALLTOALLW)
    rc = MPI_Ineighbor_alltoallw(f->sent, f->counts, f->at, f->types, f->got, f->from_counts,
                                 f->from_at, f->from_types, c, r);
  else if (how == ALLGATHER)
    rc = MPI_Ineighbor_allgather(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c, r);
  else
    rc = MPI_Ineighbor_allgatherv(f->sent, block_of(e, how, round), MPI_LONG, f->got,
                                  f->from_counts, f->from_displs, MPI_LONG, c, r);
  require(rc, names[how]);
}

static void check(const edges* e, form how, flight* f, int round) {
  const int between = how == ALLTOALLW ? 2 : 1;
  for (int j = 0; j < e->in; ++j) {
    const int at = regular(how) ? j * REGULAR : f->from_displs[j];
    const int elements = regular(how) ? REGULAR : f->from_counts[j];
    const int whole = regular(how) ? REGULAR : STRIDE;
    for (int k = 0; k < whole; ++k) {
      const int ours = e->source[j] >= 0 && k % between == 0 && k / between < elements;
      const int edge = gathers(how) ? WHOLE : e->block[j];
      const long should = ours ? payload(e->source[j], edge, k / between, round) : UNTOUCHED;
      if (f->got[at + k] != should) fail(e, names[how], j, k, f->got[at + k], should);
    }
  }
  const int end = e->in * (regular(how) ? REGULAR : STRIDE);
  for (int k = end; k < MOST_EDGES * STRIDE; ++k)
    if (f->got[k] != UNTOUCHED) fail(e, names[how], e->in, k - end, f->got[k], UNTOUCHED);
}

static void finish(const edges* e, form how, flight* f, int round) {
  MPI_Type_free(&f->holes);
  check(e, how, f, round);
}

static flight at_hand;
static void deliver(const edges* e, form how, MPI_Comm comm, int round) {
  prepare(e, how, &at_hand, round);
  exchange(e, how, &at_hand, comm, round);
  finish(e, how, &at_hand, round);
}

static void all_forms(const edges* e, MPI_Comm comm, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (form how = 0; how < FORMS; ++how) deliver(e, how, comm, round);
}

/* ---- exchanges that begin ---- */

enum { WAYS = 9, OTHERS = 2, ALL = FORMS + OTHERS };

/* Completes requests in one of the ways that MPI has, persistent or not. */
static void complete(MPI_Request* r, int way) {
  int done = 0, index = 0, many = 0, indices[ALL];
  MPI_Status status[ALL];
  switch (way) {
    case 0:
      for (int k = 0; k < ALL; ++k) require(MPI_Wait(&r[k], &status[k]), "MPI_Wait");
      break;
    case 1:
      require(MPI_Waitall(ALL, r, status), "MPI_Waitall");
      break;
    case 2:
      while (index != MPI_UNDEFINED) require(MPI_Waitany(ALL, r, &index, status), "MPI_Waitany");
      break;
    case 3:
      while (many != MPI_UNDEFINED)
        require(MPI_Waitsome(ALL, r, &many, indices, status), "MPI_Waitsome");
      break;
    case 4:
      for (int k = ALL - 1; k >= 0; --k)
        for (done = 0; !done;) require(MPI_Test(&r[k], &done, status), "MPI_Test");
      break;
    case 5:
      while (!done) require(MPI_Testall(ALL, r, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      break;
    case 6:
      while (!done || index != MPI_UNDEFINED)
        require(MPI_Testany(ALL, r, &index, &done, status), "MPI_Testany");
      break;
    case 7:
      while (many != MPI_UNDEFINED)
        require(MPI_Testsome(ALL, r, &many, indices, status), "MPI_Testsome");
      break;
    default:
      for (int k = 0; k < ALL; ++k) {
        for (done = 0; !done;)
          require(MPI_Request_get_status(r[k], &done, status), "MPI_Request_get_status");
        require(MPI_Wait(&r[k], MPI_STATUS_IGNORE), "MPI_Wait");
      }
  }
}

/* All forms at once, among messages of MPI's own, in one array. */
static void in_flight(const edges* e, MPI_Comm comm, int round, int way) {
  static flight flights[FORMS];
  MPI_Request r[ALL];
  const long out = payload(e->rank, 0, 0, round);
  long in = UNTOUCHED;
  MPI_Irecv(&in, 1, MPI_LONG, e->rank, 5, comm, &r[0]);
  for (form how = 0; how < FORMS; ++how) begin(e, how, &flights[how], comm, round, &r[how + 1]);
  MPI_Isend(&out, 1, MPI_LONG, e->rank, 5, comm, &r[ALL - 1]);
  complete(r, way);
  for (form how = 0; how < FORMS; ++how) finish(e, how, &flights[how], round);
  if (in != out) fail(e, "a message", 0, 0, in, out);
}

static void begun_on(const edges* e, MPI_Comm comm) {
  for (int round = 0; round < 2 * WAYS; ++round) {
    in_flight(e, comm, round, round % WAYS);
    if (round % 4 == 1) deliver(e, round % FORMS, comm, round);
  }
}

/* ---- persistent exchanges ---- */

#ifdef INIT
static void make(const edges* e, form how, flight* f, MPI_Comm c, MPI_Request* r) {
  const MPI_Info none = MPI_INFO_NULL;
  int rc = MPI_SUCCESS;
  prepare(e, how, f, 0);
  if (how == ALLTOALL)
    rc = INIT(alltoall)(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c, none, r);
  else if (how == ALLTOALLV)
    rc = INIT(alltoallv)(f->sent, f->counts, f->displs, MPI_LONG, f->got, f->from_counts,
                         f->from_displs, MPI_LONG, c, none, r);
  else if (how == ALLTOALLW)
    rc = INIT(alltoallw)(f->sent, f->counts, f->at, f->types, f->got, f->from_counts, f->from_at,
                         f->from_types, c, none, r);
  else if (how == ALLGATHER)
    rc = INIT(allgather)(f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG, c, none, r);
  else
    rc = INIT(allgatherv)(f->sent, block_of(e, how, 0), MPI_LONG, f->got, f->from_counts,
                          f->from_displs, MPI_LONG, c, none, r);
  require(rc, names[how]);
}

/* All forms again and again, started together or one by one, among persistent messages. */
static void persistent_on(const edges* e, MPI_Comm comm) {
  static flight flights[FORMS];
  MPI_Request r[ALL];
  long out = 0, in = 0;
  MPI_Recv_init(&in, 1, MPI_LONG, e->rank, 5, comm, &r[0]);
  for (form how = 0; how < FORMS; ++how) make(e, how, &flights[how], comm, &r[how + 1]);
  MPI_Send_init(&out, 1, MPI_LONG, e->rank, 5, comm, &r[ALL - 1]);
  for (int round = 0; round < 5 * WAYS; ++round) {
    for (form how = 0; how < FORMS; ++how) fill(e, how, &flights[how], round);
    in = UNTOUCHED, out = round;
    if (round % 2)
      for (int k = 0; k < ALL; ++k) require(MPI_Start(&r[k]), "MPI_Start");
    else
      require(MPI_Startall(ALL, r), "MPI_Startall");
    if (round % 7 == 3) deliver(e, round % FORMS, comm, round);
    complete(r, round % WAYS);
    for (form how = 0; how < FORMS; ++how) check(e, how, &flights[how], round);
    if (in != out) fail(e, "a message", 0, 0, in, out);
  }
  /* Open MPI 4.1 needs the types as long as the requests. */
  for (int k = 0; k < ALL; ++k) {
    require(MPI_Request_free(&r[k]), "MPI_Request_free");
    if (r[k] != MPI_REQUEST_NULL) require(MPI_ERR_REQUEST, "a request that was freed");
  }
  for (form how = 0; how < FORMS; ++how) MPI_Type_free(&flights[how].holes);
}
#else
static void persistent_on(const edges* e, MPI_Comm comm) { all_forms(e, comm, 1); }
#endif

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

static int begins, persists; /* non-blocking calls, persistent ones */

static void on_grid(int dims, const int* extents, const int* periods) {
  edges e = {0};
  MPI_Comm comm = grid(&e, dims, extents, periods);
  if (comm == MPI_COMM_NULL) return;
  if (begins)
    begun_on(&e, comm);
  else if (persists)
    persistent_on(&e, comm);
  else
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
  if (begins)
    begun_on(&e, comm);
  else if (persists)
    persistent_on(&e, comm);
  else
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

/* ---- in place, between all ranks ---- */

enum { MOST_RANKS = 16, ROOM = 2 * MOST_ELEMENTS + GAP };

/* Both ranks of a pair have as many elements for each other. */
static int between(int a, int b, int round) { return (a + b + round) % MOST_ELEMENTS; }

static void in_place_once(MPI_Comm comm, int rank, int ranks, form how, int round) {
  long all[MOST_RANKS * ROOM];
  int number[MOST_RANKS], at[MOST_RANKS], bytes[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS], holes;
  const edges e = {.rank = rank};
  const int step = how == ALLTOALLW ? 2 : 1, room = how == ALLTOALL ? REGULAR : ROOM;
  MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &holes);
  MPI_Type_commit(&holes);
  for (int k = 0; k < MOST_RANKS * ROOM; ++k) all[k] = UNTOUCHED;
  for (int r = 0; r < ranks; ++r) {
    number[r] = how == ALLTOALL ? REGULAR : between(rank, r, round);
    at[r] = (how == ALLTOALL ? r : ranks - 1 - r) * room, bytes[r] = at[r] * (int)sizeof(long);
    types[r] = holes;
    for (int k = 0; k < number[r]; ++k) all[at[r] + k * step] = payload(rank, r, k, round);
  }
  if (how == ALLTOALL)
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, REGULAR, MPI_LONG, comm);
  else if (how == ALLTOALLV)
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, number, at, MPI_LONG, comm);
  else
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, number, bytes, types, comm);
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

static void in_place(void) {
  int rank, ranks;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long out[MOST_RANKS], in[MOST_RANKS];
  for (int r = 0; r < ranks; ++r) out[r] = payload(rank, r, 0, 0);
  MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
  const edges e = {.rank = rank};
  for (int r = 0; r < ranks; ++r)
    if (in[r] != payload(r, rank, 0, 0)) fail(&e, "alltoall", r, 0, in[r], payload(r, rank, 0, 0));
  in_place_on(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  in_place_on(half);
  MPI_Comm_free(&half);
}

/* ---- communicators that come and go ---- */

static void many(int count) {
  for (int k = 0; k < count; ++k) {
    edges e = {0};
    MPI_Comm comm = graph(&e, 1);
    if (k % 100 == 0) all_forms(&e, comm, 1);
    if (k % 10 == 0) deliver(&e, ALLTOALLV, comm, k % 7);
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

/* ---- progress ---- */

/* The first rank begins an exchange, and then waits for a message that the next one sends before it
 * begins its own. */
static void begin_before_others(void) {
  enum { LONG = 1 << 20 };
  edges e = {0};
  int ranks, line[1];
  const int open[1] = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, open);
  char* message = calloc(LONG, 1);
  MPI_Request request;
  if (e.rank == 1) MPI_Send(message, LONG, MPI_CHAR, 0, 9, comm);
  begin(&e, ALLTOALL, &at_hand, comm, 3, &request);
  if (e.rank == 0 && ranks > 1) MPI_Recv(message, LONG, MPI_CHAR, 1, 9, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  finish(&e, ALLTOALL, &at_hand, 3);
  free(message);
  MPI_Comm_free(&comm);
}

/* The first rank waits for a message that the next one sends only after its own exchange. */
static void others_proceed(int count) {
  edges e = {0};
  int ranks, line[1];
  const int closed[1] = {1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, closed);
  long *out = malloc(2 * sizeof(long) * count), *in = malloc(2 * sizeof(long) * count), token = 1;
  for (int k = 0; k < 2 * count; ++k) out[k] = payload(e.rank, k / count, k % count % 60, 1);
  MPI_Request request;
  for (int round = 0; round < 5; ++round) {
    MPI_Ineighbor_alltoall(out, count, MPI_LONG, in, count, MPI_LONG, comm, &request);
    if (e.rank == 0 && ranks > 1) MPI_Recv(&token, 1, MPI_LONG, 1, 9, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (e.rank == 1) MPI_Send(&token, 1, MPI_LONG, 0, 9, comm);
    for (int j = 0; j < 2 && ranks > 2; ++j)
      for (int k = 0; k < count; ++k) {
        const long should = payload(e.source[j], e.block[j], k % 60, 1);
        if (in[j * count + k] != should) fail(&e, "a long block", j, k, in[j * count + k], should);
      }
  }
  free(out), free(in);
  MPI_Comm_free(&comm);
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
    deliver(&e, ALLGATHER, comm, round);
  }
}

/* The last rank sends more than its neighbors expect, after calls that were right. */
static long sent[2 * REGULAR], got[2 * REGULAR];
static void other_sizes(void) {
  edges e = {0};
  int ranks, line[1];
  const int closed[1] = {1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line[0] = ranks;
  MPI_Comm comm = grid(&e, 1, line, closed);
  deliver(&e, ALLGATHER, comm, 0);
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
  deliver(&e, ALLTOALL, comm, 1);
  for (int round = 0; round < 3; ++round) {
    const int rc = MPI_Neighbor_alltoall(sent, -1, MPI_LONG, got, REGULAR, MPI_LONG, comm);
    if (rc == MPI_SUCCESS) require(MPI_ERR_OTHER, "a wrong call");
    deliver(&e, ALLTOALL, comm, round);
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
  begins = strcmp(what, "begun") == 0;
  persists = strcmp(what, "persistent") == 0;
  if (begins || persists) exchanges(argc > 2 && strcmp(argv[2], "distinct") == 0);
  if (strcmp(what, "progress") == 0) begin_before_others();
  if (strcmp(what, "progress") == 0)
    for (int count = 16; count <= 1 << 18; count *= 4) others_proceed(count);
  if (strcmp(what, "in-place") == 0) in_place();
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
