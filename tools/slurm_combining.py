#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says how much combining gains between hosts under Slurm, where nothing asks for it.

    tools/slurm_combining.py                       27 hosts, a word to each of 26 neighbors
    tools/slurm_combining.py --hosts 8 --words 16 --runs 5

Each row has two jobs on one cluster (tools/slurm_hosts.py), with one rank on each host. One job
gets no advice, and its first starts choose. The other one sends a message to each neighbor
(TONARI_ALGORITHM=linear). The ratio says how many times as long the second one takes. All hosts
share the cores of this machine, so nothing else may run. Needs root, Slurm and the target
cluster_tests.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from netns_hosts import Hosts, Trouble, interrupted
from slurm_hosts import OPEN_MPI, Cluster, lacking

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = (
    Path(os.environ.get("TONARI_BUILD", ROOT / "build")) / "openmpi" / "bin" / "tonari_until"
).absolute()
SECONDS = 120  # that a job may take
TRIES = 4


@dataclass(frozen=True)
class Row:
    hosts: int
    words: int
    run: int
    messages: int
    us: float
    linear_messages: int
    linear_us: float
    ratio: float


@dataclass(frozen=True)
class Job:
    """What rank 0 said: messages that it sends, and microseconds of an exchange."""

    messages: int
    us: float


def found_in(said: str, pattern: str) -> float:
    if match := re.search(pattern, said):
        return float(match[1])
    raise Trouble(f"the program did not say what was expected, but: {said.strip() or 'nothing'}")


def run(cluster: Cluster, words: int, starts: int, **settings: str) -> Job:
    """A job with a rank on each host. If it ends in MPI_Init, before any call of tonari, it is
    tried again: on 27 hosts, Open MPI 4.1.4 sometimes calls a null function of its TCP module."""
    hosts = cluster.hosts
    command = ["srun", "-N", str(hosts.count), "-n", str(hosts.count), "--mpi=pmix"]
    command += ["--kill-on-bad-exit=1", str(PROGRAM), "--dimensions", "3"]
    command += ["--words", str(words), "--starts", str(starts)]
    kept = {
        key: value
        for key, value in cluster.environment.items()
        if not key.startswith(("TONARI_", "OMPI_MCA_"))
    }
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(dir=cluster.folder) as cache:  # no job knows of another
            done = subprocess.run(
                cluster.on(hosts.names[0], *command),
                env=kept | OPEN_MPI | {"TONARI_CACHE_DIR": cache} | settings,
                capture_output=True, text=True, check=False, timeout=SECONDS,
            )  # fmt: skip
        if done.returncode == 0 or "MPI runs" in done.stdout:
            break
        print("slurm_combining: MPI_Init failed, so once more", file=sys.stderr)
    right = set(re.findall(r"^rank \d+ on (\w+): 0 wrong$", done.stdout, re.MULTILINE))
    if done.returncode or len(right) != hosts.count:
        raise Trouble(f"{len(right)} of {hosts.count} hosts were right: {done.stderr.strip()}")
    return Job(
        int(found_in(done.stdout, r"sends: (\d+) messages")),
        found_in(done.stdout, r"an exchange: ([0-9.]+) us"),
    )


def compare(cluster: Cluster, given: argparse.Namespace, number: int) -> Row:
    """Both jobs; which one is the first changes from run to run."""
    jobs: dict[str, Job] = {}
    for algorithm in ("auto", "linear") if number % 2 else ("linear", "auto"):
        settings = {"TONARI_ALGORITHM": algorithm} if algorithm == "linear" else {}
        jobs[algorithm] = run(cluster, given.words, given.starts, **settings)
    chosen, alone = jobs["auto"], jobs["linear"]
    return Row(
        given.hosts, given.words, number, chosen.messages, chosen.us, alone.messages, alone.us,
        round(alone.us / chosen.us, 2),
    )  # fmt: skip


def in_front() -> None:
    """Each hop waits until its host has its turn."""
    os.setpriority(os.PRIO_PROCESS, 0, -20)


def measure(given: argparse.Namespace) -> list[Row]:
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="tonari-slurm-") as folder,
        Hosts(given.hosts) as hosts,
        Cluster(hosts, 1, Path(folder)) as cluster,
    ):
        print(",".join(field.name for field in fields(Row)))
        for number in range(1, given.runs + 1):
            rows.append(compare(cluster, given, number))
            print(",".join(map(str, astuple(rows[-1]))), flush=True)
    return rows


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=27, help="2 to 100 (27)")
    parser.add_argument("--words", type=int, default=1, help="of 8 bytes, to each neighbor (1)")
    parser.add_argument("--starts", type=int, default=400, help="exchanges of a job (400)")
    parser.add_argument("--runs", type=int, default=3, help="of both jobs (3)")
    given = parser.parse_args()
    if not 2 <= given.hosts <= 100 or min(given.words, given.starts, given.runs) < 1:
        parser.error("it takes 2 to 100 hosts, and at least one word, start and run")
    return given


def main() -> int:
    given = options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        if why := lacking():
            raise Trouble(why)
        if not PROGRAM.exists():
            raise Trouble(f"there is no {PROGRAM}: build the target cluster_tests")
        in_front()
        ratios = [row.ratio for row in measure(given)]
        print(f"{statistics.median(ratios):.2f} times as fast as a message to each neighbor")
    except (Trouble, subprocess.TimeoutExpired) as trouble:
        print(f"slurm_combining: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
