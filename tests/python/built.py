# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the build tree ($TONARI_BUILD), and the marks of tests that need them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CONFIG = Path(os.environ.get("TONARI_BUILD") or "build") / "tonari-config.json"

# In front of the MPIs in all that tests start, unless they say otherwise (conftest.py): ranks that
# outnumber the cores take turns, under MPICH, too (tests/support/take_turns.cpp), so that jobs of
# three ranks on two cores take a sixth of the time; and jobs of Open MPI end as their programs do
# (tests/support/keep_loaded.cpp).
_LIBRARIES = [
    CONFIG.parent.absolute() / "tests" / "lib" / f"libtonari_{name}.so"
    for name in ("take_turns", "keep_loaded")
]
PATIENT = {"LD_PRELOAD": ":".join(str(file) for file in _LIBRARIES if file.is_file())}


# Programs that `make test-all` builds for the first MPI only (REPEATS in examples/CMakeLists.txt).
REPEATED = {"cg"}


def with_program(program: str) -> dict[str, dict[str, Any]]:
    """The MPIs of the build that have it, by name: mpiexec, bin and so on."""
    if not CONFIG.is_file():
        return {}
    mpis = json.loads(CONFIG.read_text())["mpis"]
    return {name: mpi for name, mpi in mpis.items() if (Path(mpi["bin"]) / program).is_file()}


class OnDemand(dict[str, Any]):
    """What is made for an MPI, or another name, when a test asks for it."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Any:
        self[name] = self._make(name)
        return self[name]


def c_compiler(mpi: dict[str, Any]) -> str:
    """Of an MPI of the build; the wrappers for C and C++ lie side by side."""
    return re.sub(r"mpicxx(?=[^/]*$)", "mpicc", mpi["mpicxx"])


def fortran_compiler(mpi: dict[str, Any]) -> str:
    return re.sub(r"mpicxx(?=[^/]*$)", "mpif90", mpi["mpicxx"])


def names_in_rows(mpi: str) -> set[str]:
    """What rows of a benchmark call it: programs for the standard ABI name the MPI that runs
    them."""
    return {"mpich", "intel"} if mpi == "abi" else {mpi}


def more(*values: Any) -> Any:
    """A case of a parametrized test that runs in `make test-all` only, if it is its turn there
    (turns.py)."""
    return pytest.param(*values, marks=pytest.mark.more)


def long(*values: Any) -> Any:
    """A case of a parametrized test that runs in `make test-long` only."""
    return pytest.param(*values, marks=pytest.mark.long)


def marks(
    program: str,
) -> tuple[dict[str, dict[str, Any]], pytest.MarkDecorator, pytest.MarkDecorator]:
    """These MPIs; the mark of a test that needs any of them; and of one that runs with each, as its
    argument mpi: under the first MPI in `make test`, under the others in `make test-all`."""
    found = with_program(program)
    later = long if program in REPEATED else more
    cases = [later(mpi) if number else mpi for number, mpi in enumerate(found)]
    needed = pytest.mark.skipif(
        not found, reason=f"there is no build with {program} (TONARI_BUILD)"
    )
    return (
        found,
        needed,
        pytest.mark.parametrize("mpi", cases or [pytest.param("none", marks=needed)]),
    )
