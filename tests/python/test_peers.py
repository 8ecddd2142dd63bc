# SPDX-License-Identifier: BSD-3-Clause
"""Bad luck with shared memory, in real MPI jobs: a rank that is killed or leaves, too little
memory, no permission, few threads; and what is asked of the system while all goes well. Every job
ends by itself: tonari_peers has an alarm, and run() a time limit."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

BUILT, needs_build, each_mpi = built.marks("tonari_peers")
SETTINGS = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "TONARI_TIMEOUT": "1",
    "TONARI_TUNE": "off",
    "TONARI_CONNECT_AFTER": "0",  # through shared memory from the first call on
}
ENVIRONMENT = ANY_RANKS | SETTINGS
# The MPI itself does not read other processes' memory.
NO_READS_BY_MPI = {
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "UCX_TLS": "^cma",
    "MPIR_CVAR_CH4_CMA_ENABLE": "0",  # MPICH 5
}
# The launcher lets the others go on where a rank has died.
GO_ON = {"openmpi": ("--enable-recovery",), "mpich": ("-disable-auto-cleanup",)}
GO_ON["abi"] = GO_ON["mpich"]


def command(
    mpi: str,
    ranks: int,
    *arguments: str,
    launcher: tuple[str, ...] = (),
    before: tuple[str, ...] = (),
) -> list[str]:
    program = str(Path(BUILT[mpi]["bin"]) / "tonari_peers")
    return [BUILT[mpi]["mpiexec"], *launcher, "-n", str(ranks), *before, program, *arguments]


Reports = list[dict[str, Any]]


def run_job(
    words: list[str],
    cache: Path,
    hear: Callable[[str], object] = lambda line: None,
    **environment: str,
) -> tuple[Reports, list[str]]:
    """What each rank that came to its end reported, in the order of ranks; and what the job says of
    waits that last, which is heard as soon as it is said."""
    folder = cache / f"reports-{len(list(cache.glob('reports-*')))}"
    folder.mkdir(parents=True)
    places = {"TONARI_CACHE_DIR": str(cache), "TONARI_PEERS_REPORTS": str(folder)}
    env = os.environ | ENVIRONMENT | places | {"TONARI_CHANNEL": "shared"} | environment
    job = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=env
    )
    lines: list[str] = []
    assert job.stderr
    with TimeLimit(PATIENCE, job.kill):
        for line in job.stderr:
            lines.append(line.rstrip("\n"))
            hear(lines[-1])
        output, _ = job.communicate()
    said = "\n".join(lines)
    reports = [json.loads(path.read_text()) for path in folder.iterdir()]
    assert reports, f"{output}\n{said}"
    # Launchers report on the dead as they like.
    dies = any(word in ("kill", "hung") or word.endswith("-die") for word in words)
    assert job.returncode == 0 or dies, said
    print(said)  # pytest shows it if the test fails
    told = [line for line in lines if line.startswith("tonari: rank ")]
    return sorted(reports, key=lambda report: report["rank"]), told


class TimeLimit(threading.Timer):
    """For a with statement: what is late by so many seconds is ended."""

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.cancel()


def run(words: list[str], cache: Path, channel: str = "shared", **environment: str) -> Reports:
    return run_job(words, cache, **{"TONARI_CHANNEL": channel} | environment)[0]


def is_gone(process: int) -> bool:
    """If not now, then later: what the launcher leaves behind is collected by another process."""
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{process}").exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def assert_nothing_is_left(reports: list[dict[str, Any]]) -> None:
    assert [report["mappings"] for report in reports] == [0] * len(reports)
    assert all(is_gone(report["process"]) for report in reports)
    names = [path.name for path in Path("/dev/shm").glob("*")]
    of_other_tests = "tonari-test-"
    assert not [name for name in names if "tonari" in name and not name.startswith(of_other_tests)]


def in_place(algorithm: str) -> list[str]:
    return ["--in-place"] if algorithm == "in place" else []


@each_mpi
@pytest.mark.parametrize(
    ("algorithm", "size"),
    [
        built.more("linear", "8"),
        ("linear", "4000000"),
        built.more("coloring", "40000"),
        ("in place", "40000"),
    ],
)
def test_a_killed_rank_is_named_to_the_others(
    mpi: str, size: str, algorithm: str, tmp_path: Path
) -> None:
    words = command(mpi, 3, "kill", "--bytes", size, *in_place(algorithm), launcher=GO_ON[mpi])
    reports = run(words, tmp_path, TONARI_ALGORITHM="linear" if in_place(algorithm) else algorithm)
    assert [report["rank"] for report in reports] == [0, 1]
    for report in reports:
        assert report["peer_error"], report
        assert report["wrong"] == 0
    # One may hear of the other, which has given up because of the dead.
    sentences = " ".join(report["sentence"] for report in reports)
    dead = re.search(r"rank 2 \(process (\d+)\) has ended", sentences)
    assert dead, sentences
    assert is_gone(int(dead[1]))
    reason = r"rank \d \(process \d+\) has ended|rank \d has freed its request"
    assert all(re.search(reason, report["sentence"]) for report in reports)
    assert_nothing_is_left(reports)


@each_mpi
def test_a_block_that_was_given_up_is_not_taken_for_what_was_sent(mpi: str, tmp_path: Path) -> None:
    """A sender whose call has failed may change its blocks, which others have not read yet."""
    (report,) = run(command(mpi, 3, "change"), tmp_path, channel="auto")
    assert report["peer_error"] or report["wrong"] == 0, report


@each_mpi
@pytest.mark.parametrize(
    ("calls", "size"),
    [
        built.more("--once", "8"),
        ("--once", "4000000"),
        built.more("--once", "40000"),
        ("--vector", "4000"),
        built.more("--vector", "4000000"),
    ],
)
@pytest.mark.parametrize("deed", ["kill", "leave"])
def test_a_rank_that_goes_amid_one_shot_calls_is_named(
    mpi: str, deed: str, calls: str, size: str, tmp_path: Path
) -> None:
    """By streams: those who wait for it hear it, and what they have is freed as ever."""
    words = command(mpi, 3, deed, calls, "--bytes", size, launcher=GO_ON[mpi])
    reports = run(words, tmp_path, channel="auto", TONARI_TIMEOUT="1")
    others = [report for report in reports if report["rank"] < 2]
    assert len(others) == 2
    for report in others:
        assert report["peer_error"], report
        assert report["wrong"] == 0
    sentences = " ".join(report["sentence"] for report in others)
    gone = "has ended" if deed == "kill" else "has given up an exchange or freed"
    assert re.search(rf"rank 2 (\(process \d+\) )?{gone}", sentences), sentences
    assert_nothing_is_left(reports)


@each_mpi
@pytest.mark.parametrize("ranks", [built.more(2), 3])
def test_a_killed_rank_whose_pages_are_ghosts_is_named(
    mpi: str, ranks: int, tmp_path: Path
) -> None:
    words = command(mpi, ranks, "kill", "--grid", "--bytes", "8192", launcher=GO_ON[mpi])
    reports = run(words, tmp_path)
    assert [report["rank"] for report in reports] == list(range(ranks - 1))
    for report in reports:
        assert "zero-byte" in report["description"]
        assert report["peer_error"], report
        assert report["wrong"] == 0
        reason = rf"rank {ranks - 1} has ended|rank \d has given up"
        assert re.search(reason, report["sentence"]), report
    assert any(f"rank {ranks - 1} has ended" in report["sentence"] for report in reports)
    assert all(is_gone(report["process"]) for report in reports)


@each_mpi
@pytest.mark.parametrize(
    ("algorithm", "size"),
    [
        ("linear", "8"),
        built.more("linear", "4000000"),
        built.more("in place", "8"),
        ("in place", "400000"),
    ],
)
def test_a_rank_that_frees_its_request_is_named_to_the_others(
    mpi: str, size: str, algorithm: str, tmp_path: Path
) -> None:
    reports = run(command(mpi, 3, "leave", "--bytes", size, *in_place(algorithm)), tmp_path)
    assert [report["peer_error"] for report in reports] == [True, True, False]
    assert "rank 2 has freed its request" in reports[0]["sentence"] + reports[1]["sentence"]
    assert all(report["wrong"] == 0 for report in reports)
    assert_nothing_is_left(reports)


def can_mount() -> bool:
    return (
        os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    )


needs_mount = pytest.mark.skipif(
    shutil.which("unshare") is None or not can_mount(),
    reason="mounts need root, and a system that lets it",
)


def in_small_directory(directory: Path, kib: int, words: list[str]) -> list[str]:
    mount = f"mount -t tmpfs -o size={kib}k none {shlex.quote(str(directory))}"
    return ["unshare", "-m", "sh", "-c", f"{mount} && exec {shlex.join(words)}"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where a job mounts a small file system."""
    (tmp_path / "small").mkdir()
    return tmp_path / "small"


@needs_mount
@each_mpi
@pytest.mark.parametrize("only_last", [built.more(False), True])
@pytest.mark.parametrize("tune", ["off", built.more("measure")])
def test_too_little_memory_to_share_is_no_error(
    mpi: str, only_last: bool, tune: str, directory: Path, tmp_path: Path
) -> None:
    option = ["--shm-dir", str(directory)] if only_last else []
    words = command(mpi, 2, "exchange", "--bytes", "3000", *option)
    environment = {"TONARI_TUNE": tune} | ({} if only_last else {"TONARI_SHM_DIR": str(directory)})
    for report in run(in_small_directory(directory, 4, words), tmp_path, **environment):
        assert (report["code"], report["wrong"]) == (0, 0)
        assert "p2p-packed" in report["description"].splitlines()[1]
        assert re.search(r"cannot share \d{4,5} bytes .*4096 bytes free", report["description"]), (
            report["description"]
        )


@needs_mount
@pytest.mark.more
@each_mpi
def test_too_little_memory_leaves_the_other_candidates(
    mpi: str, directory: Path, tmp_path: Path
) -> None:
    words = command(mpi, 2, "exchange", "--bytes", "400000")
    settings = {"TONARI_TUNE": "measure", "TONARI_SHM_DIR": str(directory)}
    for report in run(in_small_directory(directory, 16, words), tmp_path, "auto", **settings):
        assert (report["code"], report["wrong"]) == (0, 0)
        description = report["description"]
        cannot = r"\n  linear/shared: cannot share \d+ bytes"
        assert re.search(cannot, description), description
        assert not description.splitlines()[1].startswith("chosen: linear/shared (")


@each_mpi
def test_without_permission_to_read_others_nothing_is_read(mpi: str, tmp_path: Path) -> None:
    arguments = ("exchange", "--bytes", "4000000", "--exchanges", "20")
    free = run(command(mpi, 2, *arguments), tmp_path / "free", TONARI_TUNE="measure")
    settings = NO_READS_BY_MPI | {"TONARI_TUNE": "measure"}
    refused = run(command(mpi, 2, *arguments, "--refuse"), tmp_path / "refused", **settings)
    for report in free + refused:
        assert (report["code"], report["wrong"]) == (0, 0)
    assert all("shared" in report["description"].splitlines()[1] for report in free + refused)
    assert all("single copy" not in report["description"] for report in refused)
    if "single copy" not in free[0]["description"]:
        pytest.skip("this system lets no process read another's memory, refused or not")


@each_mpi
@pytest.mark.parametrize("size", ["8", built.more("400000")])
def test_one_thread_is_enough(mpi: str, size: str, tmp_path: Path) -> None:
    words = command(mpi, 3, "exchange", "--bytes", size, "--threads", "single")
    for report in run(words, tmp_path):
        assert (report["code"], report["wrong"], report["mappings"]) == (0, 0, 0)
        assert "shared" in report["description"].splitlines()[1]


def calls_between_markers(trace: Path) -> list[str]:
    lines = trace.read_text().splitlines()
    first, last = (
        next(k for k, line in enumerate(lines) if marker in line)
        for marker in ("getpgid(424242)", "getpgid(424243)")
    )
    return lines[first + 1 : last]


# Who is kept waiting lets the MPI proceed, looks who shares its core, and gives that away.
OF_WAITING = ("epoll_wait", "getrusage", "nanosleep", "clock_nanosleep", "poll", "sched_yield")


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@each_mpi
def test_small_exchanges_make_no_system_call(mpi: str, tmp_path: Path) -> None:
    """But for those of waits that have become long (tests/memory/wait_test.cpp says when)."""
    traced = ("sh", "-c", f'exec strace -o {shlex.quote(str(tmp_path))}/$$.trace "$@"', "traced")
    settings = {"OMPI_MCA_mpi_yield_when_idle": "0", "LD_PRELOAD": ""}
    for report in run(command(mpi, 2, "quiet", before=traced), tmp_path, **settings):
        assert (report["code"], report["wrong"]) == (0, 0)
    traces = list(tmp_path.glob("*.trace"))
    assert len(traces) == 2
    for trace in traces:
        calls = calls_between_markers(trace)
        assert [call for call in calls if call.partition("(")[0] not in OF_WAITING] == []


def with_variables(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    mpi = next(iter(BUILT), None) or pytest.skip("there is no build")
    places = {"TONARI_CACHE_DIR": str(folder), "TONARI_PEERS_REPORTS": str(folder)}
    return subprocess.run(
        command(mpi, 2, "exchange"), capture_output=True, encoding="utf-8", timeout=PATIENCE,
        env=os.environ | ENVIRONMENT | places | variables,
    )  # fmt: skip


@pytest.mark.parametrize("value", ["-1", built.more("soon"), built.more("1.5")])
def test_a_wrong_time_is_one_sentence(value: str, tmp_path: Path) -> None:
    done = with_variables(tmp_path, TONARI_HANG_REPORT=value)
    assert done.returncode != 0
    says = f"TONARI_HANG_REPORT is '{value}'; it must be a number of seconds, 0 for no report"
    assert f"tonari_peers: {says}" in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("TONARI_SHM_DIR", "', where no file can be made (No such file or directory); it must be "),
        ("TONARI_CACHE_DIR", "', which is no directory and cannot be made one (Not a directory); "),
    ],
)
def test_a_place_that_cannot_be_is_one_warning(variable: str, says: str, tmp_path: Path) -> None:
    """The job goes on without. One rank of the two says so, whatever it needs the place for."""
    below = "file/below" if variable == "TONARI_CACHE_DIR" else "nowhere"
    (tmp_path / "file").write_text("in the way")
    place = str(tmp_path / below)
    done = with_variables(tmp_path, TONARI_TUNE="auto", **{variable: place})
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if variable in line]
    assert line.startswith(f"tonari: warning: {variable} is '{place}{says}"), line
