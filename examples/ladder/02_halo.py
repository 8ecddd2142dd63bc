# SPDX-License-Identifier: BSD-3-Clause
"""One idea: a grid with ghost cells. tonari divides the cells, and fills the ghosts."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm, n = MPI.COMM_WORLD, 12  # n: cells of the whole grid along each dimension
cart = comm.Create_cart(MPI.Compute_dims(comm.size, 2), periods=[True, True])


def values(grid: tonari.mpi.Grid, ghosts: int) -> np.ndarray:
    x, y = (
        np.arange(first - ghosts, first + count + ghosts) % n
        for first, count in zip(grid.first(), grid.cells(), strict=True)
    )
    return 100.0 * x[:, None] + y


with tonari.mpi.Grid(cart, cells=(n, n), halo=1) as grid:
    grid.own()[:] = values(grid, ghosts=0)
    grid.forward()
    assert (grid.array() == values(grid, ghosts=1)).all()  # edges and corners included
