# SPDX-License-Identifier: BSD-3-Clause
"""What grids are described by: widths, storages, some of the ghosts, and bricks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonari.errors import ARGUMENT, Error
from tonari.mpi import buffers, prototypes

STORAGES = ("array", "brick", "mapped")
ORDERS = ("C", "F")
MEMORIES = ("host", "device")
PARTS = ("interior", "surface", "ghosts", "own")
Cells = Sequence[int]
Box = tuple[slice, ...]


@dataclass(frozen=True)
class Ghosts:
    """Some of the ghosts of a grid: the innermost `lower` and `upper` of each side, per dimension;
    0 means all that there are, -1 none. along: in at most so many dimensions beyond the own cells,
    1 for faces only, 2 for faces and edges; 0 means all."""

    lower: Cells = ()
    upper: Cells = ()
    along: int = 0


@dataclass(frozen=True)
class Bricks:
    """How a subdomain lies in bricks; see tonari_bricks in grid_layout.h. Arrays are read-only.

    brick      cells of a brick, per dimension
    number     shape of the subdomain in bricks, ghosts included: the number of the brick there
    position   shape (count, dims): where brick b is; own bricks from 0 on
    neighbors  shape (count + 1, 3, ..., 3): the neighbor of brick b in each direction; `count`
               where there is none
    place      shape (count + 1,): where brick b begins, in elements, in Grid.flat
    """

    brick: tuple[int, ...]
    count: int
    own_count: int
    interior_count: int
    number: np.ndarray
    position: np.ndarray
    neighbors: np.ndarray
    place: np.ndarray


def one_of(what: str, word: str, words: tuple[str, ...]) -> int:
    if word not in words:
        raise Error(f"{what} is {word!r}; it must be one of {', '.join(words)}", ARGUMENT)
    return words.index(word)


def widths(halo: Any, d: int) -> tuple[list[int], list[int]]:
    sides = [halo] * d if isinstance(halo, (int, np.integer)) else list(halo)
    if len(sides) != d:
        raise Error(f"halo has {len(sides)} entries; the grid has {d} dimensions", ARGUMENT)
    pairs = [(side, side) if isinstance(side, (int, np.integer)) else side for side in sides]
    return [int(low) for low, _ in pairs], [int(high) for _, high in pairs]


def fill(structure: Any, dims: int, **members: Sequence[int]) -> None:
    """One number per dimension, or none."""
    for name, values in members.items():
        if len(values) not in (0, dims) or dims > prototypes.MOST_DIMS:
            raise Error(f"{name} has {len(values)} numbers; it must have {dims}", ARGUMENT)
        width = np.dtype(getattr(structure, name)._type_)
        for k, value in enumerate(values):
            member = f"{name}[{k}]"
            getattr(structure, name)[k] = buffers.one_integer(value, member, width)


def chosen(ghosts: Ghosts | None, dims: int) -> Any:
    if ghosts is None:
        return None
    made = prototypes.Ghosts(along=ghosts.along)
    for name, values in (("lower", ghosts.lower), ("upper", ghosts.upper)):
        if len(values) not in (0, dims):
            raise Error(f"ghosts.{name} has {len(values)} numbers; it must have {dims}", ARGUMENT)
        fill(made, dims, **{name: values})
    return made
