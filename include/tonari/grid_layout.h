/* SPDX-License-Identifier: BSD-3-Clause */
/* How the cells of one subdomain of a grid lie in memory. Plain C without MPI: what
 * tonari_grid_layout fills in and what kernels read.
 *
 * Cells are numbered from the first own cell. Own cells are 0 to own - 1 in every dimension; ghost
 * cells are negative or at least own. Dimension 0 varies slowest, the last one is contiguous, as in
 * C and NumPy; in arrays of order Fortran it is the other way round.
 */
#ifndef TONARI_GRID_LAYOUT_H
#define TONARI_GRID_LAYOUT_H

#include <stdint.h>

#define TONARI_GRID_MAX_DIMS 5

/* Before a union without a name, which C99 has as an extension only. */
#if defined(__GNUC__)
#define TONARI_UNNAMED __extension__
#else
#define TONARI_UNNAMED
#endif

/* The cells x with first <= x < end in every dimension; empty if first >= end somewhere. It never
 * gets another member: programs have arrays of boxes. */
typedef struct {
  int64_t first[TONARI_GRID_MAX_DIMS], end[TONARI_GRID_MAX_DIMS];
} tonari_box;

/* The index that runs fastest in arrays: the last one, as in C and NumPy, or the first one, as in
 * Fortran. */
enum { TONARI_ORDER_C = 0, TONARI_ORDER_FORTRAN = 1 };

/* The ghosts that one exchange is about. Start from TONARI_GHOSTS_INIT: all of them. */
enum { TONARI_GHOSTS_NONE = -1 };
typedef struct {
  /* the innermost so many ghost cells of each side; 0 means all that there are, TONARI_GHOSTS_NONE
   * none of them */
  int64_t lower[TONARI_GRID_MAX_DIMS], upper[TONARI_GRID_MAX_DIMS];
  /* ghosts along at most so many dimensions: 1 faces only, 2 edges, too; 0 means all */
  int along;
  int reserved[7]; /* 0 */
} tonari_ghosts;
#ifdef __cplusplus
#define TONARI_GHOSTS_INIT \
  {                        \
  }
#else
#define TONARI_GHOSTS_INIT {0}
#endif

/* A subdomain stored in bricks (Zhao et al. 2021, sections 2 and 6): blocks of cells that are
 * contiguous in memory, in an order that suits communication, with a list of the neighbors of each.
 * A brick is numbered by its place in that order: interior, surface region after surface region,
 * ghost region after ghost region.
 *
 * A direction is a number of `dims` digits in base 3, dimension 0 first. Digit 0 means the lower
 * side, 1 the same coordinate, 2 the upper side. Direction (3^dims - 1) / 2 is the brick itself. */
typedef struct {
  int dims;
  int64_t brick[TONARI_GRID_MAX_DIMS]; /* cells of a brick */
  /* bricks: ghosts below, own, ghosts above */
  int64_t lower[TONARI_GRID_MAX_DIMS], own[TONARI_GRID_MAX_DIMS], upper[TONARI_GRID_MAX_DIMS];
  /* all of them: the product of lower + own + upper. Number `count` is one more brick that stands
   * for all that lie beyond the ghosts: it can be read, and what is in it means nothing. */
  int64_t count;
  int64_t own_count;      /* bricks 0 to own_count - 1 hold own cells */
  int64_t interior_count; /* bricks 0 to interior_count - 1 hold cells that no neighbor needs */
  /* count entries, lexicographic, ghosts included: the number of the brick there */
  const int32_t* number;
  /* count * dims: where brick b is; own bricks from 0 on, so ghosts are negative or at least own */
  const int32_t* position;
  /* (count + 1) * 3^dims: the neighbor of brick b in each direction, `count` beyond the ghosts. All
   * neighbors of brick `count` are `count`. */
  TONARI_UNNAMED union {
    const int32_t* neighbors;
    const int32_t* neighbours; /* its earlier name */
  };
  /* count + 1: where brick b begins, in elements from the base of a field (tonari_grid_data) */
  const int64_t* place;
  int64_t reserved[8]; /* 0 */
} tonari_bricks;

/* A subdomain stored as one array with its ghosts. */
typedef struct {
  int dims;
  /* cells: ghosts below, own, ghosts above */
  int64_t lower[TONARI_GRID_MAX_DIMS], own[TONARI_GRID_MAX_DIMS], upper[TONARI_GRID_MAX_DIMS];
  /* in elements; 1 for the last dimension or, in order Fortran, the first */
  int64_t stride[TONARI_GRID_MAX_DIMS];
  int64_t reserved[8]; /* 0 */
} tonari_array; /* the base of a field (tonari_grid_data) is the first ghost cell: cell -lower */

#endif
