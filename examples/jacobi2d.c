/* SPDX-License-Identifier: BSD-3-Clause */
/* A first program on tonari.h: Jacobi's iteration for Laplace's equation on a square, distributed
 * over a 2-d grid of ranks.
 *
 *     start the exchange of the border  ->  update the interior, which needs no neighbor  ->  wait
 *     ->  update the border
 *
 * The boundary values are those of x*x - y*y. It satisfies the 5-point equation exactly, so the
 * iteration must converge to it on any number of ranks.
 *
 *     mpiexec -n 4 jacobi2d
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tonari/tonari.h>

enum {
  N = 8,
  WIDTH = N + 2,
  STEPS_PER_CHECK = 100,
  MAX_STEPS = 50000
}; /* N x N points per rank, one layer of ghost points around them */

typedef double Field[WIDTH][WIDTH];

static void check(int code) {
  if (code == TONARI_SUCCESS) return;
  fprintf(stderr, "jacobi2d: %s\n", tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

typedef struct {
  MPI_Comm comm;
  int dims[2], me[2];
} Grid;

static Grid make_grid(void) {
  Grid grid = {MPI_COMM_NULL, {0, 0}, {0, 0}};
  int ranks, periods[2] = {0, 0}; /* a mesh: ranks at the edge have fewer neighbors */
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, grid.dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.dims, periods, 1, &grid.comm);
  MPI_Cart_get(grid.comm, 2, grid.dims, periods, grid.me);
  return grid;
}

/* The solution at point i, j of this rank, ghost points included. */
static double exact(const Grid* grid, int i, int j) {
  const double x = (grid->me[0] * N + i) / (double)(grid->dims[0] * N + 1),
               y = (grid->me[1] * N + j) / (double)(grid->dims[0] * N + 1);
  return x * x - y * y;
}

/* Ghost points hold the boundary values where there is no neighbor; elsewhere the exchange
 * overwrites them. */
static void initialize(const Grid* grid, Field u) {
  for (int i = 0; i < WIDTH; ++i)
    for (int j = 0; j < WIDTH; ++j)
      u[i][j] = i == 0 || j == 0 || i == N + 1 || j == N + 1 ? exact(grid, i, j) : 0;
}

/* Block i goes to the neighbor at offset i and comes from the one at the opposite offset. Row and
 * column are described where they lie, so nothing is
 * packed by hand: down, up, right, left. */
static tonari_request make_exchange(tonari_neighborhood near, Field u) {
  MPI_Datatype row, column;
  MPI_Type_contiguous(N, MPI_DOUBLE, &row);
  MPI_Type_vector(N, 1, WIDTH, MPI_DOUBLE, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Datatype types[4] = {row, row, column, column};
#define AT(i, j) ((MPI_Aint)sizeof(double) * ((i) * WIDTH + (j)))
  const MPI_Aint from[4] = {AT(N, 1), AT(1, 1), AT(1, N), AT(1, 1)};
  const MPI_Aint to[4] = {AT(0, 1), AT(N + 1, 1), AT(1, 0), AT(1, N + 1)};
#undef AT
  tonari_request exchange;
  check(tonari_alltoallw_init(u, counts, from, types, u, counts, to, types, near, MPI_INFO_NULL,
                              &exchange));
  MPI_Type_free(&row);
  MPI_Type_free(&column);
  return exchange;
}

static double update(Field u, Field next, int first_row, int last_row, int first_column,
                     int last_column) {
  double change = 0;
  for (int i = first_row; i <= last_row; ++i)
    for (int j = first_column; j <= last_column; ++j) {
      next[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      change = fmax(change, fabs(next[i][j] - u[i][j]));
    }
  return change;
}

static double update_border(Field u, Field next) {
  const double rows = fmax(update(u, next, 1, 1, 1, N), update(u, next, N, N, 1, N));
  const double columns = fmax(update(u, next, 2, N - 1, 1, 1), update(u, next, 2, N - 1, N, N));
  return fmax(rows, columns);
}

/* Steps until hardly any point changes any more; returns their number. */
static int iterate(const Grid* grid, Field u[2], const tonari_request exchange[2]) {
  int step = 0;
  for (double change = 1; change > 1e-13 && step < MAX_STEPS; ++step) {
    const int now = step % 2;
    check(tonari_start(exchange[now]));
    const double interior = update(u[now], u[1 - now], 2, N - 1, 2, N - 1);
    check(tonari_wait(exchange[now]));
    change = fmax(interior, update_border(u[now], u[1 - now]));
    if (step % STEPS_PER_CHECK == 0)
      MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
    else
      change = 1; /* not known */
  }
  return step;
}

static double max_error(const Grid* grid, Field u) {
  double error = 0;
  for (int i = 1; i <= N; ++i)
    for (int j = 1; j <= N; ++j) error = fmax(error, fabs(u[i][j] - exact(grid, i, j)));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
  return error;
}

int main(int argc, char** argv) {
  static Field u[2];
  const int offsets[] = {1, 0, -1, 0, 0, 1, 0, -1};
  MPI_Init(&argc, &argv);
  Grid grid = make_grid();
  for (int k = 0; k < 2; ++k) initialize(&grid, u[k]);

  tonari_neighborhood near;
  check(tonari_neighborhood_create_cart(grid.comm, 4, offsets, MPI_INFO_NULL, &near));
  tonari_request exchange[2] = {make_exchange(near, u[0]), make_exchange(near, u[1])};
  const int steps = iterate(&grid, u, exchange);
  const double error = max_error(&grid, u[steps % 2]);
  if (grid.me[0] == 0 && grid.me[1] == 0) {
    printf("jacobi2d on %d x %d ranks: %d steps, largest error %.1e\n%s\n", grid.dims[0],
           grid.dims[1], steps, error, tonari_request_describe(exchange[0]));
  }
  for (int k = 0; k < 2; ++k) check(tonari_request_free(&exchange[k]));
  check(tonari_neighborhood_free(&near));
  MPI_Comm_free(&grid.comm);
  MPI_Finalize();
  return error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
