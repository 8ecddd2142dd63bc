# SPDX-License-Identifier: BSD-3-Clause
"""tonari's own suite, whole: the library before the MPI adds no mistake to those of the MPI, and
with TONARI_REPAIR takes away those of calls that block, and under Open MPI all."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from jobs import RUNS, Run, loaded, surroundings
from tonari import preload
from tonari.conformance import PROGRAM, Row, try_all

# Calls of MPICH 4 that never end take their time.
CASES = [(run, ranks) for run in RUNS for ranks in ([3] if run.name == "mpich" else [1, 2, 3, 5])]
each_case = pytest.mark.parametrize(
    ("run", "ranks"), CASES, ids=[f"{run.name}-{ranks}" for run, ranks in CASES]
)
Wrong = set[tuple[str, str, str]]


@cache
def rows_of(run: Run, ranks: int, preloaded: bool, *variables: str) -> list[Row]:
    """variables: NAME=value, for the ranks."""
    words = [f"LD_PRELOAD={loaded(run, preloaded)}", *variables]
    launch = [run.mpiexec, "-n", str(ranks), "env", *words, str(run.program_folder / PROGRAM)]
    return try_all(lambda options: [*launch, *options], ["--patience", "5"], surroundings(run))


def wrong(rows: list[Row]) -> Wrong:
    return {(row["call"], row["topology"], row["data"]) for row in rows if row["wrong"]}


@each_case
def test_the_library_adds_no_mistake(run: Run, ranks: int) -> None:
    found = wrong(rows_of(run, ranks, True, "TONARI_PRELOAD=tonari"))
    assert not found or found <= wrong(rows_of(run, ranks, False))


@each_case
def test_repair_takes_away_what_it_can(run: Run, ranks: int, tmp_path: Path) -> None:
    variables = ["TONARI_REPAIR=1", "TONARI_PRELOAD=tonari", f"TONARI_RUN_REPORT={tmp_path}"]
    rows = rows_of(run, ranks, True, *variables)
    records = preload.rows(preload.read_records(tmp_path))
    through = {row["call"] for row in records if row["through_tonari"]}
    left = wrong(rows)
    blocking = {row["call"] for row in rows if row["call"].startswith("MPI_Neighbor_")}
    blocking -= {name for name in blocking if "_init" in name}
    assert blocking <= through
    assert not {name for name, *_ in left} & blocking
    if run.mpi == "openmpi":
        assert not left
        assert {name for row in rows if "eighbor" in (name := row["call"])} <= through
    assert not left or left <= wrong(rows_of(run, ranks, False))
