/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad luck of some ranks, with libtonari_preload in front of the MPI. Functions that the library
 * calls are defined here once more, since a program's own come first.
 *
 *   luck absolute   types with absolute addresses: what is wrong is the length
 *   luck dies       the last rank is killed amid exchanges in place
 *   luck attribute  rank 1 has no memory for attributes of communicators
 *   luck tokens     rank 1 has no memory for what a persistent request needs
 *   luck aborts     the error handler ends the job */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8, LENGTH = 4 };
static int rank, ranks, left, right;
static int attributes_fail, duplicates_fail, receives_fail; /* so many times on this rank */
static int last_tag = -1, requests_freed;

static void expect(int is, int should, const char* what) {
  if (is == should) return;
  fprintf(stderr, "luck: rank %d got %d, not %d, from %s\n", rank, is, should, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- what the library calls ---- */

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  if (attributes_fail) return MPI_ERR_NO_MEM;
  return ((int (*)(MPI_Comm, int, void*))next("PMPI_Comm_set_attr"))(comm, key, value);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  if (comm == MPI_COMM_SELF && duplicates_fail && duplicates_fail--) return MPI_ERR_NO_MEM;
  return ((int (*)(MPI_Comm, MPI_Comm*))next("PMPI_Comm_dup"))(comm, made);
}

int PMPI_Recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  last_tag = tag;
  if (receives_fail && receives_fail--) return MPI_ERR_NO_MEM;
  return ((int (*)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))next(
      "PMPI_Recv_init"))(buffer, count, type, from, tag, comm, request);
}

int tonari_request_free(void** request) {
  ++requests_freed;
  return ((int (*)(void**))next("tonari_request_free"))(request);
}

int nanosleep(const struct timespec* rest, struct timespec* left_over) {
  if (rest->tv_nsec == 20000000) fprintf(stderr, "luck: rested\n");
  return ((int (*)(const struct timespec*, struct timespec*))next("nanosleep"))(rest, left_over);
}

/* ---- absolute addresses ---- */

static MPI_Datatype at(int* ints, int length) {
  MPI_Datatype type;
  MPI_Aint address;
  MPI_Get_address(ints, &address);
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/* A block from the left, of which `length` integers are expected. */
static int exchange(int form, int length, MPI_Comm comm) {
  int out[LENGTH], in[LENGTH] = {0}, rc = MPI_SUCCESS, class = MPI_SUCCESS;
  const int one = 1, none = 0;
  const MPI_Aint nowhere = 0;
  for (int k = 0; k < LENGTH; ++k) out[k] = 100 * rank + 10 * form + k;
  MPI_Datatype sent = at(out, LENGTH), got = at(in, length);
  void* const from = MPI_BOTTOM;
  if (form == 0) rc = MPI_Neighbor_alltoall(from, 1, sent, from, 1, got, comm);
  if (form == 1) rc = MPI_Neighbor_alltoallv(from, &one, &none, sent, from, &one, &none, got, comm);
  if (form == 2)
    rc = MPI_Neighbor_alltoallw(from, &one, &nowhere, &sent, from, &one, &nowhere, &got, comm);
  if (form == 3) rc = MPI_Neighbor_allgather(from, 1, sent, from, 1, got, comm);
  if (form == 4) rc = MPI_Neighbor_allgatherv(from, 1, sent, from, &one, &none, got, comm);
  MPI_Type_free(&sent), MPI_Type_free(&got);
  for (int k = 0; rc == MPI_SUCCESS && k < length; ++k)
    expect(in[k], 100 * left + 10 * form + k, "a block at an absolute address");
  MPI_Error_class(rc, &class);
  return class;
}

static void absolute(void) {
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int form = 0; form < 5; ++form) {
    expect(exchange(form, LENGTH, comm), MPI_SUCCESS, "a call that is right");
    expect(exchange(form, LENGTH - 1, comm), MPI_ERR_TRUNCATE, "a block that is too long");
  }
  MPI_Comm_free(&comm);
}

/* ---- a rank that dies ---- */

/* In a file: a launcher may lose what it is told when a rank dies. */
static void tell_heard(void) {
  char name[32];
  snprintf(name, sizeof name, "heard-%d", rank);
  FILE* const file = fopen(name, "w");
  if (file) fclose(file);
}

static void in_place(int round) {
  int blocks[MOST];
  for (int k = 0; k < ranks; ++k) blocks[k] = 100 * round + 10 * rank + k;
  const int rc = MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, blocks, 1, MPI_INT, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) {
    tell_heard();
    _exit(0);
  }
  for (int k = 0; k < ranks; ++k) expect(blocks[k], 100 * round + 10 * k + rank, "Alltoall");
}

static void dies(void) {
  signal(SIGUSR1, SIG_IGN); /* by which MPICH's launcher tells of a rank that ended early */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 1000000; ++round) {
    if (rank == ranks - 1 && round == 20) raise(SIGKILL);
    in_place(round);
  }
}

/* ---- no memory ---- */

static MPI_Comm ring(void) {
  const int periods = 1;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periods, 0, &comm);
  return comm;
}

static void neighbors(MPI_Comm comm) {
  int out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1};
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  expect(in[0], 10 * left + 1, "Neighbor_alltoall");
  expect(in[1], 10 * right, "Neighbor_alltoall");
}

static void attribute(void) {
  attributes_fail = rank == 1;
  MPI_Comm one = ring(), two = ring();
  for (int round = 0; round < 4; ++round) {
    neighbors(one), neighbors(one), in_place(round);
    if (rank != 1) MPI_Barrier(MPI_COMM_SELF);
    neighbors(two);
  }
  MPI_Comm_free(&one), MPI_Comm_free(&two);
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define Neighbor_alltoall_init MPI_Neighbor_alltoall_init
#else
#define Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif

static void tokens(void) {
  MPI_Comm comm = ring();
  int out[2] = {10 * rank, 10 * rank + 1}, in[2], refused_tag = -1;
  for (int round = 0; round < 3; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    duplicates_fail = rank == 1 && round == 0, receives_fail = rank == 1 && round == 1;
    const int freed = requests_freed;
    const int rc =
        Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    expect(rc, rank == 1 && round < 2 ? MPI_ERR_NO_MEM : MPI_SUCCESS, "Neighbor_alltoall_init");
    if (rank == 1) expect(requests_freed - freed, round < 2, "an exchange without a request");
    if (round == 1) refused_tag = last_tag;
    if (round == 2) {
      if (rank == 1) expect(last_tag, refused_tag, "a tag that was given back");
      MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(in[0], 10 * left + 1, "Neighbor_alltoall_init");
      expect(in[1], 10 * right, "Neighbor_alltoall_init");
    }
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
}

/* ---- a handler of the program ---- */

static void end_job(MPI_Comm* comm, int* code, ...) { MPI_Abort(*comm, *code); }

static void aborts(void) {
  MPI_Comm comm = ring();
  MPI_Errhandler handler;
  int out[2] = {0}, in[2];
  MPI_Comm_create_errhandler(end_job, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Neighbor_alltoall(out, -1, MPI_INT, in, -1, MPI_INT, comm);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  alarm(60); /* no rank waits for ever */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  if (!strcmp(what, "absolute")) absolute();
  if (!strcmp(what, "dies")) dies();
  if (!strcmp(what, "attribute")) attribute();
  if (!strcmp(what, "tokens")) tokens();
  if (!strcmp(what, "aborts")) aborts();
  if (rank == 0) puts("luck: done");
  MPI_Finalize();
  return 0;
}
