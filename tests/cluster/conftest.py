# SPDX-License-Identifier: BSD-3-Clause
"""`make test-cluster`: jobs under Slurm, on hosts that are network namespaces of this machine
(tools/slurm_hosts.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from netns_hosts import Hosts
from slurm_hosts import OPEN_MPI, Cluster, lacking

BUILD = Path(os.environ.get("TONARI_BUILD", ROOT / "build"))
PROGRAM = BUILD / "openmpi" / "bin" / "tonari_until"
OF_MPICH = BUILD / "mpich" / "bin" / "tonari_until"
HOSTS, SLOTS = 3, 2


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where everything is skipped, nothing is proved."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = [*reporter.stats.get("passed", []), *reporter.stats.get("failed", [])]
    if not ran and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def running() -> list[int]:
    """Processes of this machine that are the program."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").readlink() in (PROGRAM, OF_MPICH):
                found.append(int(process.name))
        except OSError:  # it has ended
            pass
    return found


def until(what: str, done: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(0.1)


class Slurm:
    """Commands of Slurm on the first host, with a folder for the files of jobs."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.environment = {
            key: value
            for key, value in cluster.environment.items()
            if not key.startswith(("TONARI_", "OMPI_MCA_"))
        } | OPEN_MPI
        self.environment["TONARI_CACHE_DIR"] = str(folder / "cache")

    def call(self, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.cluster.on(self.cluster.hosts.names[0], *command),
            env=self.environment | settings, cwd=self.folder, capture_output=True, text=True,
            check=False, timeout=200,
        )  # fmt: skip

    def run(
        self, *words: str, program: Path = PROGRAM, options: tuple[str, ...] = ("--starts", "5"),
        **settings: str,
    ) -> str:  # fmt: skip
        """What the program says under `srun WORDS`."""
        done = self.call("srun", *words, str(program), *options, **settings)
        assert done.returncode == 0, done
        assert "wrong" in done.stdout and not [
            line for line in done.stdout.splitlines() if "wrong" in line and ": 0 wrong" not in line
        ]
        return done.stdout

    def submit(self, *words: str, script: str, **settings: str) -> str:
        """The number of a job that runs these lines; its output goes to NUMBER.out."""
        (self.folder / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
        done = self.call(
            "sbatch", "--parsable", "--output=%j.out", *words, "job.sh", **settings
        )  # fmt: skip
        assert done.returncode == 0, done
        return done.stdout.strip()

    def said(self, job: str) -> str:
        file = self.folder / f"{job}.out"
        return file.read_text() if file.exists() else ""

    def ended(self, job: str) -> bool:
        return not self.call("squeue", "-h", "-j", job).stdout.strip()

    def state(self, job: str) -> str:
        shown = self.call("scontrol", "-o", "show", "job", job).stdout
        return next(word[9:] for word in shown.split() if word.startswith("JobState="))

    def nodes(self) -> dict[str, str]:
        told = self.call("sinfo", "-h", "-N", "-o", "%N %t").stdout
        return dict(line.split() for line in told.splitlines())


def make_cluster(folder: Path, count: int = HOSTS, slots: int = SLOTS) -> Iterator[Slurm]:
    why = lacking()
    if why:
        pytest.skip(why)
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: build the target cluster_tests")
    files = folder / "slurm"
    files.mkdir()
    with Hosts(count) as hosts, Cluster(hosts, slots, files) as cluster:
        yield Slurm(cluster, folder)
    assert running() == []


@pytest.fixture(scope="session")
def of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    yield from make_cluster(tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def slurm(of_all_tests: Slurm, tmp_path: Path) -> Slurm:
    """With a folder and a cache of this test alone."""
    return Slurm(of_all_tests.cluster, tmp_path)


@pytest.fixture
def own_slurm(tmp_path: Path) -> Iterator[Slurm]:
    """A cluster that a test may damage."""
    yield from make_cluster(tmp_path)


@pytest.fixture
def large_slurm(tmp_path: Path) -> Iterator[Slurm]:
    """A cube of hosts with one core each, in front of all else on this machine: the first starts
    compare times, and each hop waits until its host has its turn."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        yield from make_cluster(tmp_path, 27, 1)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)
