# SPDX-License-Identifier: BSD-3-Clause
"""What was not freed when MPI is finalized does no harm afterwards. Prints one line."""

from __future__ import annotations

import numpy as np
import tonari.mpi
from mpi4py import MPI

cart = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], periods=[True])
near = tonari.mpi.Neighborhood(cart, [[1]])
freed_later = tonari.mpi.Neighborhood(cart, [[-1]])
send, recv = np.full(4, float(cart.rank)), np.zeros(4)
request = near.alltoall_init(send, recv)
request.start()
request.wait()
in_flight = near.ialltoall(send, recv.copy())
cart.Barrier()
rank = cart.rank
MPI.Finalize()
assert "alltoall" in repr(request) and recv[0] == near.sources[0]
del request, in_flight
freed_later.free()
del near
with freed_later:
    pass
if rank == 0:
    print("finalized")
