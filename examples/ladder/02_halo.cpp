// SPDX-License-Identifier: BSD-3-Clause
// One idea: a grid with ghost cells. tonari divides the cells, and fills the ghosts.
#include <cstddef>
#include <cstdint>
#include <tonari/grid.hpp>

#include "verdict.hpp"

namespace {

constexpr std::int64_t n = 12;  // cells of the whole grid along each dimension

double value(std::int64_t x, std::int64_t y) {
  return static_cast<double>(100 * ((x + n) % n) + (y + n) % n);
}

bool fill_ghosts(const tonari::Grid& grid, const tonari::LocalCells& own) {
  const std::int64_t row = grid.array().stride[0];  // the base is the first ghost cell
  double* const cells = grid.data<double>();
  for (std::int64_t i = 0; i < own.cells[0]; ++i)
    for (std::int64_t j = 0; j < own.cells[1]; ++j)
      cells[(i + 1) * row + j + 1] = value(own.first[0] + i, own.first[1] + j);
  grid.forward();
  bool right = true;  // ghosts at edges and corners included
  for (std::int64_t i = -1; i <= own.cells[0]; ++i)
    for (std::int64_t j = -1; j <= own.cells[1]; ++j)
      right &= cells[(i + 1) * row + j + 1] == value(own.first[0] + i, own.first[1] + j);
  return right;
}

bool halo(int, int ranks) {
  int dims[2] = {0, 0};
  const int periodic[2] = {1, 1};
  MPI_Dims_create(ranks, 2, dims);
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &cart);
  bool right = false;
  {
    const tonari::GridShape shape({n, n}, 1, MPI_DOUBLE);
    const tonari::Grid grid(cart, shape);
    right = fill_ghosts(grid, tonari::local_cells(cart, shape));
  }
  MPI_Comm_free(&cart);
  return right;
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, halo); }
