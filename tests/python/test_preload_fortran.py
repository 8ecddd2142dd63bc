# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs in Fortran, in its three forms."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from built import more
from conftest import Run
from test_preload import FOLDER, MPIS, drives
from tonari.benchmark.launch import ANY_RANKS

pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
FORTRAN = FOLDER / "unmodified.f90"
FORMS_OF_FORTRAN = ["mpif", "mpi", "mpi_f08"]
WITH_FORTRAN = [
    more(mpi) if number else mpi
    for number, mpi in enumerate(mpi for mpi in MPIS if not mpi.startswith("abi"))
]


def fortran_compiler(mpi: str) -> str | None:
    """A path; nothing where there is none."""
    wrapper = re.sub(r"mpicxx(?=[^/]*$)", "mpifort", MPIS[mpi]["mpicxx"])
    return shutil.which(wrapper) if shutil.which("gfortran") else None


@pytest.mark.parametrize("binding", FORMS_OF_FORTRAN)
@pytest.mark.parametrize("mpi", WITH_FORTRAN)
def test_fortran_programs(
    tonari: Run, tmp_path: Path, mpi: str, binding: str, monkeypatch: Any
) -> None:
    compiler = fortran_compiler(mpi)
    if not compiler:
        pytest.skip("there is no gfortran, or no wrapper for it")
    source, program = tmp_path / "unmodified.F90", tmp_path / "unmodified"
    source.write_text(FORTRAN.read_text())
    flags = [f"-DBINDING_{binding}", "-g", "-fallow-argument-mismatch"]
    subprocess.run([compiler, *flags, source, "-o", program], check=True, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))
    launch = [MPIS[mpi]["mpiexec"], "-n", "3", str(program)]
    variables = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1", "TONARI_PRELOAD": "tonari"}
    done = tonari("run", "--json", "rows.json", "--", *launch, **variables)
    assert done.returncode == 0, done.stderr
    rows = {row["call"]: row for row in json.loads(Path("rows.json").read_text())}
    assert rows["MPI_Neighbor_alltoall"]["through_tonari"] == 3 * 20
    expected = 3 * 20 if drives(mpi, program) else 0
    assert rows["MPI_Ineighbor_alltoall"]["through_tonari"] == expected
    if shutil.which("addr2line"):  # the program's lines, not those of the MPI's binding
        assert {row["site"].partition(":")[0] for row in rows.values()} == {"unmodified.F90"}
