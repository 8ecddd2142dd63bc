# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of the build that have the standard ABI of MPI 5: what is compiled with one of them runs
under all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import built
import pytest

_MPIS = json.loads(built.CONFIG.read_text())["mpis"] if built.CONFIG.is_file() else {}
ABI = _MPIS.get("abi", {})
needed = pytest.mark.skipif(not ABI, reason="no MPI of the build has the standard ABI")


@dataclass(frozen=True)
class Run:
    """How a program for this ABI is started under one MPI."""

    name: str
    mpiexec: str
    libraries: str  # of this MPI; empty where the program finds them by itself

    def environment(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": self.libraries} if self.libraries else {}


RUNS = [Run(name, **how) for name, how in ABI.get("runs", {}).items()]
each = pytest.mark.parametrize("mpi", RUNS, ids=lambda mpi: mpi.name)


def wrapper(language: str) -> str:
    """mpicc_abi or mpicxx_abi."""
    return built.c_compiler(ABI) if language == "C" else ABI["mpicxx"]


def folder() -> Path:
    """Where the wrappers lie."""
    return Path(ABI["mpicxx"]).parent
