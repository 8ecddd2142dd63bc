# SPDX-License-Identifier: BSD-3-Clause
"""The examples in Python, each of which compares itself with one rank alone."""

from __future__ import annotations

import re
from pathlib import Path

import mpi4py_jobs as jobs
import pytest

pytestmark = jobs.needed
EXAMPLES = jobs.SOURCE / "examples/python"
SOLVED = r"225 unknowns on \d+ ranks: \d\d iterations, error \d\.\de-(09|1\d)"
RUNS = {
    "heat.py --check --cells 40 --steps 12": "0 cells differ from those of one rank alone",
    "cg.py --size 15": SOLVED,
    "cg.py --size 15 --scipy": SOLVED,
    "mesh.py": r"781 triangles on \d+ ranks, 50 steps: largest difference .* \d\.\de-1\d",
}


def test_all_examples_are_run() -> None:
    assert {run.split()[0] for run in RUNS} == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("example", RUNS)
@jobs.on_ranks([3], [], [1, 2, 5])
def test_example(example: str, mpi: str, ranks: int, tmp_path: Path) -> None:
    program, *options = example.split()
    printed = jobs.succeeded(jobs.run(mpi, ranks, tmp_path, EXAMPLES / program, *options))
    assert re.fullmatch(RUNS[example], printed.splitlines()[-1]), printed
