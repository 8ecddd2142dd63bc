# SPDX-License-Identifier: BSD-3-Clause
"""One idea: every block may have a size of its own (alltoallv)."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, left, right = comm.rank, (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
# Rank r sends r + 1 numbers to the right, and 2 (r + 1) to the left.
sent, received = [rank + 1, 2 * (rank + 1)], [left + 1, 2 * (right + 1)]
out, into = np.full(sum(sent), rank), np.full(sum(received), -1)
with (
    tonari.mpi.Neighborhood.adjacent(comm, [left, right], [right, left]) as near,
    near.alltoallv_init([out, sent], [into, received]) as swap,
):
    swap.start()
    swap.wait()
assert into.tolist() == [left] * received[0] + [right] * received[1]
