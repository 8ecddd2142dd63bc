# SPDX-License-Identifier: BSD-3-Clause
"""Rounds and volume from the offsets alone: Träff et al., "Isomorphic, Sparse MPI-like Collective
Communication", section 3.

Nothing here looks at a plan, so that plans can be checked against it. All functions take offsets of
shape (s, d) and hold on grids where no two different offsets lead to the same rank.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ClosedForm:
    """What one rank sends in one exchange."""

    rounds: int
    volume: int  # blocks


def steps_on_torus(offsets: np.ndarray) -> int:
    """D (section 3.1): the sum over the dimensions of the largest positive and the largest negative
    coordinate."""
    if len(offsets) == 0:
        return 0
    return int(np.maximum(offsets, 0).max(axis=0).sum() + np.maximum(-offsets, 0).max(axis=0).sum())


def volume_alltoall(offsets: np.ndarray) -> int:
    """V (section 3.1): the sum of the norms."""
    return int(np.abs(offsets.astype(np.int64)).sum())


def volume_allgather(offsets: np.ndarray) -> int:
    """W as planned: the edges of the prefix trie (section 3.2), where edges of one node in one
    direction share their hops, in the order of dimensions that needs the fewest.

    A block on its way three hops ahead is delivered at one and two on the way; the paper's trie
    counts 1 + 2 + 3 hops there.
    """

    def farthest(c: np.ndarray, starts: np.ndarray) -> int:
        return int(np.maximum.reduceat(np.maximum(c, 0), starts).sum())

    longest = int(np.abs(offsets).max(initial=1))
    return min(
        sum(farthest(c, starts) + farthest(-c, starts) for c, starts in _trie(offsets, order))
        for order in _orders(offsets, longest)
    )


def volume_allgather_direct(offsets: np.ndarray) -> int:
    """The same where every coordinate takes one hop."""
    return min(
        sum(int(np.count_nonzero(c)) for c, _ in _trie(offsets, order))
        for order in _orders(offsets, 1)
    )


def volume_allgather_paper(offsets: np.ndarray) -> int:
    """W as the paper counts it (section 3.2): the weights of all edges of the prefix trie."""
    return sum(int(np.abs(c).sum()) for c, _ in _trie(offsets, _order_of_paper(offsets)))


def closed_forms(offsets: np.ndarray, op: str) -> dict[str, ClosedForm]:
    """For each algorithm that has them: its closed forms."""
    moving = offsets[np.any(offsets != 0, axis=1)]
    distinct = np.unique(moving, axis=0)
    allgather = op == "allgather"
    coordinates = sum(len(np.unique(column[column != 0])) for column in offsets.T)
    return {
        "linear": ClosedForm(len(distinct), len(distinct) if allgather else len(moving)),
        "torus": ClosedForm(
            steps_on_torus(offsets),
            volume_allgather(offsets) if allgather else volume_alltoall(offsets),
        ),
        "torus-direct": ClosedForm(
            coordinates,
            volume_allgather_direct(offsets) if allgather else int(np.count_nonzero(offsets)),
        ),
    }


Order = tuple[int, ...]


def _order_of_paper(offsets: np.ndarray) -> Order:
    """Section 3.2: first the dimensions in which most neighbors share a coordinate."""
    columns = range(offsets.shape[1])
    return tuple(sorted(columns, key=lambda j: len(np.unique(offsets[offsets[:, j] != 0, j]))))


def _orders(offsets: np.ndarray, longest: int) -> list[Order]:
    """Those that planners choose from; a coordinate takes at most `longest` hops."""
    count, dimensions = offsets.shape
    places = count * longest * dimensions * 2 ** (dimensions - 1)
    if dimensions > 5 or places > 2**23:
        return [_order_of_paper(offsets)]
    return list(itertools.permutations(range(dimensions)))


def _trie(offsets: np.ndarray, order: Order) -> list[tuple[np.ndarray, np.ndarray]]:
    """The prefix trie, level by level: the weights of its edges, sorted by the node they leave, and
    where each node's edges start."""
    if len(offsets) == 0:
        return []
    node = np.zeros(len(offsets), dtype=np.int64)  # of each offset, at this level
    levels = []
    for j in order:
        column = offsets[:, j].astype(np.int64)
        low, span = column.min(), column.max() - column.min() + 1
        edges, node_below = np.unique(node * span + (column - low), return_inverse=True)
        starts = np.unique(edges // span, return_index=True)[1]
        levels.append((edges % span + low, starts))
        node = node_below
    return levels
