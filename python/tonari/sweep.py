# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari simulate --sweep` finds out: which algorithm is the fastest if o, L or G of the
network were smaller or larger, and where that turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import sqrt
from typing import Any

from tonari import interruptible, output
from tonari.core import core
from tonari.simulation import EVENTS, Job, check_memory, in_background

PARAMETERS = ("o", "L", "G")
FACTORS = tuple(2.0**k for k in range(-4, 5))
NEAR = 1.01  # so near are the two ends between which the fastest changes


@dataclass(frozen=True)
class Time:
    algorithm: str
    variant: str
    predicted_us: float


@dataclass(frozen=True)
class Point:
    """One parameter times a factor."""

    parameter: str
    factor: float
    seconds: float
    times: list[Time]  # of each algorithm its fastest variant

    @property
    def fastest(self) -> Time:
        """The first of those that take equally long."""
        return min(self.times, key=lambda time: time.predicted_us)


@dataclass(frozen=True)
class Turn:
    """Where another algorithm becomes the fastest as the parameter grows."""

    parameter: str
    factor: float
    seconds: float
    before: str
    after: str


@dataclass(frozen=True)
class Sweep:
    """Of one size of blocks."""

    op: str
    bytes: int
    ranks: int
    points: list[Point]  # by parameter, then by factor
    turns: list[Turn]


def sweep_jobs(jobs: Sequence[Job], model: Any) -> list[Sweep]:
    """One for each size of blocks."""
    sizes = [list(some) for _, some in groupby(jobs, lambda job: job.bytes)]
    found: list[Sweep] = []
    for some in sizes:
        model.check_room(some[0].ranks)
        try:
            found.append(_sweep(some, model))
        except (KeyboardInterrupt, interruptible.Interrupted):
            raise interruptible.Interrupted(
                f"stopped; {len(sizes) - len(found)} of {len(sizes)} sweeps are not finished"
            ) from None
    return found


def _sweep(jobs: Sequence[Job], model: Any) -> Sweep:
    plans = _Plans(jobs, model)
    points, turns = [], []
    doing = f"sweep on {jobs[0].ranks:,} ranks"
    with output.progress(doing, len(PARAMETERS) * len(FACTORS)) as advance:
        for parameter in PARAMETERS:
            row = []
            for factor in FACTORS:
                row.append(plans.at(parameter, factor))
                advance()
            points += row
            for low, high in pairwise(row):
                turns += plans.turns(low, high)
    op, bytes = jobs[0].op, jobs[0].bytes
    assert op is not None and bytes is not None
    return Sweep(op, bytes, jobs[0].ranks, points, turns)


Planned = list[tuple[str, str, Any]]  # algorithm, variant and schedule


def plan_jobs(jobs: Sequence[Job]) -> Planned:
    """The schedules of all algorithms and variants."""
    return [
        (job.algorithm, variant, in_background(make))
        for job in jobs
        for variant, make in in_background(job.variants)
    ]


def times_of(planned: Planned, model: Any) -> list[Time]:
    """Of each algorithm its fastest variant."""
    best: dict[str, Time] = {}
    for algorithm, variant, schedule in planned:
        time = Time(algorithm, variant, predicted_us(schedule, model))
        if algorithm not in best or time.predicted_us < best[algorithm].predicted_us:
            best[algorithm] = time
    return list(best.values())


class _Plans:
    """The schedules do not depend on what the network costs."""

    def __init__(self, jobs: Sequence[Job], model: Any) -> None:
        self.model = model
        self.schedules = plan_jobs(jobs)

    def at(self, parameter: str, factor: float) -> Point:
        model = self.model.scaled(parameter, factor)
        times = times_of(self.schedules, model)
        return Point(parameter, factor, model.parameter(parameter), times)

    def turns(self, low: Point, high: Point) -> Iterator[Turn]:
        """Halves what lies between until the ends are near each other."""
        before, after = low.fastest.algorithm, high.fastest.algorithm
        if before == after:
            return
        if high.factor / low.factor <= NEAR:
            yield Turn(high.parameter, high.factor, high.seconds, before, after)
            return
        middle = self.at(low.parameter, sqrt(low.factor * high.factor))
        yield from self.turns(low, middle)
        yield from self.turns(middle, high)


def predicted_us(schedule: Any, model: Any) -> float:
    """Until the last rank is done."""
    simulation = in_background(lambda: core().alike(schedule, model))
    if simulation is None:
        check_memory(core().simulation_memory(schedule, model), f"{schedule.ranks:,} ranks")
        simulation = in_background(lambda: core().Simulation(schedule, model))
    while simulation.advance(EVENTS):
        pass
    return float(simulation.predicted_us)


def json_rows(sweep: Sweep) -> Iterator[dict[str, Any]]:
    """A row for each algorithm at each point, then one for each turn."""
    about = {"op": sweep.op, "bytes": sweep.bytes, "ranks": sweep.ranks}
    for point in sweep.points:
        place = {"parameter": point.parameter, "factor": point.factor, "seconds": point.seconds}
        for time in point.times:
            yield (
                {"kind": "time"}
                | about
                | place
                | {
                    "algorithm": time.algorithm,
                    "variant": time.variant,
                    "predicted_us": time.predicted_us,
                    "fastest": time is point.fastest,
                }
            )
    for turn in sweep.turns:
        place = {"parameter": turn.parameter, "factor": turn.factor, "seconds": turn.seconds}
        yield (
            {"kind": "turn"} | about | place | {"algorithm": turn.after, "instead_of": turn.before}
        )
