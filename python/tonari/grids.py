# SPDX-License-Identifier: BSD-3-Clause
"""Grid sizes: read from the command line, and chosen for a list of offsets."""

from __future__ import annotations

from math import prod

import numpy as np

from tonari.errors import ARGUMENT, TOPOLOGY, Error

MOST_RANKS = 2**31 - 1


def radii(offsets: np.ndarray) -> list[int]:
    """max |c_j| of each dimension; offsets of shape (s, d)."""
    if len(offsets) == 0:
        return [0] * offsets.shape[1]
    return [int(r) for r in np.abs(offsets.astype(np.int64)).max(axis=0)]


def dims_without_wrap(offsets: np.ndarray) -> tuple[int, ...]:
    """A torus on which no two offsets meet; 4r+1 along each dimension also leaves room for sums of
    two, 2r+1 is the least."""
    reach = radii(offsets)
    for factor in (4, 2):
        dims = tuple(factor * r + 1 for r in reach)
        if prod(dims) <= MOST_RANKS:
            return dims
    raise Error(
        "the offsets reach too far for a torus on which no two of them meet: give the grid "
        "with --dims",
        TOPOLOGY,
    )


def dims_for_proof(offsets: np.ndarray, most_hops: float = 1e6) -> tuple[int, ...]:
    """The largest torus up to 2r+1 along each dimension for which one process can run all ranks."""
    reach = radii(offsets)
    for side in range(2 * max(reach) + 1, 1, -1):
        dims = tuple(min(side, 2 * r + 1) for r in reach)
        folded = np.abs(offsets.astype(np.int64)) % np.array(dims)
        hops = np.minimum(folded, np.array(dims) - folded).sum() + len(offsets)
        if prod(dims) * float(hops) <= most_hops:
            return dims
    return (1,) * len(reach)


def balanced_dims(ranks: int, dimensions: int) -> tuple[int, ...]:
    """As even as the factors of `ranks` allow, largest first: 12 and 2 -> (4, 3)."""
    factors, rest, factor = [], ranks, 2
    while factor * factor <= rest:
        while rest % factor == 0:
            factors.append(factor)
            rest //= factor
        factor += 1
    dims = [1] * dimensions
    for factor in sorted([*factors, rest], reverse=True):
        dims[dims.index(min(dims))] *= factor
    return tuple(sorted(dims, reverse=True))


def parse_dims(text: str) -> tuple[int, ...]:
    """4x4x4 -> (4, 4, 4)"""
    words = text.lower().split("x")
    if not all(word.isascii() and word.isdigit() and int(word) <= MOST_RANKS for word in words):
        raise Error(f"--dims must read like 4x4x4, not '{text}'", ARGUMENT)
    return tuple(map(int, words))


def parse_periodic(text: str) -> tuple[bool, ...]:
    """1,0,1 -> (True, False, True)"""
    words = text.split(",")
    if not all(word in ("0", "1") for word in words):
        raise Error(f"--periodic must read like 1,0,1 (1: wraps around), not '{text}'", ARGUMENT)
    return tuple(word == "1" for word in words)


def describe(dims: tuple[int, ...], periodic: tuple[bool, ...]) -> str:
    """torus 5x5x5; mesh 4x4; grid 4x4x4, periodic 1,0,1"""
    size = "x".join(map(str, dims))
    if all(periodic):
        return f"torus {size}"
    if not any(periodic):
        return f"mesh {size}"
    return f"grid {size}, periodic " + ",".join("1" if p else "0" for p in periodic)
