# SPDX-License-Identifier: BSD-3-Clause
"""One idea: exchanges in a group travel together, with one message per neighbor."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
heat, kind = np.full(8, 0.5 * comm.rank), np.full(3, 7 * comm.rank)  # of different types
their_heat, their_kind = np.full(8, -1.0), np.full(3, -1)
with tonari.mpi.Neighborhood.adjacent(comm, [left], [right]) as near:
    with tonari.mpi.Group(comm) as fields:
        near.alltoall_init(heat, their_heat)
        near.alltoall_init(kind, their_kind)
    with fields.request as both:
        both.start()
        both.wait()
assert (their_heat == 0.5 * left).all() and (their_kind == 7 * left).all()
