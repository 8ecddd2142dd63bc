/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighborhood collectives, and what each of them should deliver. */
#include "unmodified.h"

#include <stdio.h>

static const char* const names[] = {"alltoall", "alltoallv", "alltoallw", "allgather",
                                    "allgatherv"};

void fail(const edges* e, const char* what, int block, int element, long is, long should) {
  fprintf(stderr, "unmodified: rank %d, %s: element %d of block %d is %ld, not %ld\n", e->rank,
          what, element, block, is, should);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
void require(int rc, const char* what) {
  if (rc == MPI_SUCCESS) return;
  fprintf(stderr, "unmodified: %s returned %d\n", what, rc);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

long payload(int rank, int edge, int element, int round) {
  return ((rank * 64L + edge) * 64 + element) * 1024 + round;
}
/* Elements of the blocks of v and w forms. */
static int length(int rank, int edge, int round) { return (rank + 3 * edge + round) % 5; }

static int gathers(form how) { return how == ALLGATHER || how == ALLGATHERV; }
static int regular(form how) { return how == ALLTOALL || how == ALLGATHER; }

void fill(const edges* e, form how, flight* f, int round) {
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

static count block_of(const edges* e, form how, int round) {
  return how == ALLGATHERV ? length(e->rank, WHOLE, round) : REGULAR;
}

/* The arguments of the forms, and calls of the function that is named by what stands before and
 * after the form. */
#define EQUAL f->sent, REGULAR, MPI_LONG, f->got, REGULAR, MPI_LONG
#define BLOCKS \
  f->sent, f->counts, f->displs, MPI_LONG, f->got, f->from_counts, f->from_displs, MPI_LONG
#define TYPED f->sent, f->counts, f->at, f->types, f->got, f->from_counts, f->from_at, f->from_types
#define GATHERED \
  f->sent, block_of(e, how, round), MPI_LONG, f->got, f->from_counts, f->from_displs, MPI_LONG
#define CALL(before, after, ...)                                             \
  (how == ALLTOALL    ? WIDTH(before##alltoall##after)(EQUAL, __VA_ARGS__)   \
   : how == ALLTOALLV ? WIDTH(before##alltoallv##after)(BLOCKS, __VA_ARGS__) \
   : how == ALLTOALLW ? WIDTH(before##alltoallw##after)(TYPED, __VA_ARGS__)  \
   : how == ALLGATHER ? WIDTH(before##allgather##after)(EQUAL, __VA_ARGS__)  \
                      : WIDTH(before##allgatherv##after)(GATHERED, __VA_ARGS__))

void begin(const edges* e, form how, flight* f, MPI_Comm c, int round, MPI_Request* r) {
  prepare(e, how, f, round);
  require(CALL(MPI_Ineighbor_, , c, r), names[how]);
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define INIT(...) CALL(MPI_Neighbor_, _init, __VA_ARGS__)
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#define INIT(...) CALL(MPIX_Neighbor_, _init, __VA_ARGS__)
#endif

#ifdef INIT
int has_persistent(void) { return 1; }
void make(const edges* e, form how, flight* f, MPI_Comm c, MPI_Request* r) {
  const int round = 0;
  prepare(e, how, f, round);
  require(INIT(c, MPI_INFO_NULL, r), names[how]);
}
#else
int has_persistent(void) { return 0; }
void make(const edges* e, form how, flight* f, MPI_Comm c, MPI_Request* r) {
  (void)e, (void)f, (void)c, (void)r;
  require(MPI_ERR_OTHER, names[how]);
}
#endif

void check(const edges* e, form how, flight* f, int round) {
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

void finish(const edges* e, form how, flight* f, int round) {
  MPI_Type_free(&f->holes);
  check(e, how, f, round);
}

void deliver(const edges* e, form how, MPI_Comm c, int round) {
  static flight at_hand;
  flight* const f = &at_hand;
  prepare(e, how, f, round);
  require(CALL(MPI_Neighbor_, , c), names[how]);
  finish(e, how, f, round);
}

void all_forms(const edges* e, MPI_Comm comm, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (form how = 0; how < FORMS; ++how) deliver(e, how, comm, round);
}
