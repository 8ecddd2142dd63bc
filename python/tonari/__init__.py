# SPDX-License-Identifier: BSD-3-Clause
"""tonari: sparse collective communication that is planned once and started often.

>>> import tonari
>>> near = tonari.neighborhood("moore:3:1")
>>> [(row.algorithm, row.rounds) for row in near.exchange(bytes=64).plans()]
>>> print(near.exchange(bytes=64).draw("torus"))

That plans without MPI. tonari.mpi exchanges, on communicators of mpi4py.
"""

from __future__ import annotations

from typing import Any

from tonari.errors import Error
from tonari.installation import get_cmake_dir, get_include, get_library
from tonari.neighborhood import Exchange, Neighborhood, algorithms, neighborhood

__all__ = [
    "Error",
    "Exchange",
    "Neighborhood",
    "algorithms",
    "get_cmake_dir",
    "get_include",
    "get_library",
    "neighborhood",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """tonari.mpi is loaded when it is first used: it needs mpi4py, and initializes MPI."""
    if name == "mpi":
        import importlib

        return importlib.import_module("tonari.mpi")
    raise AttributeError(f"module 'tonari' has no attribute '{name}'")
