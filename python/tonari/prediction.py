# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari predict` finds out: which algorithm is the fastest for each number of ranks and size
of blocks, on each of several machines. It simulates as `tonari simulate` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tonari import interruptible, machines, output
from tonari.simulation import NATIVE, Job
from tonari.sweep import Time, plan_jobs, times_of


@dataclass(frozen=True)
class Task:
    """One number of ranks on one machine."""

    machine: str  # a path; empty: the generic one
    model: Any
    ranks: int
    jobs: list[Job]  # all algorithms with all sizes


@dataclass(frozen=True)
class Point:
    """One size of blocks there."""

    machine: str
    op: str
    ranks: int
    bytes: int
    times: list[Time]  # of each algorithm its fastest variant

    @property
    def fastest(self) -> Time:
        """The first of those that take equally long."""
        return min(self.times, key=lambda time: time.predicted_us)

    @property
    def speedup(self) -> float | None:
        """How many times as long a message per block takes, where that was simulated."""
        native = [time for time in self.times if time.algorithm == NATIVE]
        return native[0].predicted_us / self.fastest.predicted_us if native else None


def predict(tasks: Sequence[Task], sizes: Sequence[int]) -> list[Point]:
    """A point for each size of each task."""
    points: list[Point] = []
    total = len(tasks) * len(sizes)
    try:
        with output.progress("predict", total) as advance:
            for task in tasks:
                for point in _points(task):
                    points.append(point)
                    advance()
    except (KeyboardInterrupt, interruptible.Interrupted):
        raise interruptible.Interrupted(
            f"stopped; {total - len(points)} of {total} predictions are not finished"
        ) from None
    return points


def _points(task: Task) -> Iterator[Point]:
    for size in dict.fromkeys(job.bytes for job in task.jobs):
        some = [job for job in task.jobs if job.bytes == size]
        times = times_of(plan_jobs(some), task.model)
        op = some[0].op
        assert op is not None and size is not None
        if times:
            yield Point(task.machine, op, task.ranks, size, times)


def json_rows(points: Sequence[Point]) -> Iterator[dict[str, Any]]:
    """A row for each algorithm at each point."""
    for point in points:
        for time in point.times:
            yield {
                "machine": machines.name_of(point.machine) or "generic",
                "op": point.op,
                "ranks": point.ranks,
                "bytes": point.bytes,
                "algorithm": time.algorithm,
                "variant": time.variant,
                "predicted_us": time.predicted_us,
                "fastest": time is point.fastest,
            }
