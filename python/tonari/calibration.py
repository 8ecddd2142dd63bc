# SPDX-License-Identifier: BSD-3-Clause
"""What messages cost on this machine: runs of a program that lets the library measure, made into
one machine file."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

from tonari.benchmark.launch import Mpi, command, environment, libraries, run_command
from tonari.errors import ARGUMENT, Error
from tonari.shared_cores import fitted
from tonari.shared_cores import measure as measure_exchanges

PROGRAM = "tonari_calibrate"
TURNS = "core_switch"  # what only ranks that share cores can measure
COUNTS = ("ranks_per_core", "cores", "cache")
CROWD = 4  # ranks per core to measure it with
Machine = dict[str, float]


@dataclass(frozen=True)
class Job:
    """How ranks are started: by the MPI's own launcher on this host or on others, or by a command
    that the user gives, which may know of an allocation."""

    ranks: int = 2
    hosts: int = 0
    launcher: str = ""

    def start(self, mpi: Mpi) -> list[str]:
        if not self.launcher:
            return command(mpi, self.ranks, self.hosts)
        try:
            words = shlex.split(self.launcher)
        except ValueError as error:
            raise Error(f"--launcher cannot be read: {error}", ARGUMENT) from None
        if not words:
            raise Error("--launcher is empty; give a command such as 'srun -N 2 -n 4'", ARGUMENT)
        return words


def parse(text: str) -> Machine:
    """The words of a machine file that the program wrote."""
    return _words(" ".join(re.sub("#.*", "", text).split()))


def _words(text: str) -> dict[str, float]:
    pairs = (word.partition("=") for word in text.split())
    return {name: float(value) for name, _, value in pairs}


@dataclass(frozen=True)
class Measured:
    """Of one run; pingpong: what the program says of two ranks that send a word back and forth."""

    machine: Machine
    pingpong: dict[str, float]


def measured(text: str) -> Measured:
    """What the program wrote: how quiet it was in a comment, and the machine."""
    comments = re.findall(r"#(.*=.*)", text)
    return Measured(parse(text), _words(" ".join(comments)))


def disturbance(runs: list[Measured]) -> str:
    """One sentence if other programs used the cores meanwhile, else nothing."""
    bad = [run.pingpong for run in runs if run.pingpong.get("disturbed")]
    if not bad:
        return ""
    p90, median = max(
        (seen[f"pingpong{when}_p90_us"], seen[f"pingpong{when}_us"])
        for seen in bad
        for when in ("", "_after")
    )
    return (
        f"disturbed in {len(bad)} of {len(runs)} runs: a tenth of the ping-pongs took "
        f"{p90:.3g} us or more, and their median was {median:.3g} us; measure again when no "
        "other program uses these cores"
    )


def run(mpi: Mpi, job: Job, progress: Callable[[str], None]) -> Measured:
    """Measures once."""
    with tempfile.TemporaryDirectory(prefix="tonari-calibrate-", dir=_shared(job)) as folder:
        output = Path(folder) / "machine.txt"
        full = [*job.start(mpi), str(mpi.program), "--output", str(output)]
        env = environment(job.ranks) | libraries(mpi)
        run_command(full, env, mpi.program.name, output, progress)
        return measured(output.read_text())


def _shared(job: Job) -> str | None:
    """Rank 0 may be on another host than this command: in an allocation it sees the working
    directory."""
    return str(Path.cwd()) if job.launcher else None


def middle(runs: list[Machine]) -> Machine:
    """Of each parameter the median; of an even number of runs the lower one."""
    names = dict.fromkeys(name for machine in runs for name in machine)
    return {name: median_low(m[name] for m in runs if name in m) for name in names}


def calibrate(
    mpi: Mpi, job: Job, repeat: int, turns: bool, progress: Callable[[str], None]
) -> tuple[Machine, str]:
    """The median of the runs, and what disturbed them. turns: also with more ranks than cores, for
    what sharing a core costs. Hosts of one rank each share the cores of this machine: exchanges of
    all count."""
    runs = [run(mpi, job, progress) for _ in range(repeat)]
    machine, trouble = middle([one.machine for one in runs]), disturbance(runs)
    if 1 < job.hosts == job.ranks:
        cores = len(os.sched_getaffinity(0))
        times = measure_exchanges(mpi, job.hosts, job.ranks, repeat, progress)
        return fitted(machine, job.ranks, cores, times), trouble
    if turns:
        crowd = Job(CROWD * len(os.sched_getaffinity(0)))
        crowded = [run(mpi, crowd, progress).machine for _ in range(repeat)]
        machine[TURNS] = middle(crowded)[TURNS]
    return machine, trouble


def text_of(machine: Machine, *heads: str) -> str:
    """As a machine file; times as they were measured, counts as whole numbers."""
    lines = [f"# {head}" for head in heads if head]
    for name, value in machine.items():
        shown = f"{value:.0f}" if name.endswith("eager") or name in COUNTS else repr(value)
        if name != "ranks_per_core":  # of that run only
            lines.append(f"{name}={shown}")
    return "\n".join(lines) + "\n"
