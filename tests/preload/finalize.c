/* SPDX-License-Identifier: BSD-3-Clause */
/* Delete callbacks of attributes of MPI_COMM_SELF run first in MPI_Finalize, and may still
 * communicate (MPI 3.1, section 8.7). HDF5 and PETSc end in this way. */
#include "unmodified.h"

#include <string.h>

/* What the program leaves to the callback. */
static struct {
  MPI_Comm line; /* null: no exchange was before */
  edges of_line;
  flight kept;
  MPI_Request persistent; /* null: there is none */
} left = {.line = MPI_COMM_NULL, .persistent = MPI_REQUEST_NULL};

static void begin_and_wait(const edges* e, MPI_Comm comm) {
  static flight at_hand;
  MPI_Request request;
  for (form how = 0; how < FORMS; ++how) {
    begin(e, how, &at_hand, comm, 2, &request);
    require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    finish(e, how, &at_hand, 2);
  }
}

static void start_persistent(int round) {
  fill(&left.of_line, ALLTOALL, &left.kept, round);
  require(MPI_Start(&left.persistent), "MPI_Start");
  require(MPI_Wait(&left.persistent, MPI_STATUS_IGNORE), "MPI_Wait");
  check(&left.of_line, ALLTOALL, &left.kept, round);
}

/* Every kind of call, on communicators that were there and on new ones. */
static void exchange_once_more(void) {
  edges e = {0};
  MPI_Comm comm = graph(&e, 1), copy;
  all_forms(&e, comm, 2), begin_and_wait(&e, comm);
  MPI_Comm_dup(comm, &copy);
  all_forms(&e, copy, 1);
  MPI_Comm_free(&comm), MPI_Comm_free(&copy);
  in_place();
  if (left.line == MPI_COMM_NULL) return;
  all_forms(&left.of_line, left.line, 2), begin_and_wait(&left.of_line, left.line);
  if (left.persistent != MPI_REQUEST_NULL) {
    for (int round = 0; round < 3; ++round) start_persistent(round);
    MPI_Request_free(&left.persistent), MPI_Type_free(&left.kept.holes);
  }
  MPI_Comm_free(&left.line);
}

static int called;

static int last_words(MPI_Comm comm, int key, void* value, void* more) {
  (void)comm, (void)key, (void)value, (void)more;
  exchange_once_more();
  called = 1;
  return MPI_SUCCESS;
}

int exchanged_in_finalize(void) { return called; }

static void call_at_end(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_words, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* When the callback is set: "before" or "after" the first exchanges, on "odd" ranks before and on
 * others after; "only": there are none. */
void in_finalize(const char* when, int persistent) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int before = strcmp(when, "odd") ? strcmp(when, "after") != 0 : rank % 2;
  if (before) call_at_end();
  if (strcmp(when, "only")) {
    left.line = line(&left.of_line, 0);
    all_forms(&left.of_line, left.line, 3), begin_and_wait(&left.of_line, left.line);
    in_place();
    if (persistent) {
      make(&left.of_line, ALLTOALL, &left.kept, left.line, &left.persistent);
      for (int round = 0; round < 3; ++round) start_persistent(round);
    }
  }
  if (!before) call_at_end();
}
