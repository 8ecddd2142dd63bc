/* SPDX-License-Identifier: BSD-3-Clause
 * Ghosts of grids by PETSc's DMDA and by tonari, cell for cell: in one to three dimensions, of
 * widths 1 to 3, with one to four numbers in a cell, for boxes and stars, and with every mix of
 * boundaries that are none, ghosted or periodic.
 *
 * Both cut the grid alike. Ghosts that nobody owns keep what was in them.
 *
 * petsc_dmda [-parts N -part K] [options of PETSc]: of every N grids the K-th from 0 on. Rank 0
 * prints how many grids, and how many of the ghosts that all ranks have in them were filled. */
#include <petscdmda.h>
#include <stdio.h>
#include <stdlib.h>
#include <tonari/grid.h>

enum { DIMS = 3, EMPTY = -1 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s (%s)\n", what, tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct {
  int dims, width, dof, star;
  int ranks[DIMS], cells[DIMS]; /* x, y, z, as PETSc orders them; 1 beyond dims */
  DMBoundaryType boundary[DIMS];
} Case;

/* A box of cells, x first. */
typedef struct {
  int first[DIMS], count[DIMS];
} Box;

static int volume(const Box* b) { return b->count[0] * b->count[1] * b->count[2]; }

/* The place of a cell in an array of the cells of `b`. */
static int place(const Box* b, const int at[DIMS]) {
  int k = 0;
  for (int d = DIMS - 1; d >= 0; --d) k = k * b->count[d] + at[d] - b->first[d];
  return k;
}

/* Calls visit(at) for every cell of the box; 0 ends it. */
static int next(const Box* b, int at[DIMS]) {
  for (int d = 0; d < DIMS; ++d) {
    if (++at[d] < b->first[d] + b->count[d]) return 1;
    at[d] = b->first[d];
  }
  return 0;
}

static double value(const Case* c, const int at[DIMS], int number) {
  int cell = 0;
  for (int d = DIMS - 1; d >= 0; --d) {
    const int wrapped = (at[d] % c->cells[d] + c->cells[d]) % c->cells[d];
    cell = cell * c->cells[d] + wrapped;
  }
  return 1 + cell * 4.0 + number;
}

static int inside(const Box* b, const int at[DIMS]) {
  for (int d = 0; d < DIMS; ++d)
    if (at[d] < b->first[d] || at[d] >= b->first[d] + b->count[d]) return 0;
  return 1;
}

/* Own cells have their values, and all others are empty. */
static void fill(const Case* c, const Box* own, const Box* all, double* array) {
  int at[DIMS] = {all->first[0], all->first[1], all->first[2]};
  do {
    for (int n = 0; n < c->dof; ++n)
      array[place(all, at) * c->dof + n] = inside(own, at) ? value(c, at, n) : EMPTY;
  } while (next(all, at));
}

/* ---- PETSc */

static PetscErrorCode make_dm(const Case* c, DM* dm) {
  const DMDAStencilType stencil = c->star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX;
  const DMBoundaryType* b = c->boundary;
  const int *n = c->cells, *r = c->ranks;
  if (c->dims == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, b[0], n[0], c->dof, c->width, NULL, dm));
  else if (c->dims == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, b[0], b[1], stencil, n[0], n[1], r[0], r[1], c->dof,
                           c->width, NULL, NULL, dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b[0], b[1], b[2], stencil, n[0], n[1], n[2], r[0],
                           r[1], r[2], c->dof, c->width, NULL, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  return 0;
}

static PetscErrorCode boxes(DM dm, const Case* c, Box* own, Box* all) {
  PetscInt x, y, z, m, n, p;
  PetscCall(DMDAGetCorners(dm, &x, &y, &z, &m, &n, &p));
  const PetscInt own_first[DIMS] = {x, y, z}, own_count[DIMS] = {m, n, p};
  PetscCall(DMDAGetGhostCorners(dm, &x, &y, &z, &m, &n, &p));
  const PetscInt all_first[DIMS] = {x, y, z}, all_count[DIMS] = {m, n, p};
  for (int d = 0; d < DIMS; ++d) {
    const int used = d < c->dims;
    own->first[d] = used ? (int)own_first[d] : 0, own->count[d] = used ? (int)own_count[d] : 1;
    all->first[d] = used ? (int)all_first[d] : 0, all->count[d] = used ? (int)all_count[d] : 1;
  }
  return 0;
}

/* Fills the local array twice, from the global one and from itself, and keeps it in `found`. */
static PetscErrorCode by_petsc(DM dm, const Case* c, const Box* own, const Box* all,
                               double* found) {
  Vec global, local;
  PetscScalar* array;
  PetscCall(DMCreateGlobalVector(dm, &global));
  PetscCall(DMCreateLocalVector(dm, &local));
  PetscCall(VecGetArray(global, &array));
  fill(c, own, own, array);
  PetscCall(VecRestoreArray(global, &array));
  PetscCall(VecSet(local, EMPTY));
  PetscCall(DMGlobalToLocalBegin(dm, global, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(dm, global, INSERT_VALUES, local));
  PetscCall(VecGetArray(local, &array));
  for (int k = 0; k < volume(all) * c->dof; ++k) found[k] = array[k];
  fill(c, own, all, array);
  PetscCall(VecRestoreArray(local, &array));
  PetscCall(DMLocalToLocalBegin(dm, local, INSERT_VALUES, local));
  PetscCall(DMLocalToLocalEnd(dm, local, INSERT_VALUES, local));
  PetscCall(VecGetArray(local, &array));
  for (int k = 0; k < volume(all) * c->dof; ++k)
    require(array[k] == found[k], "the two ways of DMDA fill other ghosts");
  PetscCall(VecRestoreArray(local, &array));
  PetscCall(VecDestroy(&local));
  PetscCall(VecDestroy(&global));
  return 0;
}

/* ---- tonari */

static MPI_Comm make_cart(const Case* c) {
  int sizes[DIMS], periods[DIMS];
  MPI_Comm cart;
  for (int d = 0; d < c->dims; ++d) {
    sizes[c->dims - 1 - d] = c->ranks[d];
    periods[c->dims - 1 - d] = c->boundary[d] == DM_BOUNDARY_PERIODIC;
  }
  MPI_Cart_create(MPI_COMM_WORLD, c->dims, sizes, periods, 0, &cart);
  return cart;
}

/* `all` becomes the box of the cells that `array`, which the caller frees, has room for. */
static tonari_grid make_grid(const Case* c, MPI_Comm cart, MPI_Datatype cell, const Box* own,
                             Box* all, double** array) {
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  int64_t first[DIMS], cells[DIMS];
  tonari_grid grid;
  shape.dims = c->dims, shape.type = cell;
  *all = *own;
  for (int d = 0; d < c->dims; ++d) {
    const int k = c->dims - 1 - d;
    shape.cells[k] = c->cells[d], shape.lower[k] = shape.upper[k] = c->width;
    all->first[d] -= c->width, all->count[d] += 2 * c->width;
  }
  *array = malloc(sizeof(double) * (size_t)(volume(all) * c->dof));
  void* const arrays[] = {*array};
  require(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid) == TONARI_SUCCESS,
          "no grid");
  require(tonari_grid_get_cells(grid, 0, first, cells) == TONARI_SUCCESS, "no cells");
  for (int d = 0; d < c->dims; ++d)
    require(first[c->dims - 1 - d] == own->first[d] && cells[c->dims - 1 - d] == own->count[d],
            "DMDA cuts the grid in another way");
  return grid;
}

static void by_tonari(const Case* c, const char* way, const Box* own, tonari_grid grid,
                      const Box* all, double* array) {
  tonari_request halo;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_halo", way);
  MPI_Info_set(info, "tonari_tune", "off");
  MPI_Info_set(info, "tonari_halo_neighbors", c->star ? "faces" : "all");
  require(tonari_grid_exchange_init(grid, 0, info, &halo) == TONARI_SUCCESS, "no exchange");
  MPI_Info_free(&info);
  fill(c, own, all, array);
  require(tonari_start(halo) == TONARI_SUCCESS && tonari_wait(halo) == TONARI_SUCCESS,
          "no exchange took place");
  require(tonari_request_free(&halo) == TONARI_SUCCESS, "the request stays");
}

/* ---- both */

/* Cells that PETSc does not have are empty. Returns how many ghosts were filled. */
static long compare(const Case* c, const Box* own, const Box* theirs, const double* petsc,
                    const Box* ours, const double* array) {
  long filled = 0;
  int at[DIMS] = {ours->first[0], ours->first[1], ours->first[2]};
  do {
    for (int n = 0; n < c->dof; ++n) {
      const double here = array[place(ours, at) * c->dof + n];
      const double there =
          inside(theirs, at) ? petsc[place(theirs, at) * c->dof + n] : (double)EMPTY;
      require(here == there, "DMDA has another value");
      require(here == EMPTY || here == value(c, at, n), "both are wrong");
      filled += here != EMPTY && !inside(own, at);
    }
  } while (next(ours, at));
  return filled;
}

static PetscErrorCode run(const Case* c, const char* way, long* filled) {
  DM dm;
  Box own, theirs, ours;
  double* array;
  PetscCall(make_dm(c, &dm));
  PetscCall(boxes(dm, c, &own, &theirs));
  double* petsc = malloc(sizeof(double) * (size_t)(volume(&theirs) * c->dof));
  PetscCall(by_petsc(dm, c, &own, &theirs, petsc));
  MPI_Datatype cell;
  MPI_Type_contiguous(c->dof, MPI_DOUBLE, &cell);
  MPI_Type_commit(&cell);
  MPI_Comm cart = make_cart(c);
  tonari_grid grid = make_grid(c, cart, cell, &own, &ours, &array);
  by_tonari(c, way, &own, grid, &ours, array);
  *filled += compare(c, &own, &theirs, petsc, &ours, array);
  require(tonari_grid_free(&grid) == TONARI_SUCCESS, "the grid stays");
  MPI_Comm_free(&cart);
  MPI_Type_free(&cell);
  free(array), free(petsc);
  PetscCall(DMDestroy(&dm));
  return 0;
}

/* Grids that are not cut evenly; a subdomain has as many cells as it has ghosts on a side. */
static void shape(Case* c, int ranks) {
  int sizes[DIMS] = {0, 0, 0};
  MPI_Dims_create(ranks, c->dims, sizes);
  for (int d = 0; d < DIMS; ++d) {
    c->ranks[d] = d < c->dims ? sizes[d] : 1;
    c->cells[d] = d < c->dims ? c->width * c->ranks[d] + (d < 2 ? 1 : 0) : 1;
  }
}

int main(int argc, char** argv) {
  static const DMBoundaryType kinds[] = {DM_BOUNDARY_NONE, DM_BOUNDARY_GHOSTED,
                                         DM_BOUNDARY_PERIODIC};
  static const char* const ways[] = {"pack", "datatypes", "plan"};
  int ranks, rank;
  long all = 0, grids = 0, filled = 0;
  PetscInt parts = 1, part = 0;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-parts", &parts, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-part", &part, NULL));
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int dims = 1, mixes = 3; dims <= DIMS; ++dims, mixes *= 3)
    for (int mix = 0; mix < mixes; ++mix)
      for (int width = 1; width <= 3; ++width)
        for (int dof = 1; dof <= 4; ++dof)
          for (int star = 0; star <= (dims > 1); ++star) {
            if (all++ % parts != part) continue;
            Case c = {dims, width, dof, star, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
            for (int d = 0, rest = mix; d < dims; ++d, rest /= 3) c.boundary[d] = kinds[rest % 3];
            shape(&c, ranks);
            PetscCall(run(&c, ways[grids++ % 3], &filled));
          }
  MPI_Allreduce(MPI_IN_PLACE, &filled, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld grids, %ld ghosts\n", grids, filled);
  PetscCall(PetscFinalize());
  return 0;
}
