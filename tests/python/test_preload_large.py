# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs whose counts are large (MPI_Count), which MPICH has."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import built
import pytest
from built import more
from command_line import call
from test_preload import BEGUN, FORMS, IN_PLACE, MPIS, PARTS, compiled, drives
from tonari.benchmark.launch import ANY_RANKS

pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
WIDE = [mpi for mpi in MPIS if mpi in ("mpich", "abi")]
INITS = {form + "_init" for form in FORMS}
CALLS = {
    "exchanges": FORMS,
    "begun": FORMS | BEGUN,
    "persistent": FORMS | INITS,
    "in-place": IN_PLACE,
}


@pytest.fixture(scope="session")
def large_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program as each MPI compiles it, with large counts."""
    folder, flags = tmp_path_factory.mktemp("large"), ("-DLARGE_COUNTS",)
    return built.OnDemand(lambda mpi: compiled(mpi, folder / mpi, *PARTS, flags=flags))


def told_of(mpi: str, ranks: int, program: Path, *words: str, **settings: str) -> Any:
    """The rows of a program in this folder."""
    launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks), str(program), *words]
    done = call("run", "--json", "rows.json", "--", *launch, **(ANY_RANKS | settings))
    assert done.returncode == 0, done.stderr
    return json.loads(Path("rows.json").read_text())


@pytest.fixture
def there(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))


@pytest.mark.parametrize(
    ("mpi", "ranks"),
    [(mpi, 3) if mpi == "mpich" else more(mpi, 3) for mpi in WIDE]
    + [more(mpi, n) for mpi in WIDE for n in ((1, 2, 5, 8) if mpi == "mpich" else (2,))],
)
@pytest.mark.parametrize("what", CALLS)
def test_large_counts(
    there: None, large_programs: dict[str, Path], mpi: str, ranks: int, what: str
) -> None:
    program = large_programs[mpi]
    if what == "persistent" and not drives(mpi, program):
        pytest.skip("MPICH 4 itself waits for ever here")
    words = [what] if what == "in-place" else [what, "distinct"]
    rows = told_of(mpi, ranks, program, *words, TONARI_PRELOAD="tonari")
    told = {row["call"] for row in rows} - {"MPI_Start"}
    assert told == {name + "_c" for name in CALLS[what]}
    for row in rows:
        begun = row["call"].removesuffix("_c") in BEGUN
        assert row["through_tonari"] == (row["calls"] if drives(mpi, program) or not begun else 0)


@pytest.mark.parametrize(
    "mpi", [built.long(mpi) if at else more(mpi) for at, mpi in enumerate(WIDE)]
)
def test_a_block_of_more_than_two_gigabytes(there: None, mpi: str) -> None:
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 6 << 30:
        pytest.skip("needs 6 GiB of memory")
    program = compiled(mpi, Path("huge").absolute(), "huge.c")
    rows = told_of(mpi, 1, program, TONARI_PRELOAD="tonari")
    assert len(rows) == 5 if drives(mpi, program) else 4, "four calls, and MPI_Start"
    moved = [row for row in rows if not row["call"].endswith("_init_c")]
    assert all(row["bytes"] > 1 << 31 for row in moved if row["through_tonari"])
    assert sum(row["through_tonari"] for row in rows) == (5 if drives(mpi, program) else 2)
