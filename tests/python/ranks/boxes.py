# SPDX-License-Identifier: BSD-3-Clause
"""Grids of any boxes: what is in ghosts, cell by cell, from what every block has by definition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from mpi4py import MPI
from patterns import POISON, RANK, RANKS, WORLD, refused
from tonari import errors
from tonari.mpi import Blocks, Ghosts

# Boxes of 12 x 10 cells with a gap, owned by ranks in turns.
BOXES = [[(0, 0), (5, 6)], [(5, 0), (12, 3)], [(0, 6), (8, 10)], [(5, 3), (8, 6)]]
OWNERS = [(3 * b + 1) % RANKS for b in range(len(BOXES))]
DOMAIN = [(0, 0), (12, 10)]


def value(cell: tuple[int, ...], field: int, time: int) -> float:
    return ((time * 10 + field) * 100 + cell[0]) * 100 + cell[1]


def block_of(cell: tuple[int, ...]) -> int | None:
    for b, (first, end) in enumerate(BOXES):
        if all(f <= c < e for f, c, e in zip(first, cell, end, strict=True)):
            return b
    return None


def cells(blocks: Blocks, k: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """Index in the array of own block k, the cell of the grid there, and whether it is own."""
    first, inside = BOXES[blocks.own[k]][0], blocks.inside(blocks.own[k])
    for index in np.ndindex(blocks.shape(blocks.own[k])):
        cell = tuple(i - s.start + f for i, s, f in zip(index, inside, first, strict=True))
        own = all(s.start <= i < s.stop for i, s in zip(index, inside, strict=True))
        yield index, tuple(c % e for c, e in zip(cell, DOMAIN[1], strict=True)), own


def fill(blocks: Blocks, arrays: list[np.ndarray], time: int) -> None:
    for k, array in enumerate(arrays):
        for index, cell, own in cells(blocks, k // blocks.fields):
            array[index] = value(cell, k % blocks.fields, time) if own else POISON


def expect(blocks: Blocks, arrays: list[np.ndarray], time: int) -> None:
    for k, array in enumerate(arrays):
        for index, cell, own in cells(blocks, k // blocks.fields):
            there = own or block_of(cell) is not None
            right = value(cell, k % blocks.fields, time) if there else POISON
            assert array[index] == right, (blocks.own, index, cell)


def made(**more: object) -> Blocks:
    given: dict[str, object] = {"domain": DOMAIN, "periodic": True}
    return Blocks(WORLD, BOXES, OWNERS, 2, **(given | more))  # type: ignore[arg-type]


def check_ghosts_of_any_boxes() -> None:
    for order in ("C", "F"):
        with made(order=order, fields=2) as blocks:
            assert blocks.own == [b for b, owner in enumerate(OWNERS) if owner == RANK]
            arrays = blocks.zeros()
            assert all(a.flags.f_contiguous == (order == "F") for a in arrays)
            fill(blocks, arrays, 0)
            blocks.forward(arrays)
            expect(blocks, arrays, 0)
            with blocks.forward_init(arrays, info={"tonari_start_with": "yes"}) as request:
                for time in (1, 2):
                    fill(blocks, arrays, time)
                    request.start()
                    request.wait()
                    expect(blocks, arrays, time)
                others = blocks.zeros()
                fill(blocks, others, 3)
                blocks.start_with(request, others)
                request.wait()
                expect(blocks, others, 3)
    assert repr(blocks) == "<tonari Blocks: freed>"


def check_faces_only() -> None:
    with made() as blocks:
        arrays = blocks.zeros()
        fill(blocks, arrays, 0)
        blocks.forward(arrays, Ghosts(lower=(1, 1), upper=(-1, -1), along=1))
        for k, array in enumerate(arrays):
            inside = blocks.inside(blocks.own[k])
            for index, cell, own in cells(blocks, k):
                below = [s.start - i for i, s in zip(index, inside, strict=True)]
                beyond = [i - s.stop for i, s in zip(index, inside, strict=True)]
                wanted = sorted(below)[-1] == 1 and sorted(below)[0] <= 0 and max(beyond) < 0
                there = own or (wanted and block_of(cell) is not None)
                assert array[index] == (value(cell, 0, 0) if there else POISON)


def check_ghosts_are_added_to_owners() -> None:
    with made(dtype=np.int64) as blocks:
        arrays = [np.full_like(a, 1) for a in blocks.zeros()]
        copies = np.zeros(DOMAIN[1], int)  # how often a cell is in some array
        for first, end in BOXES:
            wide = [range(f - 2, e + 2) for f, e in zip(first, end, strict=True)]
            for cell in ((i % 12, j % 10) for i in wide[0] for j in wide[1]):
                copies[cell] += 1
        blocks.reverse(arrays)
        for k, array in enumerate(arrays):
            for index, cell, own in cells(blocks, k):
                assert array[index] == (copies[cell] if own else 1)
        with blocks.reverse_init(arrays, MPI.MAX) as request:
            request.start()
            request.wait()


def check_mistakes_in_boxes() -> None:
    error = refused(Blocks, WORLD, [[(0, 0), (2, 2)], [(1, 1), (3, 3)]], [0, 0])
    assert error.code == errors.ARGUMENT and "0" in str(error) and "1" in str(error)
    error = refused(Blocks, WORLD, [(0, 0), (2, 2)], [0, 0])
    assert str(error).startswith("boxes has shape (2, 2) of int64; it must be integers of shape")
    with made() as blocks:
        arrays = blocks.zeros()
        error = refused(blocks.forward, [*arrays, np.zeros(3)] if RANK == 0 else arrays)
        assert error.code == errors.BUFFERS
        blocks.forward(arrays)
    assert "was freed" in str(refused(blocks.shape, 0))
