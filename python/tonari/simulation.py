# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari simulate` finds out: exchanges on many ranks, simulated one after the other."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonari import interruptible, output
from tonari.algorithm_table import list_algorithms
from tonari.core import core
from tonari.errors import ALGORITHM, MEMORY, Error
from tonari.neighborhood import Neighborhood
from tonari.suggestion import did_you_mean

MOST_RANKS = 2**30 - 1
NATIVE = "native"
EVENTS = 500_000  # between two looks at the bar and at Ctrl-C

Make = Callable[[], Any]  # a schedule


@dataclass(frozen=True)
class Job:
    """One algorithm with one size of blocks; the fastest of its variants counts."""

    algorithm: str
    op: str | None  # None: of a schedule that was read
    bytes: int | None
    ranks: int
    # Plans: each variant with what makes its schedule. Raises where the algorithm is asked for and
    # impossible; none where it is left out.
    variants: Callable[[], list[tuple[str, Make]]]
    about: Mapping[str, Any] = field(default_factory=dict)  # more of its row for programs


@dataclass(frozen=True)
class Row:
    job: Job
    variant: str
    simulation: Any
    wall_s: float
    peak_mib: float


def pattern_jobs(
    near: Neighborhood,
    ranks: int,
    op: str,
    sizes: Sequence[int],
    asked: list[str],
    machine: str,
    every: bool = False,
) -> list[Job]:
    """All algorithms for offsets, or those asked for, each with all sizes. every: also those that
    are not expected to pay."""

    def job(name: str, size: int) -> Job:
        question = near.exchange(op, bytes=size, machine=machine or None).question

        def variants() -> list[tuple[str, Make]]:
            if name == NATIVE:
                return [("", lambda: core().native_schedule(question))]
            found = question.variants(name) if name in asked else _possible(question, name, every)
            return [
                (variant, lambda v=variant: core().schedule_of_offsets(question, name, v))
                for algorithm, variant in found
                if algorithm == name
            ]

        return Job(name, op, size, ranks, variants)

    return [job(name, size) for size in sizes for name in _names("offsets", asked)]


def _possible(question: Any, name: str, every: bool) -> list[tuple[str, str]]:
    """Of one algorithm; none where it is impossible, or not expected to pay."""
    try:
        return list(question.variants(name if every else ""))
    except Error as error:
        if error.code != ALGORITHM:
            raise
        return []


def graph_jobs(
    questions: Sequence[Any], ranks: int, op: str, sizes: Sequence[int], asked: list[str]
) -> list[Job]:
    """The same for graphs; questions: one for each size."""

    def job(name: str, size: int, question: Any) -> Job:
        def variants() -> list[tuple[str, Make]]:
            if name == NATIVE:
                return [("", lambda: core().native_schedule(question))]
            planned = core().GraphSchedules(question, name)
            if planned.reason and name in asked:
                raise Error(f"{name} cannot be used here: {planned.reason}", ALGORITHM)
            return [
                (planned.variant(k), lambda k=k: planned.schedule(k)) for k in range(len(planned))
            ]

        return Job(name, op, size, ranks, variants)

    return [
        job(name, size, question)
        for size, question in zip(sizes, questions, strict=True)
        for name in _names("graphs", asked)
    ]


def _names(applies_to: str, asked: list[str]) -> list[str]:
    return algorithms_of(asked, [NATIVE, *list_algorithms(applies_to)])


def algorithms_of(asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those asked for, or all that are known. Errors: one that is not known."""
    for name in asked:
        if name not in known:
            raise Error(
                f"there is no algorithm '{name}' here; choose from {', '.join(known)}"
                + did_you_mean(name, known),
                ALGORITHM,
            )
    return list(asked or known)


def goal_job(path: str) -> Job:
    """The schedule of a file."""
    schedule = in_background(lambda: core().read_goal_file(path))
    return Job("goal", None, None, schedule.ranks, lambda: [("", lambda: schedule)])


def read_machine(path: str, seed: int | None) -> Any:
    """Of a file, or the generic one."""
    c = core()
    model = c.read_cluster_file(path) if path else c.SimulatedMachine(c.LogGP())
    if seed is not None and not model.noisy:
        raise Error(
            "--seed is for noise, and the machine has none; give a --machine with noise_period "
            "and noise_duration"
        )
    if seed is not None:
        model.seed = seed
    return model


def left_out(jobs: Sequence[Job], rows: Sequence[Row]) -> list[str]:
    """Algorithms without a row."""
    with_rows = {row.job.algorithm for row in rows}
    return [name for name in dict.fromkeys(j.algorithm for j in jobs) if name not in with_rows]


def simulate_jobs(jobs: Sequence[Job], model: Any, every_rank: bool, goal: str = "") -> list[Row]:
    """A row for each job that is planned. goal: the schedule of the only one is written there."""
    if goal and len(jobs) != 1:
        raise Error(
            f"--goal writes the schedule of one algorithm with one size, and here are {len(jobs)}; "
            "name one with --algorithms and --bytes"
        )
    rows: list[Row] = []
    for number, job in enumerate(jobs):
        doing = f"{job.algorithm} on {job.ranks:,} ranks"
        model.check_room(job.ranks)
        try:
            if row := _row(job, model, every_rank, doing, goal):
                rows.append(row)
        except (KeyboardInterrupt, interruptible.Interrupted):
            raise interruptible.Interrupted(
                f"stopped; {len(jobs) - number} of {len(jobs)} simulations are not finished"
            ) from None
    return rows


def _row(job: Job, model: Any, every_rank: bool, doing: str, goal: str) -> Row | None:
    best: tuple[Any, str, Make] | None = None
    for variant, make in in_background(job.variants):
        begin, _ = time.monotonic(), _forget_peak()
        simulation = _simulate(make, model, False, doing)
        took = time.monotonic() - begin
        row = Row(job, variant, simulation, took, peak_mib())
        if best is None or simulation.femtoseconds < best[0].simulation.femtoseconds:
            best = row, variant, make
    if best is None:
        return None
    row, variant, make = best
    if goal:
        in_background(lambda: core().write_goal_file(goal, make()))
    if not every_rank or not row.simulation.alike:
        return row
    begin, _ = time.monotonic(), _forget_peak()
    simulation = _simulate(make, model, True, doing)
    return Row(job, variant, simulation, time.monotonic() - begin, peak_mib())


def _simulate(make: Make, model: Any, every_rank: bool, doing: str) -> Any:
    def begin() -> Any:
        schedule = make()
        simulation = None if every_rank else core().alike(schedule, model)
        if simulation is None:
            check_memory(core().simulation_memory(schedule, model), f"{schedule.ranks:,} ranks")
            simulation = core().Simulation(schedule, model)
        return simulation

    simulation = in_background(begin)
    with output.progress(doing, 100) as advance:
        shown = 0
        while simulation.advance(EVENTS):
            while shown < int(100 * simulation.share_done):
                advance()
                shown += 1
    return simulation


def in_background(work: Callable[[], Any]) -> Any:
    """Its result; Ctrl-C does not wait for it."""
    (result,) = interruptible.run(
        lambda _: work(), [None], doing="", left_out=lambda _: "stopped; nothing is simulated"
    )
    return result


def check_memory(needed: float, what: str) -> None:
    """Refuses before anything is taken."""
    there = core().available_memory()
    if needed > there:
        raise Error(
            f"simulating {what} takes about {needed / 2**30:,.1f} GiB, and "
            f"{there / 2**30:,.1f} GiB are available; use fewer ranks",
            MEMORY,
        )


def json_row(row: Row) -> dict[str, Any]:
    return dict(row.job.about) | {
        "algorithm": row.job.algorithm,
        "variant": row.variant,
        "op": row.job.op,
        "bytes": row.job.bytes,
        "ranks": row.job.ranks,
        "predicted_us": row.simulation.predicted_us,
        "events": row.simulation.events,
        "every_rank": not row.simulation.alike,
        "wall_s": row.wall_s,
        "peak_mib": row.peak_mib,
    }


def _forget_peak() -> None:
    """Linux then counts the peak of this process from here on."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pass


def peak_mib() -> float:
    """Of this process; where Linux does not say, since it began."""
    return next(_high_water(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _high_water() -> Iterator[float]:
    if sys.platform == "linux":
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                yield int(line.split()[1]) / 1024
