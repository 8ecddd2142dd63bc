/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: grids with halos on MPI, without packing. The C interface; include <tonari/grid.hpp> from
 * C++.
 *
 *     tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
 *     shape.dims = 3, shape.type = MPI_DOUBLE, shape.storage = TONARI_STORAGE_MAPPED;
 *     shape.copies = 2;
 *     for (int k = 0; k < 3; ++k) shape.cells[k] = 256, shape.lower[k] = shape.upper[k] = 8;
 *     tonari_grid grid;
 *     tonari_grid_create(cart, &shape, NULL, MPI_INFO_NULL, &grid);
 *     tonari_request halo[2];
 *     for (int c = 0; c < 2; ++c) tonari_grid_exchange_init(grid, c, MPI_INFO_NULL, &halo[c]);
 *     for (int t = 0; t < steps; ++t) {
 *       compute(grid, t % 2, 1 - t % 2);
 *       tonari_start(halo[1 - t % 2]);
 *       tonari_wait(halo[1 - t % 2]);
 *     }
 *     tonari_request_free(&halo[0]);
 *     tonari_request_free(&halo[1]);
 *     tonari_grid_free(&grid);
 *
 * The rectangular grid is cut into subdomains. Each has ghost cells around it, which hold copies of
 * cells that neighbors own. An exchange fills the ghosts. How a subdomain is stored decides what
 * that costs (Zhao et al. 2021, "Improving Communication by Optimizing On-Node Data Movement with
 * Data Layout"):
 *   array   lexicographic, as programs have it; what is sent has to be gathered by someone;
 *   brick   in blocks of cells, in an order in which what neighbors need is contiguous (section 3):
 *           nothing is packed, 42 messages instead of 26 in 3-d;
 *   mapped  the same, and what is not contiguous is mapped side by side (section 4): 26 messages.
 *           On one node ghosts can be the neighbor's pages: then an exchange moves no bytes at all.
 *
 * Conventions are those of tonari.h. A grid may be used by one thread at a time; kernels may of
 * course read and write its memory from many.
 */
#ifndef TONARI_GRID_H
#define TONARI_GRID_H

#include <tonari/grid_layout.h>
#include <tonari/tonari.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tonari_grid_s* tonari_grid;
#define TONARI_GRID_NULL TONARI_NULL_HANDLE(tonari_grid)

enum { TONARI_STORAGE_ARRAY = 0, TONARI_STORAGE_BRICK = 1, TONARI_STORAGE_MAPPED = 2 };
enum { TONARI_MEMORY_HOST = 0, TONARI_MEMORY_DEVICE = 1 };

/* What a grid is. Start from TONARI_GRID_SHAPE_INIT; 0 means the default. All members must be the
 * same on all ranks, except for `memory`, `device`, and `cells` if `local` is set. */
typedef struct {
  int dims; /* 1 to 5, as many as the communicator's; dimension 0 varies slowest in order C */
  /* own cells of the whole grid or, if local is set, of each subdomain of this rank */
  int64_t cells[TONARI_GRID_MAX_DIMS];
  /* `cells` is this rank's; ranks that differ in other dimensions only must give the same number of
   * cells in a dimension (checked) */
  int local;
  int64_t lower[TONARI_GRID_MAX_DIMS]; /* ghost cells below each subdomain, per dimension */
  int64_t upper[TONARI_GRID_MAX_DIMS]; /* and above */
  /* per rank and dimension; default 1. The subdomains of a rank are numbered lexicographically. */
  int subdomains[TONARI_GRID_MAX_DIMS];
  int fields; /* default 1 */
  /* brick, mapped: field after field within each brick, instead of one storage per field */
  int interleaved;
  int copies; /* of all of it, such as old and new; default 1 */
  /* of a cell: any type whose elements are contiguous. It can be saved and loaded if it is a
   * predefined number of C or Fortran that NumPy has, too. mapped: its size divides the page. */
  MPI_Datatype type;
  int storage; /* TONARI_STORAGE_... */
  /* brick, mapped: cells of a brick; default 8 in each of up to 3 dimensions, 4 in more. Own cells
   * and widths are multiples. */
  int64_t brick[TONARI_GRID_MAX_DIMS];
  /* mapped: bytes to whose multiples regions are padded, a power of two; default the system's
   * page, or what a device of some rank maps, often 2 MiB */
  size_t page;
  int huge_pages; /* mapped: in huge pages of exactly that size */
  /* mapped, copies >= 2: ghosts that ranks of the same node own, this rank included, are those
   * ranks' pages; on a device, those that this rank owns (below) */
  int mapped_ghosts;
  int order; /* storage array: TONARI_ORDER_C (default) or TONARI_ORDER_FORTRAN */
  /* what tonari allocates on this rank. TONARI_MEMORY_HOST (default), or TONARI_MEMORY_DEVICE:
   * memory of a GPU of CUDA (docs/howto/gpu-memory.md); storage mapped with mapped_ghosts only */
  int memory;
  int device;      /* TONARI_MEMORY_DEVICE: its number for the driver; default 0 */
  int reserved[5]; /* 0 */
} tonari_grid_shape;
#ifdef __cplusplus
#define TONARI_GRID_SHAPE_INIT \
  {                            \
  }
#else
#define TONARI_GRID_SHAPE_INIT {0}
#endif

/* [collective]
 *  cart     a Cartesian communicator. It says which ranks are neighbors, and in which dimensions
 *           the grid is periodic. It is duplicated, not kept.
 *  shape    In a dimension of the whole grid, subdomains differ by at most one cell, or one brick;
 *           the first ones are larger. Bricks and mapped storage need own cells for both surfaces:
 *           at least lower + upper; arrays need at least the larger of the two.
 *  arrays   storage array: NULL (tonari allocates), or copies x subdomains x fields pointers to the
 *           program's arrays (copy 0 subdomain 0 field 0, field 1, ...). Each is lexicographic with
 *           its ghosts (or, in order Fortran, has its first index fastest), lower + own + upper in
 *           every dimension. They are used as they are until the grid is freed. Other storage:
 *           NULL. They may lie in memory of a GPU of CUDA: all of a rank on one device, on some
 *           ranks or on all (docs/howto/gpu-memory.md).
 *  info     or MPI_INFO_NULL. No key applies yet, but one that tonari does not know is an error.
 * Memory that tonari allocates is zero.
 *
 * mapped_ghosts: a ghost region of a neighbor on the same node is a read-only mapping of that
 * neighbor's surface. An exchange then says that this rank's copy is complete, and waits until the
 * neighbors' are: no byte moves. What the neighbor writes is visible here at once, so copies must
 * be written in turn:
 *  - Between two exchanges of one copy another copy must be exchanged to the end (checked at start:
 *    ACTIVE).
 *  - A rank must have read the ghosts of the old copy before it starts the exchange of the new one.
 *  - It writes the surface of the old copy only after that exchange is complete.
 * Programs that compute one copy from the other(s) and exchange it do just that. Ghosts that are
 * mapped cannot be written: not by kernels (SIGSEGV), nor by tonari_grid_import (ARGUMENT). Ghosts
 * of neighbors on other nodes are exchanged by messages.
 * In memory of a device, ghosts that this rank owns are its surface, as with one rank along a
 * periodic dimension; those of all other ranks are exchanged. An exchange that has none orders
 * streams, and does nothing else. Nothing checks that copies take turns, and a kernel that writes
 * such ghosts writes the surface. If some rank has its memory on a device, ranks with memory of the
 * host exchange all their ghosts.
 * Streaming stores (non-temporal: _mm_stream_..., movnt, stnp) may write copies up to the start.
 * The start orders those of the thread that calls it before it says that the copy is complete.
 * Other threads that stream order their own before they meet that thread, as they must for any
 * reader: on x86 by _mm_sfence().
 *
 * Errors: ARGUMENT (a width or a domain that is no multiple of the brick, a domain smaller than its
 * halo, ...), TOPOLOGY, MISMATCH (names the ranks), OVERFLOW, MEMORY (no room, too many mappings,
 * no huge pages), MPI. */
TONARI_API int tonari_grid_create(MPI_Comm cart, const tonari_grid_shape* shape,
                                  void* const arrays[], MPI_Info info, tonari_grid* grid);

/* [collective] What each rank will have of a grid of this shape, before there is one: how to make
 * the arrays that tonari_grid_create takes, or whether they fit.
 *  cart, shape
 *           as for tonari_grid_create, and checked in the same way.
 *  subdomain
 *           one of this rank's, from 0 on.
 *  first, cells
 *           as tonari_grid_get_cells says of it: `dims` numbers each.
 *  length   cells of one array of it (storage array), ghosts included; of other storages the sum of
 *           own cells and ghosts, without padding.
 * Each of the three may be NULL. Nothing is kept.
 * Errors: as tonari_grid_create. */
TONARI_API int tonari_grid_shape_cells(MPI_Comm cart, const tonari_grid_shape* shape, int subdomain,
                                       int64_t first[], int64_t cells[], int64_t* length);

/* [collective] Sets *grid to null. Errors: ACTIVE while requests of the grid exist on some rank
 * (free them first; the grid stays valid). */
TONARI_API int tonari_grid_free(tonari_grid* grid);

/* [collective] An exchange of all ghosts of one copy: a request like all others (tonari_start,
 * tonari_test, tonari_wait, tonari_request_free, tonari_request_describe). Between start and
 * completion own cells near the surface may be read but not written, and ghosts neither. Ghosts
 * beyond a border that is not periodic are left alone.
 *
 * Info keys, the same on all ranks. As environment variables (TONARI_HALO for tonari_halo, ...)
 * they win over info.
 *   tonari_halo  auto (default): what was remembered for such a grid, else the first starts try
 *                what applies, in turns, and the fastest is kept and remembered.
 *                With tonari_tune=auto and measure, and where a thread drives the request, init
 *                times what applies (in half of TONARI_TUNE_SECONDS): own cells keep their values;
 *                ghosts are filled. With measure it is timed even if something was remembered; with
 *                off or model it is plan on arrays, layout, memmap.
 *       array    pack: gathered by vectorized copies, one message per neighbor
 *                datatypes: MPI gathers, by subarray types, one message per neighbor
 *                shift: two messages per dimension, one dimension after the other, so that ghosts
 *                travel on; by subarray types
 *                plan: tonari's exchanges between neighbors (tonari_alltoallw), which combine
 *                messages and use shared memory. It obeys tonari_algorithm, tonari_channel and the
 *                other keys of tonari_alltoall_init.
 *       brick    layout: one message per contiguous piece (section 3.2)
 *                basic: one per surface region (Eq. 3)
 *                plan: as above, of the pieces
 *       mapped   memmap: one message per neighbor (section 4)
 *                shift: two per dimension
 *                layout: as above
 *                plan: as above, of the views
 *                zero-byte, and nothing else, if the grid has mapped ghosts
 *       Where cells of some rank lie in memory of a GPU, it is plan, and nothing else; with mapped
 *       ghosts it is called zero-byte.
 *   tonari_halo_neighbors
 *                all (default), or faces: ghosts along one dimension only, for star stencils. Then
 *                corners and edges are left alone, although shift fills those on its way, also
 *                while starts try it. Several steps per exchange (ghost cell expansion) need all.
 *   tonari_tune, tonari_timeout, tonari_algorithm, tonari_channel, tonari_progress
 *                as in tonari_alltoall_init. tonari_recv_view is ignored.
 * Init exchanges ghosts only where it times that; own cells are not changed.
 * Errors: ARGUMENT (no such copy or key), ALGORITHM (does not apply to this storage), MISMATCH,
 * MEMORY, MPI. */
TONARI_API int tonari_grid_exchange_init(tonari_grid grid, int copy, MPI_Info info,
                                         tonari_request* request);

/* [collective] As tonari_grid_exchange_init, for some of the ghosts only.
 *  ghosts   which ones; the same on all ranks (checked). NULL: all. All others are left alone; but
 *           a shift also fills corners and edges that ghosts.along leaves out. A width is at most
 *           the grid's; on storage brick and mapped it is 0 or TONARI_GHOSTS_NONE. Ghosts along one
 *           direction alone: TONARI_GHOSTS_NONE on every other side.
 *           Mapped ghosts of ranks on the same node show their owners' cells anyway.
 * Errors: as above. */
TONARI_API int tonari_grid_forward_init(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                        MPI_Info info, tonari_request* request);

/* [collective] Prepares the reverse exchange: every own cell becomes cell op all ghosts of it, on
 * all ranks. Ghosts keep their values, and so do own cells of which no ghost is exchanged. Ghosts
 * beyond a border that is not periodic go nowhere. A program that adds up anew sets its ghosts to 0
 * before it does.
 *  ghosts   which of them; as above.
 *  op       MPI_SUM, MPI_MIN or MPI_MAX; the same on all ranks (checked). The type of the cells is
 *           a predefined type of C numbers (as for tonari_vector_reverse_init), or several of one
 *           side by side by MPI_Type_contiguous. Complex numbers have sums only.
 *  info     as above; tonari_halo is auto, or one of the values for this storage but shift and
 *           zero-byte.
 * Between start and completion own cells near the surface must not be touched, and ghosts may be
 * read but not written. With tonari_grid_start_with it combines ghosts of other arrays.
 * The order is fixed, so results are the same bit by bit whatever arrives first, on any ranks that
 * have the same subdomains: neighbor after neighbor, from those on the lower side of dimension 0 to
 * those on its upper side, and so on in the other dimensions.
 * Init may run it, to time it: cells have their values again afterwards.
 * Errors: as above, and ARGUMENT (a type or an operation that cannot be combined; mapped ghosts,
 * which are their owners' cells already; cells in memory of a GPU). */
TONARI_API int tonari_grid_reverse_init(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                        MPI_Op op, MPI_Info info, tonari_request* request);

/* [collective] The same as one-shot calls; complete when they return. The first call with a copy,
 * ghosts and an operation prepares an exchange, which is kept with the grid, the last 8 of them.
 * Later ones ask all ranks once whether they agree (one reduction). Nothing is measured. Mapped
 * ghosts: copies take turns as above. Errors: as above. */
TONARI_API int tonari_grid_forward(tonari_grid grid, int copy, const tonari_ghosts* ghosts);
TONARI_API int tonari_grid_reverse(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                   MPI_Op op);

/* As tonari_start_with, for an exchange of a grid whose storage is array: it fills the ghosts of
 * other arrays than those of the grid's copy.
 *  arrays   subdomains x fields (subdomain 0 field 0, field 1, ...), of the shape that those of
 *           tonari_grid_create have. The fields of a subdomain must lie at the distances from each
 *           other that those of the copy have (checked). They stay bound, as in tonari_start_with;
 *           what tonari_grid_data returns stays as it was.
 * Errors: those of tonari_start_with; ARGUMENT also for other storage. */
TONARI_API int tonari_grid_start_with(tonari_request request, void* const arrays[]);

/* ---- where cells are: local, cheap enough for inner loops only where it says so */

typedef struct {
  int dims;
  int subdomains; /* of this rank */
  int fields, copies;
  int64_t global[TONARI_GRID_MAX_DIMS]; /* cells of the whole grid */
  size_t element_bytes;
  size_t page; /* mapped: of regions; else 0 */
  /* mapped: bytes that padding adds to what is sent to all neighbors, in percent (Zhao 2021,
   * Table 2) */
  double padding_percent;
  /* that this rank's storage and one exchange of each copy, however it is chosen, need at most; on
   * a device, those that the storage has there */
  int64_t mappings;
  /* that this rank's storage has: all copies, ghosts, padding; 0 for the program's own arrays.
   * Ghosts that are the surface on a device count once */
  size_t bytes;
  int64_t reserved[8]; /* 0 */
} tonari_grid_info;
TONARI_API int tonari_grid_get_info(tonari_grid grid, tonari_grid_info* info);

/* Subdomain s: where its first own cell is in the whole grid, and how many own cells it has; each
 * may be NULL. */
TONARI_API int tonari_grid_get_cells(tonari_grid grid, int subdomain, int64_t first[],
                                     int64_t cells[]);

/* The base of a field: what tonari_bricks.place counts from, or the first cell of the array. Valid
 * until the grid is freed. */
TONARI_API int tonari_grid_data(tonari_grid grid, int subdomain, int copy, int field, void** base);

/* Keeps the memory of a grid: what tonari_grid_data, _get_bricks and _get_array point to stays
 * valid until the memory is released, also after tonari_grid_free. For languages whose arrays may
 * live longer than the grid. The program's own arrays (tonari_grid_create) are not kept.
 *  memory   owned by the caller, who releases it with tonari_grid_memory_release. Each hold counts.
 * Local, both of them; release sets *memory to null, and a null memory is fine. It may be called
 * after MPI_Finalize. Errors: ARGUMENT, MEMORY. */
typedef struct tonari_grid_memory_s* tonari_grid_memory;
#define TONARI_GRID_MEMORY_NULL TONARI_NULL_HANDLE(tonari_grid_memory)
TONARI_API int tonari_grid_memory_hold(tonari_grid grid, tonari_grid_memory* memory);
TONARI_API int tonari_grid_memory_release(tonari_grid_memory* memory);

/* How subdomain s is stored; what it points to lives as long as the grid. Errors: ARGUMENT if it is
 * stored otherwise. */
TONARI_API int tonari_grid_get_bricks(tonari_grid grid, int subdomain, tonari_bricks* bricks);
TONARI_API int tonari_grid_get_array(tonari_grid grid, int subdomain, tonari_array* array);

/* The address of cell index[] (see grid_layout.h: own cells from 0 on, ghosts below 0 and from own
 * on). For single cells; loops should use the layouts above. */
TONARI_API int tonari_grid_at(tonari_grid grid, int subdomain, int copy, int field,
                              const int64_t index[], void** cell);

/* The parts of a subdomain as boxes of cells, disjoint, none empty: interior (no neighbor needs
 * it), surface (some neighbor needs it), ghosts (some neighbor, if there is one, fills it). boxes
 * may be NULL; else it has room for as many as *count says on entry. *count becomes how many there
 * are: at most 1, 3^dims - 1 and 3^dims - 1. */
enum {
  TONARI_PART_INTERIOR = 0,
  TONARI_PART_SURFACE = 1,
  TONARI_PART_GHOSTS = 2,
  TONARI_PART_OWN = 3
};
TONARI_API int tonari_grid_boxes(tonari_grid grid, int subdomain, int part, int* count,
                                 tonari_box boxes[]);

/* The numbers of the bricks of a part, ascending (OWN: 0 to own_count - 1); as
 * tonari_grid_boxes. */
TONARI_API int tonari_grid_bricks_of(tonari_grid grid, int subdomain, int part, int64_t* count,
                                     int32_t numbers[]);

/* Copies between the cells of `box` (NULL: own cells) of a field and a lexicographic array of just
 * these cells, which the host reads; in order Fortran its first index is fastest, too. Local. Cells
 * in memory of a GPU: what streams do with them must be complete.
 * Errors: ARGUMENT (null, box beyond the ghosts). */
TONARI_API int tonari_grid_import(tonari_grid grid, int subdomain, int copy, int field,
                                  const tonari_box* box, const void* array);
TONARI_API int tonari_grid_export(tonari_grid grid, int subdomain, int copy, int field,
                                  const tonari_box* box, void* array);

/* [collective] One field of the whole grid, without ghosts, as one NumPy .npy file (format 1.0 or
 * later, in the grid's order). Each rank writes and reads its own cells through MPI-IO. Load wants
 * the same global shape, type and order. Ghosts are not filled: exchange afterwards. The file is
 * complete, or it does not appear under its name.
 * Errors: FILE (name, what was expected and what was found), ARGUMENT (a type that cannot be
 * saved), OVERFLOW (2^31 or more cells in a subdomain), MPI. */
TONARI_API int tonari_grid_save(tonari_grid grid, int copy, int field, const char* filename);
TONARI_API int tonari_grid_load(tonari_grid grid, int copy, int field, const char* filename);

#ifdef __cplusplus
}
#endif
#endif
