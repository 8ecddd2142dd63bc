# SPDX-License-Identifier: BSD-3-Clause
"""Programs with sessions and without MPI_Init, under `tonari run` and with a report."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from built import more
from command_line import PATIENCE
from conftest import Run
from tonari.benchmark.launch import ANY_RANKS

PROGRAM = "tonari_sessions"
MPIS = built.with_program(PROGRAM)
CASES = [more(mpi) if mpi == "abi" else mpi for mpi in MPIS]
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI of the build has sessions (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize("mpi", CASES or ["none"])


def launch(mpi: str, ranks: int, *words: str) -> list[str]:
    program = Path(MPIS[mpi]["bin"]) / PROGRAM
    return [MPIS[mpi]["mpiexec"], "-n", str(ranks), str(program), *words]


@pytest.mark.parametrize("how", ["mpi", "leak"])
@each_mpi
def test_calls_go_through_tonari(
    tonari: Run, mpi: str, how: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))
    rows = tmp_path / "rows.json"
    command = ["run", "--explain", "--json", str(rows), "--", *launch(mpi, 3, how)]
    done = tonari(*command, TONARI_PRELOAD="tonari", **ANY_RANKS)
    assert done.returncode == 0, done.stderr
    [blocking] = [
        row for row in json.loads(rows.read_text()) if row["call"] == "MPI_Neighbor_alltoall"
    ]
    assert blocking["through_tonari"] == blocking["calls"] == 20 * 3


def reports(mpi: str, folder: Path) -> list[list[dict[str, Any]]]:
    variables = {"TONARI_REPORT": str(folder / "report.json")}
    done = subprocess.run(
        launch(mpi, 3),
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS | variables,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(file.read_text()) for file in sorted(folder.iterdir())]


@each_mpi
def test_a_report_comes_where_the_communicator_is_freed(mpi: str, tmp_path: Path) -> None:
    rows = [row for report in reports(mpi, tmp_path) for row in report]
    assert all(row["processes"] == row["ranks"] == 3 for row in rows)
    assert sum(row["requests"] for row in rows if row["kind"] == "requests") >= 5
    assert any(row["kind"] != "requests" for row in rows)
