# SPDX-License-Identifier: BSD-3-Clause
"""PETSc and DOLFINx as Debian has them, under Open MPI: the same results with `tonari run`, and
counters show that their calls went through tonari. Ghosts of grids are those of PETSc's DMDA.
Skipped where these packages are missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "tests" / "programs"
PYTHON = "/usr/bin/python3"  # the packages of Debian are not in the environment of the tests
CALL = "MPI_Ineighbor_alltoallv"
MPI = built.with_program(f"../lib/{preload.LIBRARY}").get("openmpi")
pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(not MPI, reason="needs tonari for Open MPI (TONARI_BUILD)"),
]


def run(ranks: int, command: list[str], folder: Path, preloaded: bool) -> Any:
    """What the job prints, and its calls by function: {calls, through_tonari}."""
    assert MPI
    library = preload.before(Path(MPI["bin"]).parent / "lib" / preload.LIBRARY)
    words = [f"LD_PRELOAD={library}", f"TONARI_RUN_REPORT={folder}", "TONARI_PRELOAD=tonari"]
    words = words if preloaded else []
    environment = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [MPI["mpiexec"], "-n", str(ranks), "env", *words, *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    print(json.dumps({"preloaded": preloaded, "said": done.stderr.strip().splitlines()[-1:]}))
    rows = preload.rows(preload.read_records(folder))
    return done.stdout, [row for row in rows if row["call"] == CALL]


def prove(ranks: int, command: list[str], folder: Path, least: int) -> tuple[str, Any]:
    """What both print, and the rows of the calls. least: of all ranks."""
    alone, _ = run(ranks, command, folder, False)
    ours, rows = run(ranks, command, folder, True)
    assert ours == alone
    assert sum(row["calls"] for row in rows) >= least
    return str(ours), rows


def with_petsc(name: str, folder: Path, words: list[str]) -> str:
    """A program of PETSc, built from the file of this name with these words, too."""
    assert MPI
    asked = ["pkg-config", "--cflags", "--libs", "PETSc"]
    if not shutil.which("pkg-config") or subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("there is no PETSc: Debian's package is petsc-dev")
    flags = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    program = folder / name
    source = FOLDER / f"{name}.c"
    compiler = built.c_compiler(MPI)
    command = [compiler, "-g", "-O2", source, *words, *flags, "-lm", "-o", program]
    subprocess.run(command, check=True)
    return str(program)


@pytest.fixture(scope="session")
def petsc_cg(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_petsc("petsc_cg", tmp_path_factory.mktemp("petsc"), [])


@pytest.fixture(scope="session")
def petsc_dmda(tmp_path_factory: pytest.TempPathFactory) -> str:
    assert MPI
    library = Path(MPI["bin"]).parent / "lib"
    words = [f"-I{SOURCE / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltonari"]
    return with_petsc("petsc_dmda", tmp_path_factory.mktemp("petsc"), words)


@pytest.mark.parametrize("ranks", [1, 2, 3, built.long(5)])
def test_ghosts_are_those_of_dmda(petsc_dmda: str, ranks: int, tmp_path: Path) -> None:
    """Of 36 grids in one dimension, 216 in two and 648 in three, cell for cell. Up to three ranks
    share them."""
    part = ["-parts", "3", "-part", str(ranks - 1)] if ranks <= 3 else []
    said, _ = run(ranks, [petsc_dmda, *part], tmp_path, False)
    grids, ghosts = said.split(" grids, ")
    assert grids == ("300" if part else "900") and int(ghosts.split()[0]) > 20_000, said


@pytest.mark.parametrize("ranks", [2, 3, built.long(5)])
def test_petsc(petsc_cg: str, ranks: int, tmp_path: Path) -> None:
    """The ghosts of each product: 210 of them, and those of the solver."""
    command = [petsc_cg, "-sf_type", "neighbor", "-side", "12"]
    said, rows = prove(ranks, command, tmp_path, 210 * ranks)
    assert all(row["through_tonari"] == row["calls"] for row in rows), rows
    assert said.count("residual ") > 10 and "products 0x" in said


@pytest.mark.parametrize("ranks", [2, 3, built.long(5)])
def test_dolfinx(ranks: int, tmp_path: Path) -> None:
    if subprocess.run([PYTHON, "-c", "import dolfinx.fem"], capture_output=True).returncode:
        pytest.skip("there is no DOLFINx: Debian's package is python3-dolfinx")
    command = [PYTHON, str(FOLDER / "dolfinx_ghosts.py"), "50"]
    said, rows = prove(ranks, command, tmp_path, 61 * ranks)
    assert said == "0 values are wrong\n"
    assert all(row["through_tonari"] == row["calls"] for row in rows), rows
