# SPDX-License-Identifier: BSD-3-Clause
"""What each MPI gets wrong is what is known of it (src/mpi/quirks.hpp), the library before it
adds nothing to that, and TONARI_REPAIR takes away what it can. `make test-conformance` has more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE, call, refused, shown
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS
from tonari.conformance import PROGRAM, try_all
from tonari.errors import Error
from tonari.views.conformance import show

sys.path.append(str(Path(__file__).parents[1] / "conformance"))
import jobs  # noqa: E402
import mpi4py_suite  # noqa: E402
import mpich_suite  # noqa: E402
import suites  # noqa: E402

MPIS = built.with_program(PROGRAM)
CLOSED = {"grid with one closed side", "closed grid, a side of one rank"}
pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def in_build(monkeypatch: Any) -> None:
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))


def rows_of(mpi: str, *options: str, ranks: int = 3, **variables: str) -> list[Row]:
    """Of the short form."""
    launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks)]
    words = ["--json", "--mpi", mpi, "--patience", "20", *options, "--", *launch]
    done = call("conformance", "--short", *words, **ANY_RANKS, **variables)
    rows = json.loads(done.stdout)
    assert rows, done.stderr
    assert done.returncode == int(any(row["wrong"] for row in rows))
    return rows


def wrong(rows: list[Row]) -> set[tuple[str, str, str]]:
    return {(row["call"], row["topology"], row["data"]) for row in rows if row["wrong"]}


def with_records(folder: Path, mpi: str, *options: str, **variables: str) -> tuple[Any, Any]:
    """The rows of the suite, and those of the library before the MPI."""
    variables["TONARI_RUN_REPORT"] = str(folder)
    rows = rows_of(mpi, "--preload", *options, **variables)
    return rows, preload.rows(preload.read_records(folder))


def by_tonari(records: list[Row]) -> dict[str, int]:
    """Calls that went through tonari, by function."""
    return {row["call"]: row["through_tonari"] for row in records if row["through_tonari"]}


only_openmpi = pytest.mark.skipif("openmpi" not in MPIS, reason="needs Open MPI")
only_mpich = pytest.mark.skipif("mpich" not in MPIS, reason="needs MPICH")


@only_openmpi
def test_what_open_mpi_gets_wrong() -> None:
    """Of 4.1 and 5.0: blocks are swapped where a closed side of a grid has one or two ranks."""
    found = wrong(rows_of("openmpi"))
    forms = ("alltoall", "alltoallv", "alltoallw")
    begun = {f"MPI_Ineighbor_{form}" for form in forms}
    inits = {name for name, *_ in found if name.endswith("_init")}
    assert {name for name, *_ in found} == begun | inits
    assert len(inits) == len(forms)
    assert {topology for _, topology, _ in found} == CLOSED


@only_openmpi
def test_repair_leaves_nothing_wrong_under_open_mpi(tmp_path: Path) -> None:
    variables = {"TONARI_REPAIR": "1", "TONARI_PRELOAD": "tonari"}
    rows, records = with_records(tmp_path, "openmpi", **variables)
    assert not wrong(rows)
    calls = {row["call"] for row in rows if "eighbor" in row["call"]}
    assert calls <= by_tonari(records).keys()
    assert all(row["through_tonari"] == row["calls"] for row in records)


@only_openmpi
def test_the_library_adds_no_mistakes(tmp_path: Path) -> None:
    rows, records = with_records(tmp_path, "openmpi", TONARI_PRELOAD="tonari")
    assert {topology for _, topology, _ in wrong(rows)} <= CLOSED
    assert len(by_tonari(records)) >= 10


@only_mpich
def test_what_mpich_gets_wrong_and_what_repair_takes_away(tmp_path: Path) -> None:
    """MPICH 4.0 leaves out or swaps blocks of v and w forms in closed dimensions. Those that do not
    block stay with it where it does not drive them (ADR 31)."""
    only = ["--only", "closed grid, a side of one rank"]
    alone = {name for name, *_ in wrong(rows_of("mpich", *only))}
    if not alone:
        pytest.skip("this MPICH is right")
    rows, records = with_records(tmp_path, "mpich", *only, TONARI_REPAIR="1")
    left = {name for name, *_ in wrong(rows)}
    blocking = {name for name in alone if "_I" not in name and "_init" not in name}
    assert blocking and left in (set(), alone - blocking)
    assert all(by_tonari(records)[name] > 0 for name in blocking)


FAILS = """
#include <mpi.h>
int MPI_Cart_create(MPI_Comm c, int n, const int* e, const int* p, int r, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  return n == 3 ? MPI_SUCCESS : MPI_ERR_DIMS;
}
"""


@pytest.mark.parametrize("mpi", [mpi for mpi in MPIS if mpi in ("openmpi", "mpich")])
def test_an_mpi_that_makes_no_communicator_is_wrong(tmp_path: Path, mpi: str) -> None:
    (tmp_path / "fails.c").write_text(FAILS)
    how = [built.c_compiler(MPIS[mpi]), "-shared", "-fPIC", "-o", tmp_path / "fails.so"]
    subprocess.run([*how, tmp_path / "fails.c"], check=True)
    program = Path(MPIS[mpi]["bin"]) / PROGRAM
    launch = [MPIS[mpi]["mpiexec"], "-n", "1", "env", f"LD_PRELOAD={tmp_path / 'fails.so'}"]
    done = subprocess.run(
        [*launch, program, "--only", "MPI_Neighbor_allgather,"],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "MPI_Cart_create fails" in done.stdout
    assert "MPI_Cart_create leaves out a rank that has a place in the grid" in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--nonsense"], "the options are --short, --only TEXT, --after N"),
        (["--short", "--only", "no such call"], "no trial's name contains what --only asks for"),
    ],
)
def test_wrong_options_are_refused(options: list[str], sentence: str) -> None:
    """Its options are those of main.cpp."""
    mpi = next(iter(MPIS.values()))
    words = [mpi["mpiexec"], "-n", "1", str(Path(mpi["bin"]) / PROGRAM), *options]
    with pytest.raises(Error, match=sentence):
        try_all(lambda options: [*words, *options])


# ---- jobs that end early

JOB = """\
import json, sys
words = sys.argv[1:]
after = int(words[words.index("--after") + 1]) if "--after" in words else -1
with open(words[words.index("--json") + 1], "a") as file:
    say = lambda **row: print(json.dumps(row), file=file)
    say(mpi="An MPI", ranks=2)
    for number in range(after + 1, 4):
        say(trial=number, call=f"MPI_{number}", topology="t", data="d")
        if number == 1:
            file.flush()
            sys.exit("tonari_conformance: rank 0, MPI_1: does not end")
        say(ended=number, wrong="swapped" if number == 2 else "")
    say(wrong=1, trials=4)
"""


def test_a_call_that_does_not_end_ends_no_more_than_its_job() -> None:
    rows = try_all(lambda options: [sys.executable, "-c", JOB, *options])
    assert [(row["call"], row["wrong"]) for row in rows] == [
        ("MPI_0", ""),
        ("MPI_1", "the call does not end"),
        ("MPI_2", "swapped"),
        ("MPI_3", ""),
    ]
    lines = shown(show, rows)
    assert lines[0] == "MPI_1, t" and lines[2] == "MPI_2, t"
    assert lines[-1] == "2 of 4 exchanges are wrong"


def test_a_program_that_does_not_start() -> None:
    words = [sys.executable, "-c", "import sys; sys.exit('no such MPI')"]
    with pytest.raises(Error, match="tonari_conformance does not start: no such MPI"):
        try_all(lambda options: [*words, *options])


def test_errors_are_one_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    refused(call("conformance", "--mpi", "none"), "the build has no none")
    refused(call("conformance", "--", "sh"), "is no launcher of ranks")
    monkeypatch.setenv("TONARI_BUILD", str(tmp_path))
    refused(call("conformance"), "there is no build in")


def test_what_pip_installs_has_no_such_program(tmp_path: Path, monkeypatch: Any) -> None:
    """And says what has it. Of the package there is the benchmark only."""
    (tmp_path / "tonari_bench").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TONARI_BUILD")
    monkeypatch.setattr("tonari.benchmark.launch.programs", lambda: tmp_path)
    sentence = "installed by pip, which has no tonari_conformance: run `make build` in its sources"
    refused(call("conformance"), sentence)


# ---- other people's suites, a little of each; they are fetched, which takes most of the time


def source_of(suite: Any) -> Path:
    try:
        return suite()
    except suites.Missing as missing:
        pytest.skip(str(missing))


def a_run(runs: list[jobs.Run]) -> jobs.Run:
    if not runs:
        pytest.skip("needs an MPI with the library")
    return runs[0]


@pytest.mark.more
def test_neighborhoods_of_mpi4py(tmp_path: Path) -> None:
    source_of(suites.mpi4py)
    run = a_run(mpi4py_suite.USED)
    verdicts, through = mpi4py_suite.prove(run, 2, tmp_path, "-i", "cco_ngh_buf")
    assert len(verdicts) >= 10
    assert "MPI_Neighbor_alltoallw" in through
    assert run.mpi != "openmpi" or "MPI_Ineighbor_alltoallw" in through


@pytest.mark.more
@pytest.mark.parametrize("name", ["neighb_alltoallv", "p_neighb_alltoallw"])
def test_some_of_mpich(name: str, tmp_path: Path) -> None:
    source_of(suites.mpich)
    run = a_run(jobs.RUNS)
    [test] = [test for test in mpich_suite.tests() if test.name == name]
    assert not mpich_suite.prove(run, test, tmp_path)


def test_without_a_network_suites_are_skipped(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(suites, "FOLDER", tmp_path / "conformance")
    monkeypatch.setenv("INSTALL", "no")
    with pytest.raises(suites.Missing, match="INSTALL=no forbids to fetch the source of mpi4py"):
        suites.mpi4py()
    monkeypatch.setenv("INSTALL", "local")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(suites.Missing, match="the source of mpi4py-.* cannot be had: "):
        suites.mpi4py()
    assert [*(tmp_path / "conformance").iterdir()] == []
