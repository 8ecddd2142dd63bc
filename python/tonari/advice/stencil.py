# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes who talks to whom: neighbors on a grid of ranks, or any other graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

MOST_DIMENSIONS = 3
MOST_RANKS = 4096  # more are not searched


@dataclass(frozen=True)
class Stencil:
    """Neighbors at equal offsets on a grid whose last dimension varies fastest, as MPI_Cart_create
    numbers it."""

    dims: tuple[int, ...]
    periodic: tuple[bool, ...]
    reach: int  # of how many dimensions a neighbor may be off
    once: bool  # ranks that are neighbors in several directions get one message

    @property
    def offsets(self) -> list[tuple[int, ...]]:
        return _offsets(len(self.dims), self.reach)

    @property
    def name(self) -> str:
        if self.reach == 1:
            return "von Neumann neighbors"
        return "Moore neighbors" if self.reach == len(self.dims) else "neighbors at faces and edges"

    def __str__(self) -> str:
        if len(self.dims) == 1:
            return (
                f"neighbors on a {'ring' if self.periodic[0] else 'line'} of {self.dims[0]} ranks"
            )
        grid = "x".join(map(str, self.dims))
        if len(set(self.periodic)) > 1:
            closed = "partly periodic"
        else:
            closed = "periodic" if self.periodic[0] else "open"
        return f"{self.name} on {'an' if closed == 'open' else 'a'} {closed} {grid} grid"


def recognize(targets: Mapping[int, Sequence[int]]) -> Stencil | None:
    """The stencil by which each rank of the job sends to its targets; None: it is none.

    targets  by rank in MPI_COMM_WORLD, a target once per message
    """
    taking_part = sorted({*targets, *(rank for to in targets.values() for rank in to)})
    if not taking_part or len(taking_part) > MOST_RANKS or not any(targets.values()):
        return None
    place = {rank: k for k, rank in enumerate(taking_part)}
    sent = [Counter(place[to] for to in targets.get(rank, ())) for rank in taking_part]
    return next((one for one in _stencils(len(sent)) if _is(one, sent)), None)


def _stencils(ranks: int) -> Iterator[Stencil]:
    """The simplest first: fewest dimensions, no dimension of one rank, shortest reach."""
    shapes = [dims for count in range(1, MOST_DIMENSIONS + 1) for dims in _grids(ranks, count)]
    shapes.sort(key=lambda dims: (1 in dims, len(dims), max(dims) - min(dims)))
    for dims in shapes:
        for reach in range(1, len(dims) + 1):
            for periodic in product((False, True), repeat=len(dims)):
                for once in (False, True):
                    yield Stencil(dims, periodic, reach, once)


def _grids(ranks: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        yield (ranks,)
        return
    for first in range(1, ranks + 1):
        if ranks % first == 0:
            for rest in _grids(ranks // first, dimensions - 1):
                yield (first, *rest)


def _offsets(dimensions: int, reach: int) -> list[tuple[int, ...]]:
    return [
        offset
        for offset in product((-1, 0, 1), repeat=dimensions)
        if 0 < sum(map(abs, offset)) <= reach
    ]


def _is(stencil: Stencil, sent: Sequence[Counter[int]]) -> bool:
    return all(Counter(_neighbors(stencil, rank)) == messages for rank, messages in enumerate(sent))


def _neighbors(stencil: Stencil, rank: int) -> list[int]:
    at, left = [], rank
    for size in reversed(stencil.dims):
        at.insert(0, left % size)
        left //= size
    found = [to for offset in stencil.offsets if (to := rank_at(stencil, at, offset)) is not None]
    return sorted({*found} - {rank}) if stencil.once else found


def rank_at(stencil: Stencil, at: Sequence[int], offset: Sequence[int]) -> int | None:
    """The rank at this offset from a place; None: there is none."""
    rank = 0
    for place, step, size, closed in zip(at, offset, stencil.dims, stencil.periodic, strict=True):
        if not closed and not 0 <= place + step < size:
            return None
        rank = rank * size + (place + step) % size
    return rank
