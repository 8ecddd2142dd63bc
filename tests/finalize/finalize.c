/* SPDX-License-Identifier: BSD-3-Clause */
/* Delete callbacks of attributes of MPI_COMM_SELF run first in MPI_Finalize. This program uses
 * tonari there: a neighborhood and a request that were there before, and new ones. The argument
 * says when it sets the callback: before or after its first use of tonari, before on odd ranks
 * only, or with no use before. It ends with 1 if the callback was not called to its end, and writes
 * an error of tonari's to the file FINALIZE_SAID, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tonari/tonari.h>

enum { MOST_RANKS = 16 };
static MPI_Comm ring;
static tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
static tonari_request request;
static int rank, ranks, done, out[2], in[2];

static void require(int code) {
  if (code == TONARI_SUCCESS) return;
  fprintf(stderr, "finalize: %s\n", tonari_last_error());
  /* MPICH's launcher loses what a process writes right before MPI_Abort. */
  FILE* said = fopen(getenv("FINALIZE_SAID"), "a");
  if (said) fprintf(said, "%s\n", tonari_last_error()), fclose(said);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int step) {
  for (int k = 0; k < 2; ++k) out[k] = rank * 100 + 2 * step + k, in[k] = -1;
}

/* What goes to the right arrives from the left. */
static void check(int step) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  if (in[0] == left * 100 + 2 * step + 1 && in[1] == right * 100 + 2 * step) return;
  fprintf(stderr, "finalize: rank %d has %d and %d\n", rank, in[0], in[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange(tonari_neighborhood on, tonari_request started) {
  for (int step = 0; step < 3; ++step) {
    fill(step), require(tonari_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, on)), check(step);
    fill(step), require(tonari_start(started)), require(tonari_wait(started)), check(step);
  }
}

static void make(MPI_Comm comm, tonari_neighborhood* on, tonari_request* made) {
  require(tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, on));
  require(tonari_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, *on, MPI_INFO_NULL, made));
}

static void use_new(MPI_Comm comm) {
  tonari_neighborhood on;
  tonari_request made;
  int all[MOST_RANKS];
  make(comm, &on, &made);
  exchange(on, made);
  for (int k = 0; k < ranks; ++k) all[k] = rank * 100 + k;
  require(tonari_alltoall_inplace(all, 1, MPI_INT, comm, MPI_INFO_NULL));
  for (int k = 0; k < ranks; ++k)
    if (all[k] != k * 100 + rank) MPI_Abort(MPI_COMM_WORLD, 1);
  require(tonari_request_free(&made)), require(tonari_neighborhood_free(&on));
}

static int last_words(MPI_Comm comm, int key, void* value, void* more) {
  (void)comm, (void)key, (void)value, (void)more;
  MPI_Comm copy;
  if (near) exchange(near, request);
  use_new(ring);
  MPI_Comm_dup(ring, &copy);
  use_new(copy);
  MPI_Comm_free(&copy);
  done = 1;
  return MPI_SUCCESS;
}

static void call_at_end(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_words, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

int main(int argc, char** argv) {
  const int closed = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &closed, 0, &ring);
  const int before = strcmp(argv[1], "odd") ? strcmp(argv[1], "after") != 0 : rank % 2;
  if (before) call_at_end();
  if (strcmp(argv[1], "only")) make(ring, &near, &request), exchange(near, request), use_new(ring);
  if (!before) call_at_end();
  MPI_Finalize();
  return !done;
}
