/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling tool as MPI's standard has it: it defines MPI_X, counts the call and calls PMPI_X. In
 * MPI_Finalize rank 0 writes the sums of all ranks into the file `counts`, a line for each function
 * that was called. With FORTRAN it counts the calls of Fortran programs (mpi_x_), too. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>

#define GIVEN_SEND \
  (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c)
#define GIVEN_BEGUN_SEND                                                               \
  (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r), \
      (b, n, t, to, tag, c, r)
#define GIVEN_EQUAL(...) \
  (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c __VA_ARGS__)
#define GIVEN_V(...)                                                                    \
  (const void* s, const int n[], const int d[], MPI_Datatype t, void* r, const int m[], \
   const int e[], MPI_Datatype u, MPI_Comm c __VA_ARGS__)
#define TAKEN_EQUAL(...) (s, n, t, r, m, u, c __VA_ARGS__)
#define TAKEN_V(...) (s, n, d, t, r, m, e, u, c __VA_ARGS__)

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define INIT(name) MPI_##name
#else
#define INIT(name) MPIX_##name
#endif

/* of(MPI's name, its parameters, what they give) */
#define FUNCTIONS(of)                                                                              \
  of(MPI_Init, (int* n, char*** v), (n, v)) of(MPI_Barrier, (MPI_Comm c), (c)) of(                 \
      MPI_Comm_rank, (MPI_Comm c, int* r), (c, r)) of(MPI_Comm_size, (MPI_Comm c, int* r), (c, r)) \
      of(MPI_Comm_dup, (MPI_Comm c, MPI_Comm * n), (c, n)) of(                                     \
          MPI_Comm_free, (MPI_Comm * c),                                                           \
          (c)) of(MPI_Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm* n),        \
                  (c, t, k, i, n)) of(MPI_Bcast,                                                   \
                                      (void* b, int n, MPI_Datatype t, int root, MPI_Comm c),      \
                                      (b, n, t, root, c))                                          \
          of(MPI_Allreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), \
             (s, r, n, t, o, c)) of(MPI_Allgather, GIVEN_EQUAL(), TAKEN_EQUAL())                   \
              of(MPI_Cart_create,                                                                  \
                 (MPI_Comm c, int d, const int n[], const int p[], int o, MPI_Comm* m),            \
                 (c, d, n, p, o, m)) EXPAND(of, MPI_Send, GIVEN_SEND)                              \
                  EXPAND(of, MPI_Ssend, GIVEN_SEND) EXPAND(of, MPI_Isend, GIVEN_BEGUN_SEND)        \
                      EXPAND(of, MPI_Send_init, GIVEN_BEGUN_SEND) of(                              \
                          MPI_Recv,                                                                \
                          (void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c,               \
                           MPI_Status* s),                                                         \
                          (b, n, t, p, g, c, s))                                                   \
                          of(MPI_Irecv,                                                            \
                             (void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c,            \
                              MPI_Request* r),                                                     \
                             (b, n, t, p, g, c, r)) of(MPI_Recv_init,                              \
                                                       (void* b, int n, MPI_Datatype t,            \
                                                        int p, int g, MPI_Comm c, MPI_Request* r), \
                                                       (b, n, t, p, g, c, r))                      \
                              of(MPI_Sendrecv,                                                     \
                                 (const void* b, int n, MPI_Datatype t, int to, int tag, void* r,  \
                                  int m, MPI_Datatype u, int p, int g, MPI_Comm c, MPI_Status* s), \
                                 (b, n, t, to, tag, r, m, u, p, g, c,                              \
                                  s)) of(MPI_Wait, (MPI_Request * r, MPI_Status * s), (r, s))      \
                                  of(MPI_Waitall, (int n, MPI_Request* r, MPI_Status* s),          \
                                     (n, r, s)) of(MPI_Waitany,                                    \
                                                   (int n, MPI_Request* r, int* k, MPI_Status* s), \
                                                   (n, r, k, s))                                   \
                                      of(MPI_Testall,                                              \
                                         (int n, MPI_Request* r, int* f, MPI_Status* s),           \
                                         (n, r, f, s)) of(MPI_Start, (MPI_Request * r), (r))       \
                                          of(MPI_Startall, (int n, MPI_Request* r), (n, r)) of(    \
                                              MPI_Request_free, (MPI_Request * r),                 \
                                              (r)) of(MPI_Alltoall, GIVEN_EQUAL(), TAKEN_EQUAL())  \
                                              of(MPI_Alltoallv, GIVEN_V(), TAKEN_V()) of(          \
                                                  MPI_Neighbor_allgather, GIVEN_EQUAL(),           \
                                                  TAKEN_EQUAL()) of(MPI_Neighbor_alltoall,         \
                                                                    GIVEN_EQUAL(), TAKEN_EQUAL())  \
                                                  of(MPI_Neighbor_alltoallv, GIVEN_V(),            \
                                                     TAKEN_V()) of(MPI_Ineighbor_alltoall,         \
                                                                   GIVEN_EQUAL(, MPI_Request* q),  \
                                                                   TAKEN_EQUAL(, q))               \
                                                      of(INIT(Neighbor_alltoall_init),             \
                                                         GIVEN_EQUAL(, MPI_Info i,                 \
                                                                     MPI_Request* q),              \
                                                         TAKEN_EQUAL(, i, q))                      \
                                                          of(MPI_Initialized, (int* f), (f))       \
                                                              of(MPI_Finalized, (int* f), (f))     \
                                                                  of(MPI_Get_library_version,      \
                                                                     (char* v, int* n), (v, n))
#define EXPAND(of, ...) EXPAND_(of, __VA_ARGS__)
#define EXPAND_(of, ...) of(__VA_ARGS__)

#define NAME(name, ...) NAME_(name)
#define NAME_(name) #name,
#define NUMBER(name, ...) NUMBER_(name)
#define NUMBER_(name) number_of_##name,
#define WRAPPER(name, takes, gives) WRAPPER_(name, takes, gives)
#define WRAPPER_(name, takes, gives) \
  int name takes {                   \
    ++calls[number_of_##name];       \
    return P##name gives;            \
  }

enum { FUNCTIONS(NUMBER) all_in_c };
static const char* const names[] = {FUNCTIONS(NAME)};
static long calls[all_in_c];

FUNCTIONS(WRAPPER)

/* ---- the same for Fortran: all arguments are addresses ---- */

#ifdef FORTRAN
#define ARGUMENTS_1(t) t a
#define ARGUMENTS_3(t) ARGUMENTS_1(t), t b, t c
#define ARGUMENTS_4(t) ARGUMENTS_3(t), t d
#define ARGUMENTS_7(t) ARGUMENTS_4(t), t e, t f, t g
#define ARGUMENTS_8(t) ARGUMENTS_7(t), t h
#define ARGUMENTS_9(t) ARGUMENTS_8(t), t i
#define FORTRANS(of)                                                                         \
  of(init, 1) of(comm_size, 3) of(comm_rank, 3) of(cart_create, 7) of(isend, 8) of(irecv, 8) \
      of(wait, 3) of(waitall, 4) of(neighbor_alltoall, 8) of(ineighbor_alltoall, 9)
#define FORTRAN_NAME(name, count) "mpi_" #name "_",
#define FORTRAN_NUMBER(name, count) number_of_##name,
#define FORTRAN_WRAPPER(name, count)             \
  void pmpi_##name##_(ARGUMENTS_##count(void*)); \
  void mpi_##name##_(ARGUMENTS_##count(void*)) { \
    ++fortran_calls[number_of_##name];           \
    pmpi_##name##_(ARGUMENTS_##count());         \
  }

enum { FORTRANS(FORTRAN_NUMBER) all_in_fortran };
static const char* const fortran_names[] = {FORTRANS(FORTRAN_NAME)};
static long fortran_calls[all_in_fortran];

FORTRANS(FORTRAN_WRAPPER)
#endif

/* ---- the end ---- */

static void write_sums(FILE* file, int count, long* mine, const char* const* of) {
  long sums[64] = {0};
  PMPI_Reduce(mine, sums, count, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int k = 0; file && k < count; ++k)
    if (sums[k]) fprintf(file, "%s %ld\n", of[k], sums[k]);
}

static void write_all(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* const file = rank == 0 ? fopen("counts", "w") : NULL;
  write_sums(file, all_in_c, calls, names);
#ifdef FORTRAN
  write_sums(file, all_in_fortran, fortran_calls, fortran_names);
#endif
  if (file) fclose(file);
}

int MPI_Finalize(void) {
  write_all();
  return PMPI_Finalize();
}

#ifdef FORTRAN
void pmpi_finalize_(void* error);
void mpi_finalize_(void* error) {
  write_all();
  pmpi_finalize_(error);
}
#endif
