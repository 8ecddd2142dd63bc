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

from typing import TYPE_CHECKING, Any

# isort: split (first: it says what is missing)
from tonari.mpi.library import KIND as mpi_kind
from tonari.mpi.library import PATH as library_path

# isort: split
from tonari.mpi.blocks import Blocks
from tonari.mpi.grid import Grid
from tonari.mpi.grid_shape import Bricks, Ghosts
from tonari.mpi.group import Group
from tonari.mpi.in_place import (
    alltoall_inplace,
    alltoall_inplace_init,
    alltoallv_inplace,
    alltoallv_inplace_general,
    alltoallv_inplace_general_init,
    alltoallv_inplace_init,
    alltoallw_inplace,
    alltoallw_inplace_init,
    ialltoall_inplace,
    ialltoallv_inplace,
    ialltoallv_inplace_general,
    ialltoallw_inplace,
)
from tonari.mpi.neighborhood import Neighborhood
from tonari.mpi.request import Request, RequestInfo, startall, waitall
from tonari.mpi.sparse import Messages, SparseRequest, isparse_alltoallv, sparse_alltoallv
from tonari.mpi.vector import Vector, VectorFacts

if TYPE_CHECKING:
    from tonari.mpi.product import RowParallel

__all__ = [
    "Blocks",
    "Bricks",
    "Ghosts",
    "Grid",
    "Group",
    "Messages",
    "Neighborhood",
    "Request",
    "RequestInfo",
    "RowParallel",
    "SparseRequest",
    "Vector",
    "VectorFacts",
    "alltoall_inplace",
    "alltoall_inplace_init",
    "alltoallv_inplace",
    "alltoallv_inplace_general",
    "alltoallv_inplace_general_init",
    "alltoallv_inplace_init",
    "alltoallw_inplace",
    "alltoallw_inplace_init",
    "ialltoall_inplace",
    "ialltoallv_inplace",
    "ialltoallv_inplace_general",
    "ialltoallw_inplace",
    "isparse_alltoallv",
    "library_path",
    "mpi_kind",
    "sparse_alltoallv",
    "startall",
    "waitall",
]


def __getattr__(name: str) -> Any:
    """What needs SciPy is loaded when it is first used."""
    if name == "RowParallel":
        from tonari.mpi.product import RowParallel

        return RowParallel
    raise AttributeError(f"module 'tonari.mpi' has no attribute '{name}'")
