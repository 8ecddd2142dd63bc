/* SPDX-License-Identifier: BSD-3-Clause */
/* All C headers, and a use of each macro in them: header_warnings.py compiles it with warnings. */
#include <tonari/blocks.h>
#include <tonari/fortran.h>
#include <tonari/grid.h>
#include <tonari/grid_layout.h>
#include <tonari/group.h>
#include <tonari/iso.h>
#include <tonari/large_counts.h>
#include <tonari/petsc.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

/* Exchanges nothing: what counts is that it compiles. */
int use_all(MPI_Comm comm);
int use_all(MPI_Comm comm) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
  Iso_request iso = ISO_REQUEST_NULL;
  tonari_messages messages = TONARI_MESSAGES_NULL;
  tonari_grid grid = TONARI_GRID_NULL;
  tonari_vector vector = TONARI_VECTOR_NULL;
  tonari_blocks blocks = TONARI_BLOCKS_NULL;
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  tonari_blocks_shape boxes = TONARI_BLOCKS_SHAPE_INIT;
  const int offsets[TONARI_GRID_MAX_DIMS] = {1, -1, TONARI_VERSION_MAJOR, TONARI_VERSION_MINOR};
  if (near || request || iso || messages || grid || vector || blocks) return TONARI_ERR_INTERNAL;
  shape.dims = boxes.dims = ghosts.along;
  if (shape.dims > boxes.dims) return TONARI_ERR_INTERNAL;
  return tonari_neighborhood_create_cart(comm, 2, offsets, MPI_INFO_NULL, &near);
}
