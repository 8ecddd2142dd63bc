/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids and graphs, and who gets which block of whom in them. */
#include "unmodified.h"

/* MPI 4.1, 8.6: two neighbors per dimension, at -1 and at +1. What goes towards +1 arrives as the
 * block from -1. */
MPI_Comm grid(edges* e, int dims, const int* extents, const int* periods) {
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

MPI_Comm line(edges* e, int closed) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return grid(e, 1, &ranks, &closed);
}

/* Rank r sends to so many ranks, and to these. Distinct ones are as many as it receives from; else
 * it has some twice, and may be one of them. */
static int degree(int r, int ranks, int distinct) {
  return distinct ? (ranks > 2 ? 2 : ranks) : r % 4 + (r == 1 ? 3 : 0);
}
static int target(int r, int i, int ranks, int distinct) {
  return distinct ? (r + 1 + i) % ranks : (r * 5 + i * (i + 1) / 2) % ranks;
}

MPI_Comm graph(edges* e, int distinct) {
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

typedef void using(const edges* e, MPI_Comm comm);

static void on_grid(using* use, int dims, const int* extents, const int* periods) {
  edges e = {0};
  MPI_Comm comm = grid(&e, dims, extents, periods);
  if (comm == MPI_COMM_NULL) return;
  use(&e, comm);
  MPI_Comm copy; /* a duplicate has the topology, but nothing that was attached */
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&comm);
  all_forms(&e, copy, 3);
  MPI_Comm_free(&copy);
}

static void on_graph(using* use, int distinct) {
  edges e = {0};
  MPI_Comm comm = graph(&e, distinct);
  use(&e, comm);
  MPI_Comm_free(&comm);
}

void exchanges(int distinct, using* use) {
  int ranks, row[1], flat[2] = {0, 0};
  const int open[2] = {0, 0}, mixed[2] = {1, 0}, closed[2] = {1, 1}, single[2] = {1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  row[0] = ranks;
  MPI_Dims_create(ranks, 2, flat);
  on_grid(use, 1, row, open), on_grid(use, 2, flat, open);
  on_graph(use, 1);
  if (distinct) return;
  on_grid(use, 1, row, closed), on_grid(use, 2, flat, mixed), on_grid(use, 2, flat, closed);
  on_grid(use, 2, single, closed); /* one rank in two closed dimensions; the others are left out */
  on_graph(use, 0);
}
