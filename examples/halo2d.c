/* SPDX-License-Identifier: BSD-3-Clause */
/* Halos of a program's own arrays: heat on a periodic plane, 9 points, distributed over a 2-d grid
 * of ranks. tonari uses the two arrays as they are and fills their ghosts.
 *
 *     compute the new copy from the old one  ->  exchange the new copy's ghosts  ->  the other way
 *     round
 *
 * The plane begins as a cosine, which each step multiplies by a number that is known.
 *
 *     mpiexec -n 4 halo2d
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tonari/grid.h>

enum { ROWS = 24, COLUMNS = 40, GHOSTS = 1, STEPS = 50 }; /* own cells of a rank */

typedef double Field[ROWS + 2 * GHOSTS][COLUMNS + 2 * GHOSTS];

static void check(int code) {
  if (code == TONARI_SUCCESS) return;
  fprintf(stderr, "halo2d: %s\n", tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* One step takes the mean over 3 x 3 cells. */
static void compute(Field u, Field next) {
  for (int i = GHOSTS; i < GHOSTS + ROWS; ++i)
    for (int j = GHOSTS; j < GHOSTS + COLUMNS; ++j) {
      double sum = 0;
      for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) sum += u[i + a][j + b];
      next[i][j] = sum / 9;
    }
}

/* The solution at cell i, j of the array: cos(x + y) times (1 + 2 cos(dx)) (1 + 2 cos(dy)) / 9 for
 * each step. */
static double exact(tonari_grid grid, int i, int j, int steps) {
  int64_t first[2];
  tonari_grid_info info;
  check(tonari_grid_get_cells(grid, 0, first, NULL));
  check(tonari_grid_get_info(grid, &info));
  const double dx = 2 * acos(-1) / (double)info.global[0],
               dy = 2 * acos(-1) / (double)info.global[1];
  const double factor = (1 + 2 * cos(dx)) * (1 + 2 * cos(dy)) / 9;
  return pow(factor, steps) *
         cos(dx * (double)(first[0] + i - GHOSTS) + dy * (double)(first[1] + j - GHOSTS));
}

static tonari_grid make_grid(MPI_Comm cart, Field u[2]) {
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 2, shape.type = MPI_DOUBLE, shape.storage = TONARI_STORAGE_ARRAY, shape.copies = 2;
  shape.local = 1, shape.cells[0] = ROWS, shape.cells[1] = COLUMNS; /* of each rank */
  for (int k = 0; k < 2; ++k) shape.lower[k] = shape.upper[k] = GHOSTS;
  void* const arrays[2] = {u[0], u[1]};
  tonari_grid grid;
  check(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid));
  return grid;
}

static double max_error(tonari_grid grid, Field u, int steps) {
  double error = 0;
  for (int i = GHOSTS; i < GHOSTS + ROWS; ++i)
    for (int j = GHOSTS; j < GHOSTS + COLUMNS; ++j)
      error = fmax(error, fabs(u[i][j] - exact(grid, i, j, steps)));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return error;
}

int main(int argc, char** argv) {
  static Field u[2];
  int rank, ranks, dims[2] = {0, 0}, periodic[2] = {1, 1};
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &cart);
  MPI_Comm_rank(cart, &rank);

  tonari_grid grid = make_grid(cart, u);
  tonari_request halo[2];
  for (int c = 0; c < 2; ++c) check(tonari_grid_exchange_init(grid, c, MPI_INFO_NULL, &halo[c]));

  for (int i = GHOSTS; i < GHOSTS + ROWS; ++i)
    for (int j = GHOSTS; j < GHOSTS + COLUMNS; ++j) u[0][i][j] = exact(grid, i, j, 0);
  check(tonari_start(halo[0]));
  check(tonari_wait(halo[0]));
  for (int t = 0; t < STEPS; ++t) {
    const int old = t % 2, now = 1 - old;
    compute(u[old], u[now]);
    check(tonari_start(halo[now]));
    check(tonari_wait(halo[now]));
  }
  const double error = max_error(grid, u[STEPS % 2], STEPS);
  if (rank == 0)
    printf("halo2d on %d x %d ranks: %d steps, largest error %.1e\n%s", dims[0], dims[1], STEPS,
           error, tonari_request_describe(halo[0]));

  for (int c = 0; c < 2; ++c) check(tonari_request_free(&halo[c]));
  check(tonari_grid_free(&grid));
  MPI_Comm_free(&cart);
  MPI_Finalize();
  return error < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
