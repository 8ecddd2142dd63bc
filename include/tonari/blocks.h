/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: block-structured grids on MPI. The C interface; include <tonari/blocks.hpp> from C++.
 *
 *     tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;
 *     shape.dims = 3, shape.type = MPI_DOUBLE;
 *     shape.count = n, shape.boxes = boxes, shape.owners = owners;  // of all ranks
 *     for (int k = 0; k < 3; ++k) shape.lower[k] = shape.upper[k] = 2;
 *     tonari_blocks blocks;
 *     tonari_blocks_create(comm, &shape, MPI_INFO_NULL, &blocks);
 *     tonari_request fill;
 *     tonari_blocks_forward_init(blocks, arrays, NULL, MPI_INFO_NULL, &fill);
 *     for (int t = 0; t < steps; ++t) {
 *       tonari_start(fill);
 *       tonari_wait(fill);
 *       compute(arrays);
 *     }
 *     tonari_request_free(&fill);
 *     tonari_blocks_free(&blocks);
 *
 * Blocks are boxes of cells of one grid: the patches of one level of adaptive mesh refinement, or
 * the parts of a domain that is no box. They share no cell, may leave gaps, and each has an owner.
 * A rank has an array for each of its blocks, with ghost cells around. A forward exchange fills
 * ghosts that are own cells of some block. A reverse one combines them at their owners. In both, a
 * rank sends one message to each rank that it has cells for; blocks of one rank are copied.
 * For one box that is cut evenly among ranks, grid.h knows faster storages.
 *
 * Conventions are those of tonari.h. */
#ifndef TONARI_BLOCKS_H
#define TONARI_BLOCKS_H

#include <tonari/grid_layout.h>
#include <tonari/tonari.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tonari_blocks_s* tonari_blocks;
#define TONARI_BLOCKS_NULL TONARI_NULL_HANDLE(tonari_blocks)

/* What the blocks are. Start from TONARI_BLOCKS_SHAPE_INIT; 0 means the default. All members must
 * be the same on all ranks (checked): arrays by what is in them, the type by its size. */
typedef struct {
  int dims;      /* 1 to 5 */
  int64_t count; /* blocks of all ranks */
  /* their own cells, numbered in the whole grid; none is empty, and no cell is in two */
  const tonari_box* boxes;
  const int* owners; /* of each: a rank */
  /* the whole grid; looked at in dimensions in which it is periodic: there blocks are within it,
   * and ghosts beyond it are cells of its other side */
  tonari_box domain;
  int periodic[TONARI_GRID_MAX_DIMS];
  /* ghost cells below each block and above, per dimension; may be wider than blocks are */
  int64_t lower[TONARI_GRID_MAX_DIMS], upper[TONARI_GRID_MAX_DIMS];
  MPI_Datatype type; /* of a cell: any type whose elements are contiguous */
  int fields;        /* each in an array of its own; default 1 */
  int order;         /* TONARI_ORDER_C (default) or TONARI_ORDER_FORTRAN */
  int reserved[8];   /* 0 */
} tonari_blocks_shape;
#ifdef __cplusplus
#define TONARI_BLOCKS_SHAPE_INIT \
  {                              \
  }
#else
#define TONARI_BLOCKS_SHAPE_INIT {0}
#endif

/* [collective over comm]
 *  comm     any intracommunicator; duplicated, not kept.
 *  shape    read during the call only.
 *  info     or MPI_INFO_NULL. No key applies yet, but one that tonari does not know is an error.
 *  blocks   owned by the caller, who frees it with tonari_blocks_free.
 * Each rank keeps the list of all blocks, and finds its neighbors in it without communication.
 * Errors: ARGUMENT (a box that is empty, overlaps another or leaves a periodic domain, an owner
 * that is no rank: the sentence names the blocks), TOPOLOGY (an intercommunicator), MISMATCH,
 * OVERFLOW, MEMORY, MPI. */
TONARI_API int tonari_blocks_create(MPI_Comm comm, const tonari_blocks_shape* shape, MPI_Info info,
                                    tonari_blocks* blocks);

/* [collective] Requests made on it stay valid. Sets *blocks to null. */
TONARI_API int tonari_blocks_free(tonari_blocks* blocks);

/* The blocks of this rank, ascending. numbers may be NULL; else it has room for as many as *count
 * says on entry. *count becomes how many there are. Local. Errors: ARGUMENT. */
TONARI_API int tonari_blocks_get_own(tonari_blocks blocks, int64_t* count, int64_t numbers[]);

/* How the arrays of a block, of any rank, lie: its own cells, ghosts and strides. Cells of it count
 * from its first own cell. Local. Errors: ARGUMENT (no such block). */
TONARI_API int tonari_blocks_get_array(tonari_blocks blocks, int64_t block, tonari_array* array);

/* [collective] Prepares a forward exchange: ghosts that are own cells of a block become what that
 * block has. All other ghosts are left alone. It is a request like all others (tonari_start,
 * tonari_test, tonari_wait, tonari_request_free, tonari_request_describe).
 *  arrays   own blocks x fields (first own block field 0, field 1, ...), as tonari_blocks_get_own
 *           lists them; each begins at the first ghost cell. The program's; they share no byte
 *           (checked), and must live as long as the request. May be NULL if this rank has no block.
 *           Between start and completion cells that are sent may be read but not written, and
 *           ghosts neither.
 *  ghosts   which ones, at most as wide as the shape's; the same on all ranks (checked). NULL: all.
 *           A ghost is along as many dimensions as it is beyond its own block in.
 *  info     keys of tonari_alltoall_init (tonari_algorithm, tonari_channel, tonari_tune, ...);
 *           tonari_recv_view is ignored. tonari_start_with=yes: tonari_blocks_start_with may bring
 *           other arrays; each array then is a block of its own, which takes longer.
 * Errors: ARGUMENT, BUFFERS, MISMATCH, OVERFLOW, ALGORITHM, MEMORY, MPI. */
TONARI_API int tonari_blocks_forward_init(tonari_blocks blocks, void* const arrays[],
                                          const tonari_ghosts* ghosts, MPI_Info info,
                                          tonari_request* request);

/* [collective] Prepares the reverse exchange: every own cell becomes cell op all ghosts of it, on
 * all ranks. Ghosts keep their values.
 *  op       MPI_SUM, MPI_MIN or MPI_MAX; the same on all ranks (checked). The types are those of
 *           tonari_grid_reverse_init.
 * Between start and completion own cells must not be touched, and ghosts may be read but not
 * written. The order is fixed, so results are the same bit by bit whatever arrives first: rank
 * after rank, and of a rank in the order of its blocks.
 * Errors: as above. */
TONARI_API int tonari_blocks_reverse_init(tonari_blocks blocks, void* const arrays[],
                                          const tonari_ghosts* ghosts, MPI_Op op, MPI_Info info,
                                          tonari_request* request);

/* As tonari_start_with, for a request of one of the two functions above that was made with the info
 * key tonari_start_with=yes: it exchanges other arrays than those of init.
 *  arrays   own blocks x fields, as there. They may lie anywhere, but share no byte (checked). They
 *           stay bound, as in tonari_start_with. May be NULL if this rank has no block.
 * All arrays are looked at: with hundreds of them a start with others takes longer by as much as a
 * short exchange takes.
 * Errors: those of tonari_start_with. */
TONARI_API int tonari_blocks_start_with(tonari_request request, void* const arrays[]);

/* [collective] The same as one-shot calls; complete when they return. The first call with certain
 * arrays, ghosts and an operation prepares an exchange, which is kept with the blocks, the last 8
 * of them. Later ones ask all ranks once whether they agree (one reduction). Nothing is measured.
 * Errors: as above. */
TONARI_API int tonari_blocks_forward(tonari_blocks blocks, void* const arrays[],
                                     const tonari_ghosts* ghosts);
TONARI_API int tonari_blocks_reverse(tonari_blocks blocks, void* const arrays[],
                                     const tonari_ghosts* ghosts, MPI_Op op);

#ifdef __cplusplus
}
#endif
#endif
