/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of tonari nor of the tool that counts its calls (tool.c). How often
 * it calls a function does not depend on time. Ranks are on a ring. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif

enum { ROUNDS = 12, MOST = 64 };
static int rank, ranks, left, right;

static void expect(int is, int should, const char* what) {
  if (is == should) return;
  fprintf(stderr, "counted: rank %d got %d, not %d, from %s\n", rank, is, should, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value_of(int from, int side) { return 10 * from + side; }

/* ---- messages ---- */

static void blocking(void) {
  int out = value_of(rank, 1), in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(in, value_of(left, 1), "Sendrecv");
  if (rank == 0) MPI_Send(&out, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD);
  if (rank == ranks - 1) MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void begun(void) {
  int out[2] = {value_of(rank, 0), value_of(rank, 1)}, in[2] = {-1, -1}, which = 0;
  MPI_Request all[4];
  MPI_Irecv(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &all[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &all[1]);
  MPI_Isend(&out[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &all[2]);
  MPI_Isend(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &all[3]);
  MPI_Waitany(4, all, &which, MPI_STATUS_IGNORE);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  expect(in[0], value_of(left, 1), "Isend");
  expect(in[1], value_of(right, 0), "Isend");
}

static void persistent(void) {
  int out = value_of(rank, 1), in = -1;
  MPI_Request both[2];
  MPI_Recv_init(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(&out, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &both[1]);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  expect(in, value_of(left, 1), "Startall");
  in = -1;
  MPI_Start(&both[0]);
  MPI_Start(&both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  expect(in, value_of(left, 1), "Send_init");
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

/* ---- neighbors ---- */

static MPI_Comm ring(void) {
  const int periods = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periods, 0, &comm);
  return comm;
}

static void check(const int* in, const char* what) {
  if (ranks < 3) return; /* MPICH 4 reverses the blocks of two ranks */
  expect(in[0], value_of(left, 1), what);
  expect(in[1], value_of(right, 0), what);
}

static void neighbors(MPI_Comm comm) {
  const int ones[2] = {1, 1}, places[2] = {0, 1};
  int out[2] = {value_of(rank, 0), value_of(rank, 1)}, in[2] = {-1, -1};
  MPI_Request request;
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  check(in, "Neighbor_alltoall");
  in[0] = in[1] = -1;
  MPI_Neighbor_alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
  check(in, "Neighbor_alltoallv");
  in[0] = in[1] = -1;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(in, "Ineighbor_alltoall");
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
}

/* Together with a message. */
static void persistent_neighbors(MPI_Comm comm) {
  int out[2] = {value_of(rank, 0), value_of(rank, 1)}, in[2] = {-1, -1}, got = -1;
  MPI_Request all[3];
  MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &all[0]);
  MPI_Recv_init(&got, 1, MPI_INT, left, 3, comm, &all[1]);
  MPI_Send_init(out, 1, MPI_INT, right, 3, comm, &all[2]);
  for (int k = 0; k < 3; ++k) {
    in[0] = in[1] = got = -1;
    MPI_Startall(3, all);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    check(in, "Neighbor_alltoall_init");
    expect(got, value_of(left, 0), "Send_init");
  }
  for (int k = 0; k < 3; ++k) MPI_Request_free(&all[k]);
}

static void in_place(void) {
  int blocks[MOST];
  for (int k = 0; k < ranks; ++k) blocks[k] = value_of(rank, k);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, blocks, 1, MPI_INT, MPI_COMM_WORLD);
  for (int k = 0; k < ranks; ++k) expect(blocks[k], value_of(k, rank), "Alltoall");
}

static void all_to_all(void) {
  int counts[MOST] = {0}, places[MOST] = {0}, from[MOST] = {0}, out = value_of(rank, 1), in = -1;
  counts[right] = from[left] = 1;
  MPI_Alltoallv(&out, counts, places, MPI_INT, &in, from, places, MPI_INT, MPI_COMM_WORLD);
  expect(in, value_of(left, 1), "Alltoallv");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Comm comm = ring(), copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  int sum = 0;
  for (int k = 0; k < ROUNDS; ++k) {
    blocking();
    begun();
    persistent();
    neighbors(k % 2 ? copy : comm);
    in_place();
    all_to_all();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  }
  expect(sum, ranks * (ranks - 1) / 2, "Allreduce");
  if (argc > 1) persistent_neighbors(comm); /* MPICH 4 itself waits for ever there */
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  if (rank == 0) puts("counted: done");
  MPI_Finalize();
  return 0;
}
