# SPDX-License-Identifier: BSD-3-Clause
"""A rank that comes late or is stopped, in real MPI jobs: those who wait for it tell for whom.
These jobs last for seconds: under the first MPI in `make test`, under the others in `make
test-all`."""

from __future__ import annotations

import re
from collections.abc import Callable
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


def told_by(told: list[str], rank: int) -> list[str]:
    return [line for line in told if line.startswith(f"tonari: rank {rank} ")]


def run_until(
    words: list[str], folder: Path, enough: Callable[[list[str]], bool], **environment: str
) -> tuple[Reports, list[str]]:
    """A job in which a rank comes late: as soon as the others have told enough. So it depends on no
    time; if they never do, the rank comes after ten minutes."""
    folder.mkdir(exist_ok=True)
    go = folder / "go"
    heard: list[str] = []

    def hear(line: str) -> None:
        if line.startswith("tonari: rank "):
            heard.append(line)
        if enough(heard):
            go.touch()

    return run_job(words, folder, hear, TONARI_PEERS_GO=str(go), **environment)


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


def late(mpi: str, ranks: int, deed: str, kind: str = "alltoall", *more: str) -> list[str]:
    return command(
        mpi, ranks, "chaos", "--kind", kind, "--deed", deed, "--seed", str(ranks - 1), "--within",
        "1", "--bytes", "800", "--exchanges", "20", *more,
    )  # fmt: skip


def run_late(mpi: str, wait: Wait, folder: Path) -> tuple[Reports, list[str]]:
    """A job whose last rank comes late to one exchange."""
    kind, environment, *_ = wait
    settings = {"TONARI_CHANNEL": "shared", "TONARI_HANG_REPORT": "1"} | environment
    return run_until(
        late(mpi, 3, "late", kind), folder, lambda told: tell_for_whom(wait, told), **settings
    )


@waits_under_each_mpi
@pytest.mark.parametrize("waits", [WAITS, built.more(MORE_WAITS)], ids=["often", "seldom"])
def test_who_waits_tells_for_whom(
    mpi: str, waits: list[Wait], subtests: pytest.Subtests, tmp_path: Path
) -> None:
    """Eight jobs at a time, since they wait for seconds."""
    waits = [
        wait for wait in waits if mpi == "openmpi" or wait[1].get("TONARI_CHANNEL") != "onesided"
    ]  # MPICH's windows wait inside the MPI for a rank that is late
    with ThreadPoolExecutor(8) as pool:
        folders = [tmp_path / str(number) for number in range(len(waits))]
        jobs = [pool.submit(run_late, mpi, *each) for each in zip(waits, folders, strict=True)]
    for wait, job in zip(waits, jobs, strict=True):
        with subtests.test(wait[0], environment=wait[1]):
            reports, told = job.result()
            assert [(report["code"], report["wrong"]) for report in reports] == [(0, 0)] * 3
            assert tell_for_whom(wait, told), told
            names_processes(reports, told)


def tell_for_whom(wait: Wait, told: list[str]) -> bool:
    """Both others have said that they wait in this call, one of them for what; one that the last
    rank is not in tonari, and neither that of the other, who waits for the last."""
    _, _, call, waits = wait
    begin = r"tonari: rank \d \(process \d+\) has waited for \d+ s \(since \d\d:\d\d:\d\d\) in "
    lines = [told_by(told, rank) for rank in (0, 1)]
    # Some kernels call a process that sleeps "running".
    absent = r"rank 2 \(process \d+, \w+\) is not in tonari"
    return (
        all(any(re.match(f'{begin}"{call}', line) for line in own) for own in lines)
        and any(waits in line for line in told)
        and any(re.search(absent, line) for line in told)
        and all(any(sees_the_other_wait(line, 1 - rank) for line in lines[rank]) for rank in (0, 1))
    )


def sees_the_other_wait(line: str, other: int) -> bool:
    about = re.search(rf"; rank {other} \(process [^)]*\) ([^;]*)", line)
    return not about or about[1].startswith("waits for rank")


def names_processes(reports: Reports, told: list[str]) -> None:
    """Whatever is told of a rank names its process."""
    for line in told:
        for rank, process in re.findall(r"rank (\d) \(process (\d+)", line):
            assert reports[int(rank)]["process"] == int(process), line


@waits_under_each_mpi
def test_a_stopped_rank_is_told_of_and_waited_for(mpi: str, tmp_path: Path) -> None:
    stopped = r"rank 1 \(process \d+\) is stopped"
    reports, told = run_until(
        late(mpi, 2, "halt"), tmp_path,
        lambda told: any(re.search(stopped, line) for line in told_by(told, 0)),
        TONARI_HANG_REPORT="1",
    )  # fmt: skip
    assert [(report["code"], report["wrong"]) for report in reports] == [(0, 0)] * 2
    assert any(re.search(stopped, line) for line in told_by(told, 0)), told
    names_processes(reports, told)


# What befalls the last rank at its first call of all, and where: what the others then wait in.
FIRST = [
    ("first-late", "", "a call that all ranks of a communicator make"),
    built.more("first-halt", "MPI_Iallreduce", "a call that all ranks of a communicator make"),
    built.more("first-halt", "MPI_Comm_idup", "a call that all ranks of a communicator make"),
    built.more("first-halt", "MPI_Iallgather", "a call that all ranks of a communicator make"),
]


@waits_under_each_mpi
@pytest.mark.parametrize(("deed", "call", "waits"), FIRST)
def test_who_waits_in_the_first_call_of_all_tells_for_whom(
    mpi: str, deed: str, call: str, waits: str, tmp_path: Path
) -> None:
    """Nothing is connected yet, so processes are known from the launcher only."""
    absent = r"rank 2 \(process \d+, \w+\) is not in tonari"
    if deed == "first-halt":
        absent = r"rank 2 \(process \d+\) is stopped"

    def enough(told: list[str]) -> bool:
        return all(
            any(f" in {waits}" in line and re.search(absent, line) for line in told_by(told, rank))
            for rank in (0, 1)
        )

    more = ("--call", call) if call else ()
    reports, told = run_until(
        late(mpi, 3, deed, "alltoall", *more), tmp_path, enough, TONARI_HANG_REPORT="1",
        TONARI_CHANNEL="shared",
    )  # fmt: skip
    assert [(report["code"], report["wrong"]) for report in reports] == [(0, 0)] * 3
    assert enough(told), told
    names_processes(reports, told)


@waits_under_each_mpi
def test_no_report_is_wanted(mpi: str, tmp_path: Path) -> None:
    words = command(
        mpi, 2, "chaos", "--deed", "late", "--seed", "1", "--within", "2500000", "--exchanges", "20"
    )
    assert run_job(words, tmp_path, TONARI_HANG_REPORT="0")[1] == []
