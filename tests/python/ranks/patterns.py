# SPDX-License-Identifier: BSD-3-Clause
"""Neighborhoods to try, and what must arrive on them: by definition, from what every rank sends.

A number of a block is made of the rank that sends it, of its edge, of the element and of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import tonari.mpi
from mpi4py import MPI
from tonari import Error

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
POISON = -7.0
Edge = tuple[int, int]  # rank that sends, and number of the block there


def payload(rank: int, block: int, elements: int, time: int = 0) -> np.ndarray:
    return ((time * 100 + rank) * 100 + block) * 1000 + np.arange(elements, dtype=float)


@dataclass
class Pattern:
    """A neighborhood, and the edges whose blocks this rank receives; None: nothing comes."""

    name: str
    near: tonari.mpi.Neighborhood
    edges: list[Edge | None]


def _by_offsets(near: tonari.mpi.Neighborhood) -> list[Edge | None]:
    """Block i of all is for offset i."""
    return [None if s == MPI.PROC_NULL else (s, i) for i, s in enumerate(near.sources)]


def _by_lists(near: tonari.mpi.Neighborhood) -> list[Edge | None]:
    """The k-th block that a rank sends here is the k-th from there."""
    targets = WORLD.allgather(near.targets)
    seen: dict[int, int] = {}
    edges: list[Edge | None] = []
    for source in near.sources:
        if source == MPI.PROC_NULL:
            edges.append(None)
            continue
        mine = [i for i, target in enumerate(targets[source]) if target == RANK]
        edges.append((source, mine[seen.setdefault(source, 0)]))
        seen[source] += 1
    return edges


def cartesian(dims: int = 2, periodic: bool = True) -> MPI.Cartcomm:
    shape = MPI.Compute_dims(RANKS, dims)
    return WORLD.Create_cart(shape, periods=[periodic] * dims)


def graph() -> tuple[list[int], list[int]]:
    """Sources and destinations of this rank: to itself, twice to the next one, and to half of the
    others, so that degrees differ."""
    out = {r: [r, (r + 1) % RANKS, *range(r % 2, RANKS, 2), (r + 1) % RANKS] for r in range(RANKS)}
    sources = [r for r in range(RANKS) for target in out[r] if target == RANK]
    return sources, out[RANK]


@contextmanager
def patterns(info: Any = None) -> Iterator[list[Pattern]]:
    """All of them, freed in one order on all ranks."""
    torus, mesh = cartesian(), cartesian(periodic=False)
    sources, destinations = graph()
    N = tonari.mpi.Neighborhood
    made = [
        ("moore", N(torus, "moore:2:1", info), _by_offsets),
        ("far", N(mesh, np.array([[1, 0], [0, -2], [0, 0], [1, 0]]), info), _by_offsets),
        ("adjacent", N.adjacent(WORLD, sources, destinations, info), _by_lists),
        ("destinations", N.from_destinations(WORLD, destinations[::-1], info), _by_lists),
        ("none", N.adjacent(WORLD, [], [], info), _by_lists),
    ]
    yield [Pattern(name, near, edges(near)) for name, near, edges in made]
    for _, near, _ in made:
        near.free()
    torus.Free(), mesh.Free()


def refused(call: Any, *arguments: Any, **keywords: Any) -> Error:
    """The error of a call that must fail on this rank."""
    try:
        call(*arguments, **keywords)
    except Error as error:
        return error
    raise AssertionError(f"rank {RANK}: {call} {arguments} did not fail")
