# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated: all algorithms on a grid of ranks, or on a graph, as options say it."""

from __future__ import annotations

from math import prod

from tonari import interruptible, output
from tonari.errors import ARGUMENT, Error
from tonari.graph_report import make_question
from tonari.graphs import read_graph
from tonari.grids import balanced_dims, parse_dims
from tonari.neighborhood import neighborhood
from tonari.simulation import (
    MOST_RANKS,
    Job,
    check_memory,
    graph_jobs,
    in_background,
    pattern_jobs,
)

BYTES_OF_EDGE, BYTES_OF_RANK = 400.0, 300.0  # plan, schedule and simulation of ranks that differ


def check_ranks(ranks: int) -> None:
    if ranks > MOST_RANKS:
        raise Error(
            f"{ranks:,} ranks are more than the {MOST_RANKS:,} that a simulation has room for; "
            "use fewer",
            ARGUMENT,
        )


def jobs_on_graph(
    path: str,
    ranks: int | None,
    op: str,
    sizes: list[int],
    asked: list[str],
    machine: str,
    every: bool,
) -> list[Job]:
    with output.status(f"reading {path}"):
        try:
            found = in_background(lambda: read_graph(path, ranks))
        except interruptible.Interrupted:
            raise interruptible.Interrupted(
                f"stopped; {path} is not read, and nothing is simulated"
            ) from None
    check_memory(
        BYTES_OF_EDGE * len(found.senders) + BYTES_OF_RANK * found.ranks, f"{found.ranks:,} ranks"
    )
    questions = [
        make_question(found, op, bytes=size, machine=machine or None, forced=every or bool(asked))
        for size in sizes
    ]
    return graph_jobs(questions, found.ranks, op, sizes, asked)


def jobs_on_grid(
    pattern: str,
    ranks: int | None,
    dims: str,
    mesh: bool,
    op: str,
    sizes: list[int],
    asked: list[str],
    machine: str,
    every: bool,
) -> list[Job]:
    if dims:
        check_ranks(prod(parse_dims(dims)))
    plain = neighborhood(pattern, (1,)).offsets
    grid = parse_dims(dims) if dims else balanced_dims(ranks or 1, plain.shape[1])
    near = neighborhood(pattern, grid, not mesh)
    count = prod(grid)
    if mesh:
        check_memory((BYTES_OF_EDGE * len(plain) + BYTES_OF_RANK) * count, f"{count:,} ranks")
    return pattern_jobs(near, count, op, sizes, asked, machine, every)
