# SPDX-License-Identifier: BSD-3-Clause
"""One idea: name your neighbors by offsets, and exchange a block with each of them."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
cart = comm.Create_cart([comm.size], periods=[True])
with tonari.mpi.Neighborhood(cart, [[-1], [1]]) as near:
    # Block i goes to the rank at offset i, and comes from the rank at minus offset i.
    to_left_and_right = np.array([10 * comm.rank, 10 * comm.rank + 1])
    from_right_and_left = np.empty_like(to_left_and_right)
    near.alltoall(to_left_and_right, from_right_and_left)

left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
assert from_right_and_left.tolist() == [10 * right, 10 * left + 1]
