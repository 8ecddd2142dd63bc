# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's suite: with the library before the MPI no test fails that does not fail without it."""

from __future__ import annotations

from pathlib import Path

import pytest
import suites
from jobs import Run
from mpi4py_suite import USED, prove

FORMS = ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv")


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("run", USED, ids=lambda run: run.name)
def test_no_test_more_fails(run: Run, ranks: int, tmp_path: Path) -> None:
    try:
        suites.mpi4py()
    except suites.Missing as missing:
        pytest.skip(str(missing))
    verdicts, through = prove(run, ranks, tmp_path)
    assert len(verdicts) > 1000
    assert {f"MPI_Neighbor_{form}" for form in FORMS} <= through
    assert {"MPI_Alltoallv", "MPI_Alltoallw"} <= through
    if run.mpi == "openmpi":  # MPICH does not drive exchanges of others
        assert {f"MPI_Ineighbor_{form}" for form in FORMS} <= through
