/* SPDX-License-Identifier: BSD-3-Clause
 * A 3-d matrix of seven diagonals, GMRES and products, all by PETSc; it knows nothing of tonari.
 * With -sf_type neighbor the ghosts of each product are one MPI_Ineighbor_alltoallv.
 *
 * petsc_cg [-side 24] [-products 200] [options of PETSc]
 *
 * Rank 0 prints the norm of each residual with all its bits, that of the last product, and on
 * standard error the microseconds of a product. */
#include <petscksp.h>

static PetscErrorCode insert_row(Mat matrix, PetscInt row, PetscInt side) {
  const PetscInt step[3] = {1, side, side * side};
  const PetscInt place[3] = {row % side, row / side % side, row / side / side};
  PetscInt columns[7] = {row}, count = 1;
  PetscScalar values[7] = {6.0};
  for (int d = 0; d < 3; ++d)
    for (int sign = -1; sign <= 1; sign += 2)
      if (place[d] + sign >= 0 && place[d] + sign < side) {
        columns[count] = row + sign * step[d];
        values[count] = -1.0 - 0.001 * (double)(columns[count] % 7);
        ++count;
      }
  PetscCall(MatSetValues(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  return 0;
}

static PetscErrorCode make_matrix(PetscInt side, Mat *matrix) {
  const PetscInt rows = side * side * side;
  PetscInt first, end;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 7, NULL, 7, NULL,
                         matrix));
  PetscCall(MatGetOwnershipRange(*matrix, &first, &end));
  for (PetscInt row = first; row < end; ++row) PetscCall(insert_row(*matrix, row, side));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  return 0;
}

static PetscErrorCode show(KSP solver, PetscInt iteration, PetscReal norm, void *unused) {
  (void)solver, (void)unused;
  return PetscPrintf(PETSC_COMM_WORLD, "residual %d %a\n", (int)iteration, (double)norm);
}

static PetscErrorCode solve(Mat matrix, Vec right, Vec x) {
  KSP solver;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetType(solver, KSPGMRES));
  PetscCall(KSPSetTolerances(solver, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPMonitorSet(solver, show, NULL, NULL));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSolve(solver, right, x));
  PetscCall(KSPDestroy(&solver));
  return 0;
}

static PetscErrorCode multiply(Mat matrix, Vec x, Vec y, PetscInt products) {
  double begin = 0;
  for (PetscInt i = -10; i < products; ++i) {
    if (i == 0) begin = MPI_Wtime();
    PetscCall(MatMult(matrix, x, y));
    PetscCall(VecScale(y, 0.125));
    PetscCall(VecSwap(x, y));
  }
  const double us = (MPI_Wtime() - begin) / (double)products * 1e6;
  PetscReal norm;
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products %a\n", (double)norm));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "us of a product %.1f\n", us));
  return 0;
}

/* No two elements are equal. */
static PetscErrorCode fill(Vec vector) {
  PetscInt first, end;
  PetscCall(VecGetOwnershipRange(vector, &first, &end));
  for (PetscInt i = first; i < end; ++i)
    PetscCall(VecSetValue(vector, i, 1.0 + 1.0 / (double)(i + 1), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(vector));
  PetscCall(VecAssemblyEnd(vector));
  return 0;
}

int main(int argc, char **argv) {
  PetscInt side = 24, products = 200;
  Mat matrix;
  Vec x, y;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-products", &products, NULL));
  PetscCall(make_matrix(side, &matrix));
  PetscCall(MatCreateVecs(matrix, &x, &y));
  PetscCall(fill(y));
  PetscCall(solve(matrix, y, x));
  PetscCall(multiply(matrix, x, y, products));
  PetscCall(MatDestroy(&matrix));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  return PetscFinalize();
}
