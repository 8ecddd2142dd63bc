# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of Python programs that use mpi4py, with the MPIs of the build that it can run with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
RANKS = SOURCE / "tests/python/ranks"


def found() -> bool:
    return find_spec("mpi4py") is not None


needed = pytest.mark.skipif(not found(), reason="there is no mpi4py")
# mpi4py's wheel has an extension for Open MPI and one for MPICH, which ask for libraries of these
# names.
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}


def library_of(mpi: dict[str, Any]) -> Path:
    """The MPI that libtonari of the build was linked with."""
    library = Path(mpi["bin"]).parent / "lib/libtonari.so"
    linked = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True)
    found = re.search(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", linked.stdout)
    assert found, linked.stdout
    return Path(found[1])


def environment(name: str, mpi: dict[str, Any], folder: Path) -> dict[str, str]:
    """Debian calls its MPICH by another name than the wheel does: a link gives it that one."""
    link = folder / LIBRARIES[name]
    if not link.exists():
        link.symlink_to(library_of(mpi))
    paths = [str(RANKS), str(SOURCE / "python"), str(built.CONFIG.parent.absolute() / "python")]
    return {
        **ANY_RANKS,
        "OMPI_MCA_mpi_yield_when_idle": "1",
        **os.environ,
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "MPI4PY_MPIABI": name,
        "PYTHONPATH": os.pathsep.join(paths),
        "TONARI_TUNE_SECONDS": "0.02",
        "TONARI_BUILD": str(built.CONFIG.parent.absolute()),
    }


def run(
    name: str, ranks: int, folder: Path, program: Path, *arguments: str, **changed: str
) -> subprocess.CompletedProcess[str]:
    mpi = built.with_program("../lib/libtonari.so")[name]
    env = environment(name, mpi, folder) | changed
    command = [mpi["mpiexec"], "-n", str(ranks), sys.executable, str(program), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    except subprocess.TimeoutExpired as late:
        said = [str(part or b"", "utf-8", "replace") for part in (late.stdout, late.stderr)]
        raise AssertionError(f"still running after {PATIENCE} s:\n" + "\n".join(said)) from None


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


MPIS = [name for name in built.with_program("../lib/libtonari.so") if name in LIBRARIES]


def on_ranks(first: list[int], others: list[int], rest: list[int], *later: int) -> Any:
    """Cases (mpi, ranks): in `make test` those of `first` under the first MPI, and of `others`
    under the others; all with `rest` in `make test-all`, and those of `later` in `make
    test-long`."""
    cases = []
    for number, name in enumerate(MPIS):
        quick = others if number else first
        cases += [(name, ranks) for ranks in quick]
        cases += [built.more(name, ranks) for ranks in sorted({*first, *rest} - {*quick})]
        cases += [built.long(name, ranks) for ranks in later]
    return pytest.mark.parametrize(
        "mpi, ranks", cases or [pytest.param("none", 0, marks=pytest.mark.skip("no MPI"))]
    )
