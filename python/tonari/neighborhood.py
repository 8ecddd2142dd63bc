# SPDX-License-Identifier: BSD-3-Clause
"""Neighborhoods and what can be said about exchanges on them, without MPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonari.core import core
from tonari.errors import ALGORITHM, ARGUMENT, Error
from tonari.grids import MOST_RANKS, dims_without_wrap
from tonari.patterns import OFFSETS, check_pattern


def algorithms() -> dict[str, str]:
    """The algorithms for neighborhoods: name -> one line about it, with its source."""
    rows = [row for row in core().algorithms() if "offsets" in row.applies_to]
    return {row.name: f"{row.summary} ({row.paper})" for row in rows}


@dataclass(frozen=True)
class Neighborhood:
    """Every rank R of a grid sends block i to R + offsets[i] and receives block i from R -
    offsets[i].

    offsets   int32 array of shape (s, d): s neighbors, d dimensions (1 to 8)
    dims      ranks along each of the d dimensions
    periodic  d flags: True where the grid wraps around
    """

    offsets: np.ndarray
    dims: tuple[int, ...]
    periodic: tuple[bool, ...]

    def exchange(
        self,
        op: str = "alltoall",
        *,
        bytes: int = 64,
        machine: str | None = None,
        rank: int | None = None,
        ports: int = 0,
        storage: str = "separate",
    ) -> Exchange:
        """An exchange on this neighborhood.

        op       "alltoall": a block for every neighbor; "allgather": one block for all
        bytes    size of a block
        machine  path of a file with LogGP parameters; None: a generic machine
        rank     whose plan is counted and drawn; None: the one in the middle of the grid
        ports    most messages of a rank in and out at a time; 0: no limit
        storage  "separate" or "alternate": where forwarded blocks wait
        """
        check_range("bytes", bytes, 2**63 - 1)
        check_range("rank", rank or 0, MOST_RANKS)
        check_range("ports", ports, MOST_RANKS)
        c = core()
        model = c.read_machine_file(machine) if machine else c.LogGP()
        near = c.Neighborhood(self.offsets, list(self.dims), list(self.periodic))
        question = c.Question(near, op, bytes, model, -1 if rank is None else rank, ports, storage)
        return Exchange(question, question.rank, tuple(near.coordinates(question.rank)))


def check_range(what: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        raise Error(f"{what} must be from 0 to {most}, not {value}", ARGUMENT)


@dataclass(frozen=True)
class Exchange:
    """One collective operation with one block size; see Neighborhood.exchange."""

    question: Any  # of the extension module
    rank: int
    position: tuple[int, ...]  # coordinates of rank

    def plans(self, algorithm: str = "", *, variants: bool = False) -> list[Any]:
        """A row per algorithm (or for the one named), the fastest variant of each; with `variants`
        all of them.

        Rows have algorithm, variant, summary, reason (why it is not planned, else empty) and,
        per rank and exchange, rounds, depth, messages, volume_blocks, bytes, scratch_blocks;
        predicted_us; and crossover_bytes, the block size from which it is predicted to be slower
        than linear (0: never faster, -1: always faster). One that is named is planned wherever it
        is possible; its `unpaying` says why it is not expected to pay, if so.
        """
        return self.question.analyze(algorithm, variants)

    def counts(self, algorithm: str) -> Any:
        """The same row, of the algorithm's first variant, without predictions."""
        return self.question.count(algorithm)

    def variants(self, algorithm: str = "") -> list[tuple[str, str]]:
        """Algorithm and variant of every plan that could be used, of all algorithms or of the one
        named."""
        return self.question.variants(algorithm)

    def draw(self, algorithm: str, variant: str | None = None, *, most_blocks: int = 4) -> str:
        """The rounds of one rank's plan as text, a line per message; peers are named by the way to
        them.

        variant: None: the fastest; most_blocks: runs of blocks named per message before "...".
        """
        return self.question.draw(algorithm, self._variant(algorithm, variant), most_blocks)

    def prove(self, algorithm: str, variant: str | None = None) -> str:
        """Runs all ranks' plans in the reference executor. Empty if they are right, else the first
        thing that is wrong."""
        ok, what = self.question.prove(algorithm, self._variant(algorithm, variant))
        return "" if ok else what

    def _variant(self, algorithm: str, variant: str | None) -> str:
        if variant is not None:
            return variant
        row = self.plans(algorithm)[0]
        if row.reason:
            raise Error(f"{algorithm} cannot be used here: {row.reason}", ALGORITHM)
        return row.variant


def _rows(offsets: Any) -> np.ndarray:
    """As the core takes them; NumPy would cut off what does not fit without a word."""
    array = np.asarray(offsets)
    right = array.dtype.kind in "iu" and array.ndim <= 2
    if array.size and not (right and -(2**31) <= int(array.min()) <= int(array.max()) < 2**31):
        raise Error(
            f"offsets have shape {array.shape} and type {array.dtype}; they must be integers of 32"
            " bits, in rows of one number per dimension",
            ARGUMENT,
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def neighborhood(
    pattern: str | Sequence[Sequence[int]] | np.ndarray,
    dims: Sequence[int] | None = None,
    periodic: Sequence[bool] | bool = True,
) -> Neighborhood:
    """A neighborhood by name ("moore:3:1", "star:3:2", "octant:3", "shells:3:3,7"), from a file of
    offsets, or from s rows of d offsets.

    dims: ranks along each dimension; default: large enough that no two offsets meet and no block
    wraps around.
    periodic: one flag per dimension, or one for all.
    """
    if isinstance(pattern, str):
        check_pattern(pattern, OFFSETS)
        offsets = core().parse_pattern(pattern)
    else:
        offsets = _rows(pattern)
    offsets = np.atleast_2d(offsets)
    sizes = tuple(dims) if dims is not None else dims_without_wrap(offsets)
    flags = (periodic,) * len(sizes) if isinstance(periodic, bool) else tuple(periodic)
    return Neighborhood(offsets, sizes, flags)
