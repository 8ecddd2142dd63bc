# SPDX-License-Identifier: BSD-3-Clause
"""A program of DOLFINx as it is, with libtonari_petsc in the way: the same residuals and solution.
Skipped where there is no PETSc in the build, or no DOLFINx for it."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest
from command_line import PATIENCE
from test_petsc import MPI, NAMES, PROGRAMS, library
from tonari.benchmark.launch import ANY_RANKS

PYTHON = "/usr/bin/python3"  # Debian's, which has DOLFINx if its package is there
pytestmark = [
    pytest.mark.skipif(
        not NAMES, reason="there is no PETSc in the build: Debian's package is petsc-dev"
    ),
    pytest.mark.more,
]


@functools.cache
def environment(name: str) -> dict[str, str]:
    """In which DOLFINx is that of this PETSc."""
    folders = [*Path("/usr/lib/petscdir").glob(f"petsc3*/*-{name}")]
    words = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return words | {"PETSC_DIR": str(folders[0]) if folders else ""} | ANY_RANKS


@functools.cache
def has_dolfinx(name: str) -> bool:
    asked = "from petsc4py import PETSc; import dolfinx, ufl; print(PETSc.ScalarType().dtype.kind)"
    done = subprocess.run(
        [PYTHON, "-c", asked], env=environment(name), capture_output=True, text=True, check=False
    )
    return done.stdout.strip() == {"real": "f", "complex": "c"}.get(name)


def run(name: str, ranks: int, cache: Path, options: str) -> dict[str, list[float]]:
    """What rank 0 printed, by name."""
    assert MPI
    words = [PYTHON, PROGRAMS / "dolfinx_poisson.py", library(name)]
    done = subprocess.run(
        [MPI["mpiexec"], "-n", str(ranks), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(name) | {"PETSC_OPTIONS": options, "XDG_CACHE_HOME": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        what, number = line.rsplit(maxsplit=1)
        found.setdefault(what, []).append(float(number))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_assembly_and_solve(name: str, tmp_path: Path) -> None:
    """DOLFINx divides the mesh in another way in each run, so sums are rounded in other orders."""
    if not has_dolfinx(name):
        pytest.skip(f"there is no DOLFINx for {name} numbers: Debian's package is python3-dolfinx")
    options = f"-dll_prepend {library(name)} -sf_type tonari -sf_tonari_race 0"
    alone = run(name, 2, tmp_path, "-sf_type basic")
    assert alone.pop("exchanges") == [-1]
    ours = run(name, 3, tmp_path, options)
    assert ours.pop("exchanges")[0] >= 45, "tonari was not in the way"
    assert {what: len(numbers) for what, numbers in ours.items()} == {
        "right side": 4, "residual": 51, "solution": 1, "wrong ghosts": 1,
    }  # fmt: skip
    assert ours["wrong ghosts"] == alone["wrong ghosts"] == [0]
    for what, wanted in alone.items():
        assert ours[what] == pytest.approx(wanted, rel=1e-9, abs=1e-9 * max(wanted)), what
