// SPDX-License-Identifier: BSD-3-Clause
// Succeeds if FFTW's MPI part transforms on the two ranks of this MPI: a one and zeros into ones
// everywhere.
#include <fftw3-mpi.h>

#include <cmath>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int rank = 0;
  ptrdiff_t planes = 0, first = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ptrdiff_t numbers = fftw_mpi_local_size_3d(4, 4, 4, MPI_COMM_WORLD, &planes, &first);
  bool right = planes == 2 && first == 2 * rank && numbers >= 32;
  if (right) {
    fftw_complex* grid = fftw_alloc_complex(static_cast<size_t>(numbers));
    fftw_plan plan =
        fftw_mpi_plan_dft_3d(4, 4, 4, grid, grid, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    for (int i = 0; i < 32; ++i) grid[i][0] = grid[i][1] = 0;
    if (rank == 0) grid[0][0] = 1;
    fftw_execute(plan);
    for (int i = 0; i < 32; ++i)
      right = right && std::abs(grid[i][0] - 1) + std::abs(grid[i][1]) < 1e-12;
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
