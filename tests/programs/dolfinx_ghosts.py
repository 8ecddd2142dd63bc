# SPDX-License-Identifier: BSD-3-Clause
"""Ghosts of an unstructured mesh, all by DOLFINx; it knows nothing of tonari. They are filled and
added up by MPI_Ineighbor_alltoallv.

dolfinx_ghosts.py [UPDATES]     rank 0 prints how many values are wrong, and on standard error the
                                microseconds of an update of the ghosts

DOLFINx partitions a mesh otherwise in every run, so values are not compared between runs: each
entry is worked out from its global index.
"""

import sys
import time

import numpy as np
from dolfinx import fem, la, mesh
from mpi4py import MPI

updates = int(sys.argv[1]) if len(sys.argv) > 1 else 200
comm = MPI.COMM_WORLD
domain = mesh.create_unit_cube(comm, 10, 10, 10)
space = fem.FunctionSpace(domain, ("Lagrange", 2))
x = fem.Function(space).x
index_map = space.dofmap.index_map
owned = index_map.size_local
local = np.arange(owned + index_map.num_ghosts, dtype=np.int32)
indices = index_map.local_to_global(local).astype(np.float64)
wrong = 0
seconds = 0.0

for step in range(-10, updates):
    expected = 3.0 * indices + step
    x.array[:] = -1.0
    x.array[:owned] = expected[:owned]
    begin = time.perf_counter()
    x.scatter_forward()
    seconds += time.perf_counter() - begin if step >= 0 else 0.0
    wrong += int(np.count_nonzero(x.array != expected))

# Every ghost adds its index to the owner's entry: sums of integers are exact.
before = comm.allreduce(float(indices[:owned].sum()))
added = comm.allreduce(float(indices[owned:].sum()))
x.array[:] = indices
x.scatter_reverse(la.ScatterMode.add)
after = comm.allreduce(float(x.array[:owned].sum()))
wrong += int(after != before + added) + int(bool(np.any(x.array[:owned] % indices[:owned].clip(1))))

checked = comm.allreduce(index_map.num_ghosts)
wrong = comm.allreduce(wrong)
if comm.rank == 0:
    print(f"{wrong} values are wrong" if checked or comm.size == 1 else "there are no ghosts")
    print(f"us of an update {seconds / updates * 1e6:.1f}", file=sys.stderr)
