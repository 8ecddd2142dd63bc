# SPDX-License-Identifier: BSD-3-Clause
"""Grids: every cell that NumPy sees, in every storage, against its place in the whole grid."""

from __future__ import annotations

import gc
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from patterns import POISON, RANK, RANKS, WORLD, cartesian, refused
from tonari import errors
from tonari.mpi import Ghosts, Grid


def number(grid: Grid, index: list[np.ndarray], copy: int, field: int, time: int) -> np.ndarray:
    """Of a cell of the whole grid; the same for all ranks."""
    place = np.zeros(np.broadcast_shapes(*(i.shape for i in index)))
    for i, n in zip(index, grid.shape, strict=True):
        place = place * n + i % n
    return ((time * 10 + copy) * 10 + field) * 1e6 + place


def lower(grid: Grid, subdomain: int) -> tuple[int, ...]:
    return tuple(part.start for part in grid.boxes("own", subdomain)[0])


def around(grid: Grid, subdomain: int, widths: tuple[int, ...]) -> tuple[slice, ...]:
    """The subdomain with this much around its own cells."""
    cells, low = grid.cells(subdomain), lower(grid, subdomain)
    return tuple(slice(a - w, a + n + w) for a, n, w in zip(low, cells, widths, strict=True))


def wanted(
    grid: Grid, subdomain: int, width: int, periodic: bool, copy: int, field: int, time: int
) -> np.ndarray:
    """With ghosts: what the neighbors have; POISON beyond a border."""
    cells, first = grid.cells(subdomain), grid.first(subdomain)
    lines = [np.arange(f - width, f + n + width) for f, n in zip(first, cells, strict=True)]
    index = np.ix_(*lines)
    values = number(grid, list(index), copy, field, time)
    if not periodic:
        for i, n in zip(index, grid.shape, strict=True):
            values = np.where((i < 0) | (i >= n), POISON, values)
    return values


def fill(grid: Grid, width: int, copy: int, time: int) -> None:
    for s in range(grid.subdomains):
        whole = around(grid, s, (width,) * grid.dims)
        for f in range(grid.fields):
            grid.set_cells(POISON, s, copy, f, whole)
            grid.set_cells(wanted(grid, s, 0, True, copy, f, time), s, copy, f)


def expect(grid: Grid, width: int, periodic: bool, copy: int, time: int) -> None:
    for s in range(grid.subdomains):
        whole = around(grid, s, (width,) * grid.dims)
        for f in range(grid.fields):
            values = wanted(grid, s, width, periodic, copy, f, time)
            np.testing.assert_array_equal(grid.get_cells(s, copy, f, whole), values)
            as_views(grid, s, copy, f, values)


def as_views(grid: Grid, subdomain: int, copy: int, field: int, values: np.ndarray) -> None:
    """The same cells without a copy."""
    if grid.storage == "array":
        np.testing.assert_array_equal(grid.array(subdomain, copy, field), values)
        inside = grid.boxes("own", subdomain)[0]
        np.testing.assert_array_equal(grid.own(subdomain, copy, field), values[inside])
        return
    table, slots = grid.bricks(subdomain), grid.slots(subdomain)
    bricks, flat = (f(subdomain, copy, field) for f in (grid.brick_array, grid.flat))
    mapped = grid._mapped_ghosts
    assert flat.flags.writeable == bricks.flags.writeable == (not mapped)
    assert grid.brick_array(subdomain, copy, field, own=True).flags.writeable
    volume = int(np.prod(table.brick))
    low = lower(grid, subdomain)
    for b in range(table.count):
        start = [low[k] + table.position[b, k] * n for k, n in enumerate(table.brick)]
        cells = values[tuple(slice(a, a + n) for a, n in zip(start, table.brick, strict=True))]
        np.testing.assert_array_equal(bricks[slots[b]], cells)
        np.testing.assert_array_equal(flat[table.place[b] :][:volume], cells.ravel())
        assert table.number[tuple(a // n for a, n in zip(start, table.brick, strict=True))] == b
    middle = (3**grid.dims - 1) // 2
    assert (table.neighbors.reshape(-1, 3**grid.dims)[:-1, middle] == np.arange(table.count)).all()


CASES: list[tuple[int, bool, int, dict[str, Any]]] = [
    (1, True, 3, {"copies": 2}),
    (2, True, 2, {"fields": 2}),
    (2, False, 2, {"order": "F", "subdomains": (2, 1)}),
    (3, True, 1, {"dtype": np.int32}),
    (2, True, 4, {"storage": "brick", "brick": (4, 4), "copies": 2}),
    (2, False, 4, {"storage": "brick", "brick": (2, 4), "fields": 2, "interleaved": True}),
    (2, True, 8, {"storage": "mapped", "brick": (8, 8), "copies": 2, "fields": 2}),
    (3, True, 8, {"storage": "mapped", "brick": (8, 8, 8), "copies": 2, "mapped_ghosts": True}),
]


def check_every_storage() -> None:
    for dims, periodic, width, options in CASES:
        cart = cartesian(dims, periodic)
        cells = [n * 2 * max(width, 4) * 2 for n in cart.dims]
        mapped = options.get("mapped_ghosts", False)
        with Grid(cart, cells, width, **options) as grid:
            requests = [grid.exchange_init(c) for c in range(grid.copies)]
            for time in range(4):
                copy = time % grid.copies
                fill(grid, 0 if mapped else width, copy, time)
                if time % 2 and not mapped:
                    grid.forward(copy)
                else:
                    requests[copy].start()
                    requests[copy].wait()
                expect(grid, width, periodic, copy, time)
                if mapped:
                    cart.Barrier()  # others read what the next time changes
            for request in requests:
                request.free()
        cart.Free()


def check_arrays_that_outlive_their_grid() -> None:
    """Also where they were all that was left of it."""
    for storage in ("array", "brick", "mapped"):
        cart = cartesian(2)
        with Grid(cart, [16 * n for n in cart.dims], 8, storage=storage) as grid:
            view = grid.own() if storage == "array" else grid.brick_array()
            table = None if storage == "array" else grid.bricks().number
            view[...] = RANK + 1.5
        assert "was freed" in str(refused(grid.cells))
        memory = weakref.ref(grid._memory)
        del grid
        gc.collect()
        assert memory() is not None
        assert (view == RANK + 1.5).all()
        view[...] = 0
        del view
        assert (memory() is None) == (table is None)
        assert table is None or sorted(table.ravel()) == list(range(table.size))
        del table
        assert memory() is None
        cart.Free()


def check_the_programs_own_arrays() -> None:
    cart = cartesian(2)
    made = [np.full((6 + 2, 5 + 4), POISON) for _ in range(3)]
    with Grid(cart, (6, 5), [1, (2, 2)], local=True, arrays=made[:1]) as grid:
        assert np.shares_memory(grid.array(), made[0])
        assert grid.shape == (6 * cart.dims[0], 5 * cart.dims[1])
        made[0][1:-1, 2:-2] = wanted(grid, 0, 0, True, 0, 0, 3)
        with grid.exchange_init(info={"tonari_halo": "plan"}) as halo:
            halo.start()
            halo.wait()
            index = [np.arange(f - w, f + n + w) for f, n, w in zip(grid.first(), (6, 5), (1, 2))]
            whole = number(grid, list(np.ix_(*index)), 0, 0, 3)
            np.testing.assert_array_equal(made[0], whole)
            for other in made[1:]:
                other[1:-1, 2:-2] = whole[1:-1, 2:-2] + 7
                grid.start_with(halo, [other])
                halo.wait()
                np.testing.assert_array_equal(other, whole + 7)
            assert refused(grid.start_with, halo, [made[0].T]).code == errors.BUFFERS
            assert refused(grid.start_with, halo, made).code == errors.BUFFERS
    wrong = [np.zeros((8, 9 + (RANK == RANKS - 1)))]
    said = refused(Grid, cart, (6, 5), [1, (2, 2)], local=True, arrays=wrong)
    assert f"rank {RANKS - 1}: arrays[0] has shape (8, 10)" in str(said), said
    cart.Free()


def check_some_ghosts_and_the_way_back() -> None:
    cart = cartesian(2)
    with Grid(cart, [4 * n for n in cart.dims], 1) as grid:
        fill(grid, 1, 0, 0)
        grid.forward(0, Ghosts(along=1))
        whole = wanted(grid, 0, 1, True, 0, 0, 0)
        whole[:: len(whole) - 1, :: whole.shape[1] - 1] = POISON  # corners
        np.testing.assert_array_equal(grid.array(), whole)
        fill(grid, 1, 0, 1)
        grid.forward(0, Ghosts(lower=(0, -1), upper=(-1, -1)))
        whole = np.full_like(whole, POISON)
        whole[:-1, 1:-1] = wanted(grid, 0, 1, True, 0, 0, 1)[:-1, 1:-1]
        np.testing.assert_array_equal(grid.array(), whole)

        grid.array()[...] = 1  # each own cell is counted once for itself and for each ghost of it
        grid.reverse(0)
        count = np.ones((4, 4))
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    rows = {-1: [0], 0: range(4), 1: [3]}[dx]
                    columns = {-1: [0], 0: range(4), 1: [3]}[dy]
                    count[np.ix_(list(rows), list(columns))] += 1
        np.testing.assert_array_equal(grid.own(), count)
        with grid.reverse_init(0, MPI.MAX, Ghosts(along=1)) as back:
            grid.array()[...] = 2 + RANK % 3
            back.start()
            back.wait()
        most = WORLD.allreduce(2 + RANK % 3, MPI.MAX)
        assert (grid.own() >= 2 + RANK % 3).all() and grid.own().max() <= most
    cart.Free()


def check_files_and_mistakes() -> None:
    cart = cartesian(2)
    folder = WORLD.bcast(tempfile.mkdtemp() if RANK == 0 else None)
    name = str(Path(folder, "grid.npy"))
    with Grid(cart, (6, 5), [(1, 2), (0, 3)], local=True) as sides:
        assert sides.array().shape == (1 + 6 + 2, 0 + 5 + 3) and sides.own().shape == (6, 5)
        assert sides.boxes("own") == [(slice(1, 7), slice(0, 5))]
    with Grid(cart, [5 * n for n in cart.dims], 1, copies=2) as grid:
        fill(grid, 1, 0, 2)
        grid.save(name)
        index = np.ix_(*(np.arange(n) for n in grid.shape))
        np.testing.assert_array_equal(np.load(name), number(grid, list(index), 0, 0, 2))
        grid.load(name, 1)
        np.testing.assert_array_equal(grid.own(0, 1), grid.own(0, 0))
        assert refused(grid.array, 0, 2).code == errors.ARGUMENT
        assert "storage is array" in str(refused(grid.bricks))
        assert "must be one of interior" in str(refused(grid.boxes, "inside"))
        assert refused(grid.forward, 2).code == errors.ARGUMENT
        ghosts = Ghosts(lower=(1, 1, 1)) if RANK == 0 else None
        said = refused(grid.forward_init, 0, ghosts)
        assert "ghosts.lower has 3 numbers" in str(said)
        with grid.exchange_init(0):
            assert refused(grid.free).code == errors.ACTIVE
        assert repr(grid).startswith(f"<tonari Grid: {grid.shape[0]}x{grid.shape[1]} cells of")
    assert repr(grid) == "<tonari Grid: freed>"
    if RANK == 0:
        Path(name).unlink()
        Path(folder).rmdir()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"storage": "bricks"}, "storage is 'bricks'; it must be one of array, brick, mapped"),
        ({"halo": (1, 2, 3)}, "halo has 3 entries"),
        ({"cells": (4,) * 6}, "cells has 6 numbers"),
        ({"cells": (RANKS, 0)}, "cell"),
    ]
    for options, sentence in wrong:
        right: dict[str, Any] = {"cells": [8 * n for n in cart.dims]}
        chosen = right | (options if RANK == RANKS - 1 else {})
        said = refused(Grid, cart, **chosen)
        assert sentence in str(said), said
    cart.Free()
