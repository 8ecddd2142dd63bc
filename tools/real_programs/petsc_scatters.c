/* SPDX-License-Identifier: BSD-3-Clause
 * What PETSc's exchanges take with several types of star forest: scatters and products of a matrix
 * of seven diagonals, ghosts of DMDA, and a solver with multigrid. It knows nothing of tonari.
 *
 * petsc_scatters [-side 64] [-times 500] -types basic,neighbor,tonari [options of PETSc]
 * petsc_scatters -matrix FILE [-times 500] -types ...    products with a matrix in the text form of
 *                                                        Matrix Market, rows in equal parts
 * petsc_scatters [...] -sf_type basic                    one type alone
 *
 * Rank 0 prints lines "NAME TYPE MICROSECONDS": the time of one on the slowest rank, the median of
 * eleven rounds. In each round all types run in turn, so that what slows the machine down for a
 * while slows down all of them. 500 uses come before, or 60 solves, so that types that choose have
 * chosen. */
#include <petscdmda.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, BEFORE = 500, SOLVES_BEFORE = 60, MOST_TYPES = 8 };

typedef struct {
  DM dm;
  Mat matrix;
  Vec global, local, product;
  KSP solver;
} Objects;

/* The objects of one type of star forest behind those of another. */
typedef struct {
  char* names[MOST_TYPES];
  PetscInt count;
} Types;

static Types types = {{NULL}, MOST_TYPES};

/* What is made from now on has star forests of it. */
static PetscErrorCode take_type(PetscInt k) {
  return PetscOptionsSetValue(NULL, "-sf_type", types.names[k]);
}

typedef PetscErrorCode (*Work)(Objects*);

static PetscErrorCode global_to_local(Objects* o) {
  PetscCall(DMGlobalToLocalBegin(o->dm, o->global, INSERT_VALUES, o->local));
  PetscCall(DMGlobalToLocalEnd(o->dm, o->global, INSERT_VALUES, o->local));
  return 0;
}

static PetscErrorCode local_to_local(Objects* o) {
  PetscCall(DMLocalToLocalBegin(o->dm, o->local, INSERT_VALUES, o->local));
  PetscCall(DMLocalToLocalEnd(o->dm, o->local, INSERT_VALUES, o->local));
  return 0;
}

static PetscErrorCode local_to_global(Objects* o) {
  PetscCall(DMLocalToGlobalBegin(o->dm, o->local, ADD_VALUES, o->global));
  PetscCall(DMLocalToGlobalEnd(o->dm, o->local, ADD_VALUES, o->global));
  return 0;
}

static PetscErrorCode multiply(Objects* o) { return MatMult(o->matrix, o->global, o->product); }

static PetscErrorCode multiply_transposed(Objects* o) {
  return MatMultTranspose(o->matrix, o->global, o->product);
}

static PetscErrorCode solve(Objects* o) {
  PetscCall(VecSet(o->product, 0));
  return KSPSolve(o->solver, o->global, o->product);
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static PetscErrorCode round_of(Work work, Objects* o, PetscInt times, double* us) {
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  const double begin = MPI_Wtime();
  for (PetscInt k = 0; k < times; ++k) PetscCall(work(o));
  *us = (MPI_Wtime() - begin) / (double)times * 1e6;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, us, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  return 0;
}

/* of: those of each type. */
static PetscErrorCode measure(const char* name, Work work, Objects* of, PetscInt times,
                              PetscInt before) {
  double us[MOST_TYPES][ROUNDS];
  for (PetscInt t = 0; t < types.count; ++t) {
    PetscCall(take_type(t)); /* PETSc makes some scatters when they are first needed */
    for (PetscInt k = 0; k < before; ++k) PetscCall(work(&of[t]));
  }
  for (int round = 0; round < ROUNDS; ++round)
    for (PetscInt t = 0; t < types.count; ++t)
      PetscCall(round_of(work, &of[t], times, &us[t][round]));
  for (PetscInt t = 0; t < types.count; ++t) {
    qsort(us[t], ROUNDS, sizeof *us[t], by_value);
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s %s %.2f\n", name, types.names[t], us[t][ROUNDS / 2]));
  }
  return 0;
}

static PetscErrorCode make_grid(PetscInt side, PetscInt width, PetscInt dof, Objects* o) {
  const DMBoundaryType open = DM_BOUNDARY_NONE;
  const PetscInt any = PETSC_DECIDE;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, open, open, open, DMDA_STENCIL_BOX, side, side, side,
                         any, any, any, dof, width, NULL, NULL, NULL, &o->dm));
  PetscCall(DMSetUp(o->dm));
  PetscCall(DMCreateGlobalVector(o->dm, &o->global));
  PetscCall(DMCreateLocalVector(o->dm, &o->local));
  PetscCall(VecSet(o->global, 1));
  return 0;
}

static PetscErrorCode free_grid(Objects* o) {
  PetscCall(VecDestroy(&o->local));
  PetscCall(VecDestroy(&o->global));
  PetscCall(DMDestroy(&o->dm));
  return 0;
}

static PetscErrorCode measure_grid(PetscInt side, PetscInt width, PetscInt dof, PetscInt times) {
  static const struct {
    const char* name;
    Work work;
  } exchanges[] = {{"global-to-local", global_to_local},
                   {"local-to-local", local_to_local},
                   {"local-to-global", local_to_global}};
  Objects of[MOST_TYPES] = {{0}};
  char name[64];
  for (PetscInt t = 0; t < types.count; ++t) {
    PetscCall(take_type(t));
    PetscCall(make_grid(side, width, dof, &of[t]));
  }
  for (size_t k = 0; k < sizeof exchanges / sizeof *exchanges; ++k) {
    PetscCall(
        PetscSNPrintf(name, sizeof name, "%s/%d/%d", exchanges[k].name, (int)width, (int)dof));
    PetscCall(measure(name, exchanges[k].work, of, times, BEFORE));
  }
  for (PetscInt t = 0; t < types.count; ++t) PetscCall(free_grid(&of[t]));
  return 0;
}

/* Seven diagonals on a grid of the side. */
static PetscErrorCode make_matrix(PetscInt side, Mat* matrix) {
  const PetscInt rows = side * side * side, step[3] = {1, side, side * side};
  PetscInt first, end;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 7, NULL, 7, NULL,
                         matrix));
  PetscCall(MatGetOwnershipRange(*matrix, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    PetscCall(MatSetValue(*matrix, row, row, 6.1, INSERT_VALUES));
    for (int d = 0; d < 3; ++d) {
      const PetscInt at = row / step[d] % side;
      if (at > 0) PetscCall(MatSetValue(*matrix, row, row - step[d], -1, INSERT_VALUES));
      if (at + 1 < side) PetscCall(MatSetValue(*matrix, row, row + step[d], -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  return 0;
}

typedef PetscErrorCode (*Visit)(PetscInt row, PetscInt column, void* what);

/* Square; each entry, and in a symmetric file its mirror image. Without `visit` only
 * its size is read. */
static PetscErrorCode read_matrix(const char* name, PetscInt* rows, Visit visit, void* what) {
  FILE* file = fopen(name, "r");
  char line[512];
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot open %s", name);
  PetscCheck(fgets(line, sizeof line, file), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", name);
  const int mirrored = strstr(line, "general") == NULL;
  while (fgets(line, sizeof line, file) && line[0] == '%') continue;
  PetscCheck(sscanf(line, "%d", rows) == 1, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", name);
  for (int row, column; visit && fgets(line, sizeof line, file);) {
    if (sscanf(line, "%d %d", &row, &column) != 2) continue;
    PetscCall((*visit)(row - 1, column - 1, what));
    if (mirrored && row != column) PetscCall((*visit)(column - 1, row - 1, what));
  }
  fclose(file);
  return 0;
}

typedef struct {
  PetscInt first, end, *near, *far;
  Mat matrix;
} Part;

static PetscErrorCode count(PetscInt row, PetscInt column, void* what) {
  Part* const part = what;
  if (row < part->first || row >= part->end) return 0;
  ++(column >= part->first && column < part->end ? part->near : part->far)[row - part->first];
  return 0;
}

static PetscErrorCode insert(PetscInt row, PetscInt column, void* what) {
  Part* const part = what;
  if (row < part->first || row >= part->end) return 0;
  return MatSetValue(part->matrix, row, column, row == column ? 4 : -0.01, INSERT_VALUES);
}

static PetscErrorCode load_matrix(const char* name, Mat* matrix) {
  PetscInt rows = 0, mine = PETSC_DECIDE;
  Part part;
  PetscCall(read_matrix(name, &rows, NULL, NULL));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &mine, &rows));
  PetscCallMPI(MPI_Scan(&mine, &part.end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  part.first = part.end - mine;
  PetscCall(PetscCalloc2(mine, &part.near, mine, &part.far));
  PetscCall(read_matrix(name, &rows, count, &part));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, mine, mine, rows, rows, 0, part.near, 0, part.far,
                         &part.matrix));
  PetscCall(read_matrix(name, &rows, insert, &part));
  PetscCall(MatAssemblyBegin(part.matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(part.matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(part.near, part.far));
  *matrix = part.matrix;
  return 0;
}

static PetscErrorCode make_vectors(Objects* o) {
  PetscCall(MatCreateVecs(o->matrix, &o->global, &o->product));
  return VecSet(o->global, 1);
}

static PetscErrorCode free_matrix(Objects* o) {
  PetscCall(KSPDestroy(&o->solver));
  PetscCall(VecDestroy(&o->product));
  PetscCall(VecDestroy(&o->global));
  return MatDestroy(&o->matrix);
}

static PetscErrorCode make_solver(Objects* o) {
  PC pc;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &o->solver));
  PetscCall(KSPSetOperators(o->solver, o->matrix, o->matrix));
  PetscCall(KSPSetType(o->solver, KSPCG));
  PetscCall(KSPGetPC(o->solver, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  return KSPSetFromOptions(o->solver);
}

/* file: or NULL for seven diagonals, which are solved, too. */
static PetscErrorCode measure_matrix(const char* file, PetscInt side, PetscInt times) {
  Objects of[MOST_TYPES] = {{0}};
  for (PetscInt t = 0; t < types.count; ++t) {
    PetscCall(take_type(t));
    PetscCall(file ? load_matrix(file, &of[t].matrix) : make_matrix(side, &of[t].matrix));
    PetscCall(make_vectors(&of[t]));
    if (!file) PetscCall(make_solver(&of[t]));
  }
  PetscCall(measure("product", multiply, of, times, BEFORE));
  PetscCall(measure("transposed-product", multiply_transposed, of, times, BEFORE));
  if (!file) PetscCall(measure("multigrid", solve, of, 2, SOLVES_BEFORE));
  for (PetscInt t = 0; t < types.count; ++t) PetscCall(free_matrix(&of[t]));
  return 0;
}

int main(int argc, char** argv) {
  PetscInt side = 64, times = 500;
  char matrix[PETSC_MAX_PATH_LEN];
  char type[64] = "basic";
  PetscBool loads = PETSC_FALSE, named = PETSC_FALSE;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", matrix, sizeof matrix, &loads));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types.names, &types.count, &named));
  if (!named) {
    PetscCall(PetscOptionsGetString(NULL, NULL, "-sf_type", type, sizeof type, NULL));
    PetscCall(PetscStrallocpy(type, &types.names[0]));
    types.count = 1;
  }
  PetscCall(measure_matrix(loads ? matrix : NULL, side / 2, times));
  for (PetscInt width = 1; width <= 3 && !loads; ++width)
    for (PetscInt dof = 1; dof <= 4; ++dof) PetscCall(measure_grid(side, width, dof, times));
  for (PetscInt t = 0; t < types.count; ++t) PetscCall(PetscFree(types.names[t]));
  return PetscFinalize();
}
