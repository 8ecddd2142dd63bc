# SPDX-License-Identifier: BSD-3-Clause
"""`tonari run --explain` names the line of a script, not that of mpi4py, which calls for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import built
import mpi4py_jobs
import pytest
from command_line import fits
from conftest import Run

MPIS = [mpi for mpi in built.with_program("../lib/libtonari_preload.so") if mpi in mpi4py_jobs.MPIS]

SCRIPT = """
from mpi4py import MPI
import numpy as np

ranks, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
ring = MPI.COMM_WORLD.Create_dist_graph_adjacent([(rank - 1) % ranks], [(rank + 1) % ranks])


def exchange(step):
    sent, got = np.full(4, rank + step), np.empty(4, int)
    ring.Neighbor_alltoall(sent, got)  # site
    assert (got == (rank - 1) % ranks + step).all()


for step in range(30):
    exchange(step)
ring.Neighbor_allgather(np.full(4, rank), np.empty(4, int))  # another
"""


@mpi4py_jobs.needed
@pytest.mark.parametrize("mpi", MPIS or [pytest.param("none", marks=pytest.mark.skip("no MPI"))])
def test_lines_of_a_script(tonari: Run, tmp_path: Path, monkeypatch: Any, mpi: str) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "halo.py"
    script.write_text(SCRIPT)
    how = built.with_program("../lib/libtonari_preload.so")[mpi]
    launch = [how["mpiexec"], "-n", "3", sys.executable, str(script)]
    variables = mpi4py_jobs.environment(mpi, how, tmp_path)
    arguments = ["--mpi", mpi, "--explain", "--json", "rows.json", "--", *launch]
    done = tonari("run", *arguments, **variables)
    assert done.returncode == 0, done.stderr
    rows = {row["site"]: row for row in json.loads(Path("rows.json").read_text())}
    lines = SCRIPT.splitlines()
    site = next(k for k, line in enumerate(lines, 1) if line.endswith("# site"))
    another = next(k for k, line in enumerate(lines, 1) if line.endswith("# another"))
    assert set(rows) == {f"halo.py:{site}", f"halo.py:{another}"}
    assert rows[f"halo.py:{site}"]["function"] == "exchange"
    assert rows[f"halo.py:{site}"]["calls"] == 3 * 30
    assert rows[f"halo.py:{another}"]["calls"] == 3
    fits(done.stderr)
    assert f"halo.py:{site} in exchange" in done.stderr
