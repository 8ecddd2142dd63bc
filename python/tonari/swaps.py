# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges in place without MPI: when each pair of ranks swaps, and how long it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tonari.algorithm_table import list_algorithms
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.neighborhood import Neighborhood
from tonari.output import short_size
from tonari.simulation import NATIVE, Job, algorithms_of, check_memory
from tonari.simulation_jobs import BYTES_OF_EDGE

IN_PLACE = "in place"
Steps = list[list[int]]


def swap_algorithms(asked: Sequence[str], *more: str) -> list[str]:
    """Those asked for, or all of the table that apply in place; more: names besides these."""
    return algorithms_of(asked, [*more, *list_algorithms(IN_PLACE)])


def steps_of(algorithm: str, ranks: int) -> Steps:
    """[i][j]: the step, from 1, in which ranks i and j swap if each makes its swaps one after the
    other and as early as possible; 0: they have none."""
    waiting = [list(reversed(some)) for some in core().swap_partners(algorithm, ranks)]
    steps = [[0] * ranks for _ in range(ranks)]
    step = 0
    while any(waiting):
        step += 1
        meeting = [
            (rank, some[-1])
            for rank, some in enumerate(waiting)
            if some and waiting[some[-1]] and waiting[some[-1]][-1] == rank
        ]
        for rank, other in meeting:
            steps[rank][other] = step
        for rank, _ in meeting:
            waiting[rank].pop()
    return steps


def swap_rows(algorithm: str, ranks: int) -> Iterator[dict[str, Any]]:
    """A row for each pair of ranks, and for each rank that has a step for itself."""
    for rank, row in enumerate(steps_of(algorithm, ranks)):
        for other in range(rank, ranks):
            if row[other]:
                yield {
                    "algorithm": algorithm,
                    "ranks": ranks,
                    "rank": rank,
                    "partner": other,
                    "step": row[other],
                }


def swap_jobs(
    ranks: int, total: int, memories: Sequence[int], algorithms: Sequence[str], machine: str
) -> list[Job]:
    """A job for each algorithm and each budget of memory. total: bytes of a rank's blocks, which
    are all equal. native: the MPI's exchange out of place, in which all messages are under way at
    once."""
    if total < ranks:
        raise Error(
            f"--total-bytes {total} is less than a byte for each of {ranks:,} ranks; give more",
            ARGUMENT,
        )
    check_memory(BYTES_OF_EDGE * ranks * ranks, f"blocks between {ranks:,} ranks")
    size = total // ranks
    budgets = [
        (name, None if name == NATIVE else memory)
        for name in algorithms
        for memory in (memories if name != NATIVE else [0])
    ]
    return [
        Job(
            _called(name, memory, memories),
            "inplace",
            size,
            ranks,
            _variants(name, memory or 0, ranks, size, machine),
            {"memory_bytes": memory},
        )
        for name, memory in budgets
    ]


def _called(name: str, memory: int | None, memories: Sequence[int]) -> str:
    return name if memory is None or len(memories) == 1 else f"{name} with {short_size(memory)}"


def _variants(
    name: str, memory: int, ranks: int, size: int, machine: str
) -> Callable[[], list[tuple[str, Callable[[], Any]]]]:
    def make() -> Any:
        c = core()
        if name == NATIVE:
            offsets = np.arange(1, ranks, dtype=np.int32).reshape(-1, 1)
            near = Neighborhood(offsets, (ranks,), (True,))
            return c.native_schedule(near.exchange(bytes=size, machine=machine or None).question)
        model = c.read_machine_file(machine) if machine else c.LogGP()
        return c.swap_schedule(name, ranks, size, memory, model)

    return lambda: [("", make)]
