# SPDX-License-Identifier: BSD-3-Clause
"""A rank that comes late or is stopped, in real MPI jobs: those who wait for it tell for whom.
These jobs last for seconds: under the first MPI in `make test`, under the others in `make
test-all`."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import built
import pytest
from test_peers import BUILT, Reports, command, needs_build, run_job

waits_under_each_mpi = pytest.mark.parametrize(
    "mpi",
    [built.more(mpi) if number else mpi for number, mpi in enumerate(BUILT)]
    or [pytest.param("none", marks=needs_build)],
)
LATE = "3200000"  # microseconds; lines come after two seconds and after four


def told_by(told: list[str], rank: int) -> str:
    """The first line of a rank: a busy machine may be late by another report."""
    return next(line for line in told if line.startswith(f"tonari: rank {rank} "))


# Kind of exchange, environment, what the call is called, and what it waits for.
Wait = tuple[str, dict[str, str], str, str]
WAITS: list[Wait] = [
    ("alltoall", {}, "alltoall with 2 neighbors", "for 800 bytes from rank 2"),
    ("alltoall", {"TONARI_ALGORITHM": "native"}, "alltoall with 2 neighbors",
     "for messages of these ranks"),
    ("alltoall", {"TONARI_CHANNEL": "p2p-packed"}, "alltoall with 2 neighbors",
     "for 800 bytes from rank 2"),
    ("alltoall", {"TONARI_PROGRESS": "thread"}, "alltoall with 2 neighbors",
     "for 800 bytes from rank 2"),
    ("once-alltoallv", {"TONARI_CHANNEL": "auto"}, "a one-shot call", "for 800 bytes from rank 2"),
    ("mapped", {}, "halo of copy", "for rank 2"),
    ("sparse", {"TONARI_CHANNEL": "auto"}, "a sparse exchange", "for a message from rank 2"),
]  # fmt: skip
MORE_WAITS: list[Wait] = [
    ("alltoall", {"TONARI_CHANNEL": "onesided"}, "alltoall with 2 neighbors",
     "for 800 bytes from rank 2"),
    ("alltoall", {"TONARI_TUNE": "online", "TONARI_CHANNEL": "auto"},
     "alltoall with 2 neighbors", "for 800 bytes from rank 2"),
    ("inplace", {}, "in-place all-to-all", "until rank 2 swaps its block"),
    ("general", {}, "in-place all-to-all", "until others ask"),
    ("array", {}, "halo of copy", "rank 2"),
    ("vector", {}, "", "for 800 bytes from rank 2"),
    ("single", {"TONARI_CHANNEL": "auto"}, "a one-shot call", "from rank 2"),
    ("group", {}, "group of 2 calls", "for 1600 bytes from rank 2"),
]  # fmt: skip


def run_late(mpi: str, wait: Wait, folder: Path) -> tuple[Reports, list[str]]:
    """A job whose last rank comes late to one exchange."""
    kind, environment, *_ = wait
    words = command(
        mpi, 3, "chaos", "--kind", kind, "--deed", "late", "--seed", "2", "--within", LATE,
        "--bytes", "800", "--exchanges", "20",
    )  # fmt: skip
    settings = {"TONARI_CHANNEL": "shared", "TONARI_HANG_REPORT": "1"} | environment
    return run_job(words, folder, **settings)


@waits_under_each_mpi
@pytest.mark.parametrize("waits", [WAITS, built.more(MORE_WAITS)], ids=["often", "seldom"])
def test_who_waits_tells_for_whom(
    mpi: str, waits: list[Wait], subtests: pytest.Subtests, tmp_path: Path
) -> None:
    """Three jobs at a time, since they wait for seconds."""
    waits = [
        wait for wait in waits if mpi == "openmpi" or wait[1].get("TONARI_CHANNEL") != "onesided"
    ]  # MPICH's windows wait inside the MPI for a rank that is late
    with ThreadPoolExecutor(3) as pool:
        folders = [tmp_path / str(number) for number in range(len(waits))]
        jobs = [pool.submit(run_late, mpi, *each) for each in zip(waits, folders, strict=True)]
    for wait, job in zip(waits, jobs, strict=True):
        with subtests.test(wait[0], environment=wait[1]):
            try:
                tells_for_whom(wait, *job.result())
            except (AssertionError, StopIteration):  # so busy that ranks began seconds apart
                tells_for_whom(wait, *run_late(mpi, wait, tmp_path / f"alone{waits.index(wait)}"))


def tells_for_whom(wait: Wait, reports: Reports, told: list[str]) -> None:
    _, _, call, waits = wait
    assert [(report["code"], report["wrong"]) for report in reports] == [(0, 0)] * 3
    late = reports[2]["process"]
    lines = [told_by(told, rank) for rank in (0, 1)]
    for rank, line in enumerate(lines):
        process = reports[rank]["process"]
        begin = rf"tonari: rank {rank} \(process {process}\) has waited for [2-9] s \(since "
        assert re.match(rf'{begin}\d\d:\d\d:\d\d\) in "{call}', line), line
    # One may wait for the other, who waits for the last.
    assert any(waits in line for line in lines), lines
    # Some kernels call a process that sleeps "running".
    absent = rf"rank 2 \(process {late}, \w+\) is not in tonari"
    assert any(re.search(absent, line) for line in lines), lines
    others_wait = [f"rank {1 - k} (process {reports[1 - k]['process']}" for k in (0, 1)]
    for line, other in zip(lines, others_wait, strict=True):
        assert other not in line or "waits for rank" in line.split(other)[1], line


@waits_under_each_mpi
def test_a_stopped_rank_is_told_of_and_waited_for(mpi: str, tmp_path: Path) -> None:
    words = command(
        mpi, 2, "chaos", "--deed", "halt", "--seed", "1", "--within", LATE, "--exchanges", "30",
    )  # fmt: skip
    reports, told = run_job(words, tmp_path, TONARI_HANG_REPORT="1")
    assert [(report["code"], report["wrong"]) for report in reports] == [(0, 0)] * 2
    assert f"rank 1 (process {reports[1]['process']}) is stopped" in told_by(told, 0)


@waits_under_each_mpi
def test_no_report_is_wanted(mpi: str, tmp_path: Path) -> None:
    words = command(
        mpi, 2, "chaos", "--deed", "late", "--seed", "1", "--within", LATE, "--exchanges", "20"
    )
    assert run_job(words, tmp_path, TONARI_HANG_REPORT="0")[1] == []
