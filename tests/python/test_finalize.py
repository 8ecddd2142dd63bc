# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks that MPI_Finalize calls may use tonari (tests/finalize)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built import OnDemand, c_compiler, more, with_program
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
LIBRARY = "../lib/libtonari.so"
BUILDS = with_program(LIBRARY)
# On one node, and on two, whose messages go by MPI.
CASES = [(when, 2, {}) for when in ("before", "after", "odd", "only")]
CASES += [("before", 2, {"TONARI_NODES": "1", "TONARI_TUNE": "off"})]
WINDOWS = {"TONARI_CHANNEL": "onesided"}
CASES += [("after", 2, WINDOWS)]
NAMES = [mpi for mpi in BUILDS if mpi in ("openmpi", "mpich")]
each_mpi = pytest.mark.parametrize(
    "mpi", [more(mpi) if at else mpi for at, mpi in enumerate(NAMES)]
)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("finalize")

    def made(mpi: str) -> Path:
        where = (Path(BUILDS[mpi]["bin"]) / LIBRARY).resolve()
        source = [SOURCE / "tests/finalize/finalize.c", f"-I{SOURCE / 'include'}", where]
        words = [c_compiler(BUILDS[mpi]), "-std=c99", *source, f"-Wl,-rpath,{where.parent}"]
        subprocess.run([*words, "-o", folder / mpi], check=True)
        return folder / mpi

    return OnDemand(made)


@pytest.mark.parametrize(
    ("when", "ranks", "variables"),
    CASES + [more(when, ranks, variables) for when, _, variables in CASES for ranks in (1, 3)],
)
@each_mpi
def test_callbacks_use_the_library(
    programs: dict[str, Path], mpi: str, when: str, ranks: int, variables: dict[str, str]
) -> None:
    done = run(programs, mpi, ranks, when, variables)
    assert done.returncode == 0, done.stdout + done.stderr


@each_mpi
def test_a_request_whose_window_is_freed_says_so(
    programs: dict[str, Path], mpi: str, tmp_path: Path
) -> None:
    """What the library set last, MPI_Finalize calls first."""
    said = tmp_path / "said"
    done = run(programs, mpi, 2, "before", WINDOWS | {"FINALIZE_SAID": str(said)})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "MPI_Finalize has freed the window of this request" in said.read_text()


def run(
    programs: dict[str, Path], mpi: str, ranks: int, when: str, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILDS[mpi]["mpiexec"], "-n", str(ranks), programs[mpi], when],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS | {"FINALIZE_SAID": os.devnull} | variables,
    )
