# SPDX-License-Identifier: BSD-3-Clause
"""Vectors: forward, reverse and combined exchanges, from every kind of list, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from patterns import POISON, RANK, RANKS, WORLD, cartesian, payload, refused
from tonari import errors
from tonari.mpi import Vector

OWNED = [3 + r % 3 for r in range(RANKS)]  # ranks own different numbers of values
STARTS = np.concatenate(([0], np.cumsum(OWNED)))
N = int(STARTS[-1])
ROUTES = ["direct", f"store-and-forward/{2 if RANKS > 3 else 1}", "balanced"]
FIRST, MINE = int(STARTS[RANK]), OWNED[RANK]


def needed(rank: int) -> np.ndarray:
    """Indices anywhere, own ones and repeats among them."""
    return np.random.default_rng(rank).integers(0, N, 5 + rank % 4)


def of_index(indices: np.ndarray, shape: tuple[int, ...], time: int) -> np.ndarray:
    """The values of global indices, of shape (n,), (n, c) or (v, n, c)."""
    extra = shape[1] if len(shape) == 2 else shape[2] if len(shape) == 3 else 1
    vectors = shape[0] if len(shape) == 3 else 1
    values = np.zeros((vectors, len(indices), extra))
    for v in range(vectors):
        for c in range(extra):
            values[v, :, c] = payload(v, c, 1, time) + indices
    return values.reshape(shape)


def shapes(n: int) -> list[tuple[int, ...]]:
    return [(n,), (n, 3), (2, n, 1), (2, n, 2)]


def check_forward() -> None:
    indices = needed(RANK)
    own = np.arange(FIRST, FIRST + MINE)
    for route in ROUTES:
        with Vector(WORLD, FIRST, MINE, indices, {"tonari_route": route}) as vector:
            for mine, theirs in zip(shapes(MINE), shapes(len(indices)), strict=True):
                x, ghosts = of_index(own, mine, 0), np.full(theirs, POISON)
                vector.forward(x, ghosts)
                np.testing.assert_array_equal(ghosts, of_index(indices, theirs, 0))
                with vector.forward_init(x, ghosts) as fill:
                    for time in range(1, 4):
                        x[...], ghosts[...] = of_index(own, mine, time), POISON
                        if time < 3:
                            fill.start()
                            fill.wait()
                        else:  # other arrays
                            x, ghosts = x.copy(), ghosts.copy()
                            fill.start_with(x, ghosts)
                            fill.wait()
                        np.testing.assert_array_equal(ghosts, of_index(indices, theirs, time))
            assert vector.facts.owned_length == MINE
            assert f"this rank has {MINE} values" in repr(vector)


def check_reverse() -> None:
    """Owners add what all ranks contribute; also the least and the largest."""
    everything = [(r, needed(r)) for r in range(RANKS)]
    for op, combine in ((MPI.SUM, np.add), (MPI.MIN, np.minimum), (MPI.MAX, np.maximum)):
        with Vector(WORLD, FIRST, MINE, needed(RANK)) as vector:
            for dtype in (np.float64, np.int64):
                x = np.arange(MINE, dtype=dtype) + 10
                ghosts = (payload(RANK, 0, len(needed(RANK))) % 77).astype(dtype)
                right = np.concatenate([np.arange(n, dtype=dtype) + 10 for n in OWNED])
                for r, indices in everything:
                    given = (payload(r, 0, len(indices)) % 77).astype(dtype)
                    combine.at(right, indices, given)
                again = x.copy()
                vector.reverse(ghosts, x, op)
                np.testing.assert_array_equal(x, right[FIRST : FIRST + MINE])
                with vector.reverse_init(ghosts, again, op) as back:
                    back.start()
                    back.wait()
                np.testing.assert_array_equal(again, x)


def check_rows_of_larger_arrays() -> None:
    """Vectors that are rows of [owned | ghosts]."""
    indices = needed(RANK)
    whole = np.full((2, MINE + len(indices) + 3), POISON)
    for v in range(2):
        whole[v, :MINE] = 1000 * v + np.arange(FIRST, FIRST + MINE)
    x, ghosts = whole[:, :MINE, None], whole[:, MINE:-3, None]
    with Vector(WORLD, FIRST, MINE, indices) as vector:
        with vector.forward_init(x, ghosts) as fill:
            fill.start()
            fill.wait()
            assert "is bound to those of init" in str(refused(fill.start_with, x, ghosts))
        for v in range(2):
            np.testing.assert_array_equal(whole[v, MINE:-3], 1000 * v + indices)
        assert (whole[:, -3:] == POISON).all()


def check_ids() -> None:
    """Numbers with gaps, in any order, at any places."""
    ids = 1000 - 7 * np.arange(FIRST, FIRST + MINE)
    wish = 1000 - 7 * needed(RANK)
    places = np.arange(MINE)[::-1] * 2
    with Vector.from_ids(WORLD, ids, wish, owned_places=places) as vector:
        x, ghosts = np.full(2 * MINE, POISON), np.full(len(wish), POISON)
        x[places] = 3.0 * ids
        vector.forward(x, ghosts)
        np.testing.assert_array_equal(ghosts, 3.0 * wish)


def check_shared_values() -> None:
    """Node k of a ring of ranks belongs to ranks k - 1 and k; all get one sum."""
    ids = np.array([RANK, (RANK + 1) % RANKS, 100 + RANK])[: 2 + (RANKS > 1)]
    ids = np.unique(ids)
    has = [set(i) for i in WORLD.allgather(ids.tolist())]
    x = payload(RANK, 1, len(ids))
    right = np.array(
        [
            sum(payload(r, 1, 9)[sorted(has[r]).index(i)] for r in range(RANKS) if i in has[r])
            for i in ids
        ]
    )
    with Vector.shared(WORLD, ids) as vector:
        y = x.copy()
        vector.combine(y, y)
        np.testing.assert_array_equal(y, right)
        with vector.combine_init(x, x) as both:
            both.start()
            both.wait()
        np.testing.assert_array_equal(x, right)


def check_lists_of_neighbors() -> None:
    """Each rank sends its last two values, swapped, to the next one."""
    after, before = (RANK + 1) % RANKS, (RANK - 1) % RANKS
    sends = [(after, [MINE - 1, MINE - 2])]
    for receives, places in (([(before, 2)], [0, 1]), ([(before, [3, 1])], [3, 1])):
        with Vector.from_neighbors(WORLD, MINE, sends, receives) as vector:
            x, ghosts = payload(RANK, 2, MINE), np.full(4, POISON)
            vector.forward(x, ghosts)
            np.testing.assert_array_equal(
                ghosts[places], payload(before, 2, OWNED[before])[[-1, -2]]
            )
            assert vector.facts.ghost_length == max(places) + 1


def check_boxes() -> None:
    cart = cartesian(2, periodic=False)
    with Vector.box_nodes(cart, [2, 3]) as nodes:
        x = np.ones(3 * 4)
        nodes.combine(x, x)
        row, column = cart.coords
        rows = [1 + (row > 0), 1, 1 + (row < cart.dims[0] - 1)]
        columns = [1 + (column > 0), 1, 1, 1 + (column < cart.dims[1] - 1)]
        np.testing.assert_array_equal(x.reshape(3, 4), np.outer(rows, columns))
    with Vector.box_cells(cart, [2, 3], width=1, along=1) as cells:
        own, ghosts = payload(RANK, 0, 6), np.full(cells.facts.ghost_length, POISON)
        cells.forward(own, ghosts)
        parts: list[Any] = []
        for axis in range(2):
            for side, source in zip((-1, 0), cart.Shift(axis, 1), strict=True):
                if source != MPI.PROC_NULL:
                    box = payload(source, 0, 6).reshape(2, 3)
                    parts.append(np.take(box, side, axis))
        np.testing.assert_array_equal(ghosts, np.concatenate([[], *parts]))
    cart.Free()


def check_mistakes() -> None:
    last = RANKS - 1
    said = refused(Vector, WORLD, FIRST, MINE, [N] if RANK == last else [0])
    assert str(N) in str(said) and said.code == errors.ARGUMENT
    said = refused(Vector, WORLD, FIRST, MINE, [0.5] if RANK == last else [0])
    assert "indices must be a list of integers" in str(said)
    with Vector(WORLD, FIRST, MINE, needed(RANK)) as vector:
        x, ghosts = np.zeros(MINE), np.zeros(len(needed(RANK)))
        wrong: list[tuple[Any, Any, str]] = [
            (x[:-1], ghosts, "owned has room for"),
            (x, ghosts.astype("f4"), "of one type"),
            (x[:, None], ghosts[:, None].repeat(2, 1), "1 and 2 components"),
            (np.zeros(2 * MINE)[::2], ghosts, "owned is not contiguous"),
        ]
        for out, into, sentence in wrong:
            if RANK == last:
                assert sentence in str(refused(vector.forward_init, out, into))
            else:
                refused(vector.forward_init, x, ghosts)
        assert refused(vector.forward_init, x, x[:0]).code in (errors.BUFFERS, errors.ARGUMENT)
    assert "was freed" in str(refused(vector.forward, x, ghosts))
