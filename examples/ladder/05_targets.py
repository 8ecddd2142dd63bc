# SPDX-License-Identifier: BSD-3-Clause
"""One idea: on an irregular graph a rank need only know to whom it sends. tonari finds the
sources."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD


def targets_of(rank: int) -> list[int]:
    """The parent of a rank in a binary tree, and the next rank; both may be the same one."""
    return sorted({rank // 2, (rank + 1) % comm.size})


with tonari.mpi.Neighborhood.from_destinations(comm, targets_of(comm.rank)) as near:
    out = 100 * comm.rank + np.array(near.targets)
    into = np.full(len(near.sources), -1)
    near.alltoall(out, into)
    assert sorted(near.sources) == [r for r in range(comm.size) if comm.rank in targets_of(r)]
    assert (into == 100 * np.array(near.sources) + comm.rank).all()
