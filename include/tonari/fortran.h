/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: what the Fortran module calls (fortran/tonari.F90, docs/howto/fortran.md). Programs in C
 * use the other headers.
 *
 * Handles of MPI in Fortran are integers, and only C can make C handles of them. So each function
 * here is one or several of the other headers with int in the place of handles. All else
 * means what it means there: indices and places count from 0, and errors are the same.
 *
 * Conventions are those of tonari.h. */
#ifndef TONARI_FORTRAN_H
#define TONARI_FORTRAN_H

#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of the forms of an operation is called. */
enum {
  TONARI_FORTRAN_ONCE = 0,      /* complete when it returns; `request` is ignored */
  TONARI_FORTRAN_STARTED = 1,   /* with i in front of its name */
  TONARI_FORTRAN_PERSISTENT = 2 /* _init */
};

/* Ends the program, with the sentence of the last error on standard error, if `code` is one. */
TONARI_API void tonari_fortran_check(int code);

/* Makes a sentence that of the last error. Returns TONARI_ERR_ARGUMENT. */
TONARI_API int tonari_fortran_refuse(const char* sentence);

/* What the module gives in the place of a buffer: for MPI_IN_PLACE, and for an array that is not
 * contiguous in memory. Both are refused on all ranks where buffers are read. */
TONARI_API void* tonari_fortran_in_place(void);
TONARI_API void* tonari_fortran_not_contiguous(void);

TONARI_API int tonari_fortran_create_cart(int cart, int s, const int offsets[], int info,
                                          tonari_neighborhood* near);
/* Weights that are NULL are MPI_UNWEIGHTED. */
TONARI_API int tonari_fortran_create_adjacent(int comm, int indegree, const int sources[],
                                              const int* sourceweights, int outdegree,
                                              const int destinations[], const int* destweights,
                                              int info, tonari_neighborhood* near);
TONARI_API int tonari_fortran_create_from_destinations(int comm, int outdegree,
                                                       const int destinations[], int info,
                                                       tonari_neighborhood* near);
TONARI_API int tonari_fortran_create_from_comm(int comm, int info, tonari_neighborhood* near);

/* The six operations on neighborhoods.
 *  operation  0 alltoall, 1 alltoallv, 2 alltoallw, 3 allgather, 4 allgatherv, 5 allgatherw
 *  counts, displs, types
 *             of blocks; one entry, or none, where the operation has one for all.
 *  info       read by PERSISTENT only. */
TONARI_API int tonari_fortran_exchange(int form, int operation, const void* sendbuf,
                                       const int sendcounts[], const MPI_Aint senddispls[],
                                       const int sendtypes[], void* recvbuf, const int recvcounts[],
                                       const MPI_Aint recvdispls[], const int recvtypes[],
                                       tonari_neighborhood near, int info, tonari_request* request);
TONARI_API int tonari_fortran_exchange_c(int form, int operation, const void* sendbuf,
                                         const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         const int sendtypes[], void* recvbuf,
                                         const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                         const int recvtypes[], tonari_neighborhood near, int info,
                                         tonari_request* request);
/* The four in place.
 *  operation  0 alltoall, 1 alltoallv, 2 alltoallw, 3 alltoallv_inplace_general; all but the last
 *             one read the lists of the sending side only. */
TONARI_API int tonari_fortran_exchange_inplace(int form, int operation, void* buf,
                                               const int sendcounts[], const MPI_Aint senddispls[],
                                               const int recvcounts[], const MPI_Aint recvdispls[],
                                               const int types[], int comm, int info,
                                               tonari_request* request);
TONARI_API int tonari_fortran_exchange_inplace_c(int form, int operation, void* buf,
                                                 const MPI_Count sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const MPI_Count recvcounts[],
                                                 const MPI_Aint recvdispls[], const int types[],
                                                 int comm, int info, tonari_request* request);
/* ONCE: tonari_sparse_alltoallv, STARTED: tonari_sparse_ialltoallv. Both read `info`. */
TONARI_API int tonari_fortran_sparse(int form, int sends, const int destinations[],
                                     const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                     int type, const void* sendbuf, int comm, int info,
                                     tonari_messages* messages, tonari_request* request);

TONARI_API int tonari_fortran_group_start(int comm);
/* ONCE: tonari_group_run, STARTED: tonari_group_irun, PERSISTENT: tonari_group_end. */
TONARI_API int tonari_fortran_group_end(int form, int info, tonari_request* request);

/* A grid of storage array in order Fortran; parameters are the members of tonari_grid_shape. */
TONARI_API int tonari_fortran_grid_create(int cart, int dims, const int64_t cells[], int local,
                                          const int64_t lower[], const int64_t upper[],
                                          const int subdomains[], int fields, int copies,
                                          int memory, int device, int type, void* const arrays[],
                                          int info, tonari_grid* grid);
/* ONCE or PERSISTENT. reverse: 0 forward, which ignores op; 1 reverse. */
TONARI_API int tonari_fortran_grid_exchange(int form, int reverse, tonari_grid grid, int copy,
                                            const tonari_ghosts* ghosts, int op, int info,
                                            tonari_request* request);

/* Blocks with arrays in order Fortran; parameters are the members of tonari_blocks_shape, and
 * owned, the length of owners. */
TONARI_API int tonari_fortran_blocks_create(int comm, int dims, int64_t count,
                                            const tonari_box boxes[], int64_t owned,
                                            const int owners[], const tonari_box* domain,
                                            const int periodic[], const int64_t lower[],
                                            const int64_t upper[], int fields, int type, int info,
                                            tonari_blocks* blocks);
/* As for grids. */
TONARI_API int tonari_fortran_blocks_exchange(int form, int reverse, tonari_blocks blocks,
                                              void* const arrays[], const tonari_ghosts* ghosts,
                                              int op, int info, tonari_request* request);

TONARI_API int tonari_fortran_vector_create(int comm, int64_t first, int64_t owned, int64_t needed,
                                            const int64_t indices[], int info,
                                            tonari_vector* vector);
TONARI_API int tonari_fortran_vector_create_from_neighbors(
    int comm, int64_t owned, int sends, const int destinations[], const int sendcounts[],
    const int send_indices[], int receives, const int sources[], const int recvcounts[],
    const int recv_places[], int info, tonari_vector* vector);
TONARI_API int tonari_fortran_vector_create_from_ids(
    int comm, int64_t owned, const int64_t owned_ids[], const int owned_places[], int64_t needed,
    const int64_t needed_ids[], const int ghost_places[], int info, tonari_vector* vector);
TONARI_API int tonari_fortran_vector_create_shared(int comm, int64_t count, const int64_t ids[],
                                                   const int places[], int info,
                                                   tonari_vector* vector);
TONARI_API int tonari_fortran_vector_create_box_nodes(int cart, const int cells[], int info,
                                                      tonari_vector* vector);
TONARI_API int tonari_fortran_vector_create_box_cells(int cart, const int cells[], int width,
                                                      int along, int info, tonari_vector* vector);
/* One field of a vector's exchange; members are those of tonari_vector_field and of its values. */
typedef struct {
  int type;
  int components, vectors;
  int64_t owned_stride, ghost_stride;
  void *owned, *ghosts;
} tonari_fortran_field;
/* ONCE or PERSISTENT. direction: 0 forward, which ignores op; 1 reverse; 2 combine. */
TONARI_API int tonari_fortran_vector_exchange(int form, int direction, tonari_vector vector,
                                              int fields, const tonari_fortran_field field[],
                                              int op, int info, tonari_request* request);

#ifdef __cplusplus
}
#endif
#endif
