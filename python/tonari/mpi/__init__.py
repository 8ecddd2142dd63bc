# SPDX-License-Identifier: BSD-3-Clause
"""tonari on communicators of mpi4py.

>>> import numpy as np
>>> from mpi4py import MPI
>>> import tonari.mpi
>>> cart = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(MPI.COMM_WORLD.size, 2), periods=[True] * 2)
>>> near = tonari.mpi.Neighborhood(cart, "moore:2:1")
>>> send = np.zeros((len(near.targets), 64))
>>> recv = np.empty((len(near.sources), 64))
>>> swap = near.alltoall_init(send, recv)
>>> for step in range(100):
...     swap.start()
...     swap.wait()
>>> print(swap.describe())

Importing it initializes MPI as mpi4py does, and loads the libtonari that was built for this MPI.
Everything raises tonari.Error, with the sentences of the C interface.
"""

from tonari.mpi.library import KIND as mpi_kind
from tonari.mpi.library import PATH as library_path
from tonari.mpi.neighborhood import Neighborhood
from tonari.mpi.request import Request, RequestInfo, startall, waitall

__all__ = [
    "Neighborhood",
    "Request",
    "RequestInfo",
    "library_path",
    "mpi_kind",
    "startall",
    "waitall",
]
