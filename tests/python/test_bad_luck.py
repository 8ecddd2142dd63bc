# SPDX-License-Identifier: BSD-3-Clause
"""A rank that dies or is stopped, at random times amid every kind of exchange, or in a certain call
of the MPI. Nobody is left waiting: the others get an error, or end with a sentence where the MPI
itself does not return."""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import built
import pytest
from test_peers import BUILT, GO_ON, Reports, command, each_mpi, is_gone, needs_build, run_job

EVERY_KIND = [
    "alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv", "allgatherw",
    "once-alltoall", "once-alltoallw", "once-allgatherv", "started-alltoallv", "started-allgather",
    "inplace", "general", "group", "sparse", "array", "mapped", "array-reverse", "blocks",
    "blocks-reverse", "vector", "reverse", "combine", "single", "single-reverse", "single-combine",
]  # fmt: skip
TRIALS = int(os.environ.get("TONARI_PEERS_TRIALS", "0"))  # by hand: some thousands
SEED = int(os.environ.get("TONARI_TEST_SEED", "1"))
# MPICH 5.0's own collectives may succeed without the blocks of a dead rank: seen in 2 of 27 kills.
NATIVE = {"TONARI_ALGORITHM": "native"}
WAYS: list[dict[str, str]] = [
    {},
    {"TONARI_CHANNEL": "shared"},
    {"TONARI_CHANNEL": "p2p-packed"},
    {"TONARI_TUNE": "online"},
    {"TONARI_PROGRESS": "thread"},
    NATIVE,
    {"TONARI_CHANNEL": "onesided"},
]


def ends_with_sentence(report: dict[str, Any], told: list[str]) -> bool:
    """As the MPI did not return."""
    begin = rf"tonari: rank {report['rank']} \(process {report['process']}\) ends, because it has "
    words = begin + r"been inside MPI_\w+ for \d+ s and rank \d .* ha(s|ve) ended"
    return report.get("status") == 1 and any(re.match(words, line) for line in told)


def assert_nobody_was_left(mpi: str, reports: Reports, told: list[str]) -> None:
    """Each survivor has an error. Or it has ended: by the library, with a sentence; MPICH's own
    transport also aborts where it reads the memory of the dead, or returns an error."""
    for report in reports:
        if "ended_by" not in report:
            assert report["peer_error"] or (mpi != "openmpi" and report["code"]), report
        elif not ends_with_sentence(report, told):
            assert mpi != "openmpi", (report, told)
            assert report["ended_by"] == signal.SIGABRT or report["status"], report


def one_trial(mpi: str, deed: str, seed: int, folder: Path) -> None:
    """Bad luck with one kind of exchange, drawn by the seed."""
    draw = random.Random(seed)
    kind, way = draw.choice(EVERY_KIND), draw.choice(WAYS)
    size = draw.choice(["8", "800", "8192", "400000"])
    if kind == "mapped":
        size = "8192"
    ranks = draw.choice([2, 3, 3, 4])
    words = command(
        mpi, ranks, "chaos", "--kind", kind, "--deed", deed, "--seed", str(seed), "--bytes", size,
        "--within", str(draw.choice([3_000, 30_000, 300_000])), "--exchanges", "60",
        launcher=GO_ON[mpi] if deed == "kill" else (),
    )  # fmt: skip
    settings = {"TONARI_TIMEOUT": "0.5", "TONARI_HANG_REPORT": "5", "TMPDIR": str(folder)}
    print(f"TONARI_TEST_SEED={seed}:", shlex.join(words), settings | way)
    environment = {"TONARI_CHANNEL": "auto"} | settings | way
    reports, told = run_job(words, folder, **environment)
    own = [report for report in reports if "ended_by" not in report]
    if deed != "kill" or mpi == "openmpi" or way != NATIVE:
        assert all(report["wrong"] == 0 for report in own), reports
    if deed == "kill":
        dead = seed % ranks
        assert [report["rank"] for report in reports] == [k for k in range(ranks) if k != dead]
        assert_nobody_was_left(mpi, reports, told)
    else:
        assert [report["code"] for report in reports] == [0] * ranks, reports
    # Grids are freed together, and sparse exchanges with their communicator.
    if kind not in ("mapped", "array", "array-reverse", "sparse"):
        assert [report["mappings"] for report in own] == [0] * len(own), reports
    assert all(is_gone(report["process"]) for report in reports)
    if own == reports:  # what has ended by itself leaves files of the MPI only
        assert not [path for path in folder.rglob("*") if path.name.startswith("tonari-")]


def trials(mpi: str, deed: str, number: int, tmp_path: Path) -> None:
    """Three at a time, as most of the time they wait."""
    seeds = range(SEED, SEED + (TRIALS or number))
    folders = [tmp_path / str(seed) for seed in seeds]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda seed, folder: one_trial(mpi, deed, seed, folder), seeds, folders))


@each_mpi
@pytest.mark.parametrize("deed", ["kill", "stop"])
def test_bad_luck_at_random_times(mpi: str, deed: str, tmp_path: Path) -> None:
    trials(mpi, deed, 6, tmp_path)


@pytest.mark.more
@each_mpi
@pytest.mark.parametrize("deed", ["kill", "stop"])
def test_much_bad_luck_at_random_times(mpi: str, deed: str, tmp_path: Path) -> None:
    trials(mpi, deed, 20, tmp_path)


# ---- in a certain call of the MPI: under the first MPI in `make test`, under the others in `make
# test-all`

under_each_mpi = pytest.mark.parametrize(
    "mpi",
    [built.more(mpi) if number else mpi for number, mpi in enumerate(BUILT)]
    or [pytest.param("none", marks=needs_build)],
)


def run_at(
    mpi: str,
    deed: str,
    call: str,
    calls: int,
    folder: Path,
    kind: str = "alltoall",
    victim: int = 2,
    **environment: str,
):
    words = command(
        mpi, 3, "chaos", "--kind", kind, "--deed", deed, "--seed", str(victim), "--bytes", "800",
        "--call", call, "--calls", str(calls), launcher=GO_ON[mpi],
    )  # fmt: skip
    settings = {"TONARI_TIMEOUT": "0.5", "TONARI_CHANNEL": "shared"} | environment
    return run_job(words, folder, **settings)


def assert_named(reports: Reports, victim: int = 2) -> None:
    """The others have an error, and one has learned of it first."""
    assert [report["rank"] for report in reports] == [rank for rank in range(3) if rank != victim]
    assert all(report.get("peer_error") for report in reports), reports
    assert any(f"rank {victim} (process" in report["sentence"] for report in reports), reports


# Calls that are started and tested: those who wait get an error.
STARTED = [
    *[built.more("alltoall", "MPI_Iallreduce", calls) for calls in (0, 1, 4, 7)],
    ("alltoall", "MPI_Iallgather", 0),
    ("alltoall", "MPI_Comm_idup", 0),
    built.more("iso", "MPI_Comm_idup", 1),
]
# Those that cannot be: they end.
BLOCKING = [
    built.more("MPI_Dist_graph_create_adjacent", {"TONARI_ALGORITHM": "native"}),
    built.more("MPI_Win_allocate", {"TONARI_CHANNEL": "onesided"}),
]


@under_each_mpi
@pytest.mark.parametrize(("kind", "call", "calls"), STARTED)
def test_a_rank_that_dies_while_a_request_is_made_is_named(
    mpi: str, kind: str, call: str, calls: int, tmp_path: Path
) -> None:
    reports, told = run_at(mpi, "making-die", call, calls, tmp_path, kind)
    assert_named(reports)
    assert not [line for line in told if " ends, because " in line], told


@under_each_mpi
def test_behind_a_duplicate_that_was_given_up_none_is_made(mpi: str, tmp_path: Path) -> None:
    """Open MPI 4.1.4 would never make it, though all its ranks live: it serves older communicators
    first."""
    reports, _ = run_at(mpi, "remaking-die", "MPI_Comm_idup", 0, tmp_path)
    assert [report["rank"] for report in reports] == [0, 1]
    for report in reports:
        assert report["peer_error"], report
        assert "a rank ended while a communicator was duplicated" in report["sentence"], report


@under_each_mpi
@pytest.mark.parametrize("victim", [2, built.more(1)])
def test_a_rank_that_dies_while_a_machine_is_measured_is_named(
    mpi: str, victim: int, tmp_path: Path
) -> None:
    """Rank 0 exchanges messages with the last rank, and words in shared memory with the next. Both
    read the clock before and after each of them: some way into that the other one dies."""
    reports, _ = run_at(
        mpi, "first-die", "MPI_Wtime", 10, tmp_path, victim=victim, TONARI_TUNE="model",
        TONARI_CHANNEL="auto",
    )  # fmt: skip
    assert_named(reports, victim)


@under_each_mpi
@pytest.mark.parametrize(("call", "way"), BLOCKING)
def test_who_is_left_in_a_call_that_blocks_ends_with_a_sentence(
    mpi: str, call: str, way: dict[str, str], tmp_path: Path
) -> None:
    reports, told = run_at(mpi, "making-die", call, 0, tmp_path, **way)
    assert [report["rank"] for report in reports] == [0, 1]
    for report in reports:
        assert ends_with_sentence(report, told), (report, told)
    assert any(f"inside {call} for" in line and "rank 2 (process" in line for line in told), told


@under_each_mpi
def test_who_hangs_inside_the_mpi_ends_with_a_sentence(mpi: str, tmp_path: Path) -> None:
    """The next call of MPI_Testall is the last one, as where a rank has died with the MPI's own
    shared memory half written. Nobody else can tell."""
    reports, told = run_at(mpi, "hung", "MPI_Testall", 0, tmp_path, TONARI_CHANNEL="p2p-packed")
    assert [report["rank"] for report in reports] == [0, 1]
    assert any("inside MPI_Testall for" in line for line in told), told
    assert_nobody_was_left(mpi, reports, told)
