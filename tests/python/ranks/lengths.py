# SPDX-License-Identifier: BSD-3-Clause
"""Every array that crosses to C has the length that C reads there: one rank that gives another one
hears so, and the others do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tonari.mpi
from mpi4py import MPI
from patterns import RANK, RANKS, WORLD, cartesian, refused
from tonari import errors
from tonari.mpi import Blocks, Ghosts, Grid, Neighborhood, Vector

LAST = RANKS - 1
BOXES = [[(4 * r,), (4 * r + 4,)] for r in range(RANKS)]


def on_one_rank(
    call: Callable[..., Any], sentence: str, right: Any, wrong: Any, **more: Any
) -> None:
    """Both are the arguments of a collective call; the last rank gives the wrong ones."""
    mistake = refused(call, *(wrong if RANK == LAST else right), **more)
    assert sentence in str(mistake), mistake
    assert RANKS == 1 or str(mistake).startswith(f"rank {LAST}: "), mistake
    assert mistake.code in (errors.ARGUMENT, errors.BUFFERS), mistake.code


def check_offsets_of_other_dimensions() -> None:
    """By name, too, where C reads as many coordinates as the grid has dimensions."""
    for dims, pattern in ((3, "moore:2:1"), (2, "moore:3:1"), (1, "star:2:1")):
        cart = cartesian(dims)
        d = int(pattern.split(":")[1])
        mistake = refused(Neighborhood, cart, pattern)
        assert f"offsets ({pattern}) has shape" in str(mistake), mistake
        assert str(mistake).endswith(f"(neighbors, {dims})"), mistake
        on_one_rank(Neighborhood, f", {d})", (cart, f"moore:{dims}:1"), (cart, pattern))
        on_one_rank(Neighborhood, f", {d})", (cart, f"moore:{dims}:1"), (cart, [[0] * d]))
        cart.Free()
    with Neighborhood(WORLD.Create_cart([RANKS], [True]), "moore:1:1") as near:
        assert len(near.targets) == 2


def check_numbers_that_do_not_fit() -> None:
    """ctypes and NumPy would cut them off without a word."""
    cart, right = cartesian(1), [[1]]
    on_one_rank(Neighborhood, "does not fit into 32 bits", (cart, right), (cart, [[2**32 + 1]]))
    with Neighborhood(cart, right) as near:
        send, recv = np.zeros(4), np.zeros(4)
        wrong = [send, 2**32, MPI.DOUBLE]
        on_one_rank(near.alltoall_init, "send's count is 4294967296", (send, recv), (wrong, recv))
    for word, number in (("cells[0]", 2**64 + 8), ("cells[0]", 8.5)):
        on_one_rank(Grid, word, (cart, [8 * RANKS]), (cart, [number]))
    assert "copies is 4294967297" in str(refused(Grid, cart, [8], copies=2**32 + 1))
    on_one_rank(
        Vector, "owned is 18446744073709551617", (WORLD, RANK, 1, []), (WORLD, RANK, 2**64 + 1, [])
    )
    cart.Free()


def check_what_python_cannot_read_at_all() -> None:
    """Errors of any kind keep nobody waiting."""

    class Broken:
        def __array__(self, *_: Any, **__: Any) -> np.ndarray:
            raise RuntimeError("it is broken")

        def __len__(self) -> int:
            raise KeyError("no length")

    cart = cartesian(1)
    on_one_rank(Neighborhood, "it is broken", (cart, [[1]]), (cart, Broken()))
    on_one_rank(Neighborhood, "info is a int", (cart, [[1]], {}), (cart, [[1]], 5))
    on_one_rank(Grid, "no length", (cart, [8 * RANKS]), (cart, Broken()))
    with Neighborhood(cart, [[1]]) as near:
        send, recv = np.zeros(4), np.zeros(4)
        null = [send, 1, MPI.DATATYPE_NULL]
        on_one_rank(near.alltoall_init, "TYPE", (send, recv), (null, recv))
    cart.Free()


def check_arrays_of_a_grid() -> None:
    """As many as copies, subdomains and fields; C reads an address of each."""
    cart = cartesian(1)
    shape: dict[str, Any] = {"subdomains": 2, "fields": 3, "copies": 2}
    right = [np.zeros(6) for _ in range(12)]
    for number in (0, 1, 11, 13):
        wrong = [np.zeros(6) for _ in range(number)]
        given = right if RANK != LAST else wrong
        mistake = refused(Grid, cart, [8 * RANKS], 1, arrays=given, **shape)
        assert f"there are {number} arrays; there must be 12" in str(mistake)
    for members in (
        {"subdomains": (1, 1)},
        {"storage": "brick", "brick": (4, 4)},
        {"halo": (1, 1)},
    ):
        mistake = refused(Grid, cart, [8 * RANKS], **members)
        assert "number" in str(mistake) or "entries" in str(mistake), mistake
    with (
        Grid(cart, [8 * RANKS], 1, arrays=right, **shape) as grid,
        Grid(cart, [8 * RANKS]) as other,
    ):
        for wide in (Ghosts(lower=(1, 1)), Ghosts(upper=(1, 1, 1))):
            assert "it must have 1" in str(refused(grid.forward_init, 0, wide))
        request, foreign = grid.exchange_init(0), other.exchange_init(0)
        for given in (right[:5], right[:7]):
            assert "there must be 6" in str(refused(grid.start_with, request, given))
        # as many as the other grid has, and fewer than this exchange reads
        one = [np.zeros(2 + other.cells()[0])]
        assert "no exchange of this grid" in str(refused(other.start_with, request, one))
        assert "no exchange of this grid" in str(refused(grid.start_with, foreign, right[:6]))
        assert "step 2" in str(refused(grid.get_cells, 0, 0, 0, (slice(0, 4, 2),)))
        for box in ((slice(0, 7),), (slice(-1, 3),), (slice(0, 2), slice(0, 2))):
            refused_or_wrong(grid.get_cells, 0, 0, 0, box)
        assert grid.get_cells(0, 0, 0, (slice(3, 1),)).shape == (0,)
        request.free(), foreign.free()
        assert "was freed" in str(refused(grid.start_with, request, right[:6]))
    cart.Free()


def refused_or_wrong(call: Callable[..., Any], *arguments: Any) -> None:
    """Local calls may raise what Python raises."""
    try:
        call(*arguments)
    except (errors.Error, ValueError):
        return
    raise AssertionError(f"{call} {arguments} did not fail")


def check_arrays_of_blocks() -> None:
    owners = list(range(RANKS))
    on_one_rank(Blocks, "owners has", (WORLD, BOXES, owners), (WORLD, BOXES, owners[1:]))
    on_one_rank(Blocks, "boxes has shape", (WORLD, BOXES, owners), (WORLD, BOXES[0], owners))
    mistake = refused(Blocks, WORLD, BOXES, owners, domain=[(0, 0), (8, 8)], periodic=True)
    assert "first has 2 numbers; it must have 1" in str(mistake), mistake
    assert "periodic has 2" in str(refused(Blocks, WORLD, BOXES, owners, periodic=(True, False)))
    with Blocks(WORLD, BOXES, owners, fields=2) as blocks, Blocks(WORLD, BOXES, owners) as other:
        right = blocks.zeros()
        for wrong in ([], right[:1], right * 2, [a[1:] for a in right]):
            on_one_rank(blocks.forward_init, "arrays", (right,), (wrong,))
            assert "arrays" in str(refused(blocks.forward, wrong))
        info = {"tonari_start_with": "yes"}
        request = blocks.forward_init(right, info=info)
        assert "no exchange of these" in str(refused(other.start_with, request, other.zeros()))
        assert "there must be 2" in str(refused(blocks.start_with, request, right[:1]))
        blocks.start_with(request, right)
        request.wait()
        request.free()


def check_lists_of_vectors() -> None:
    cart = cartesian(2)
    for make in (Vector.box_nodes, Vector.box_cells):
        for wrong in ([], [2], [2, 2, 2]):
            entries = f"cells has {len(wrong)} entries; it must have 2"
            on_one_rank(make, entries, (cart, [2, 2]), (cart, wrong))
    ids, one = np.arange(4) + 4 * RANK, np.arange(3)
    from_ids, shared = Vector.from_ids, Vector.shared
    for name in ("owned_places", "ghost_places"):
        places = one if RANK == LAST else np.arange(4)
        mistake = refused(from_ids, WORLD, ids, ids, **{name: places})
        assert f"{name} has 3 entries; it must have 4" in str(mistake)
    mistake = refused(shared, WORLD, ids, places=one if RANK == LAST else np.arange(4))
    assert "places has 3 entries" in str(mistake)
    with Vector(WORLD, 4 * RANK, 4, [(4 * RANK + 4) % (4 * RANKS)]) as vector:
        x, ghosts = np.zeros(4), np.zeros(1)
        for short in ((x[:3], ghosts), (x, ghosts[:0]), (np.zeros((2, 3, 1)), np.zeros((2, 1, 1)))):
            on_one_rank(vector.forward_init, "has room for", (x, ghosts), short)
            assert "has room for" in str(refused(vector.forward, *short))
        request = vector.forward_init(x, ghosts)
        for short in ((x[:3], ghosts), (x, ghosts[:0])):
            assert "are needed" in str(refused(request.start_with, *short))
        request.free()
    cart.Free()


def check_lists_of_other_exchanges() -> None:
    counts, buf = [1] * RANKS, np.zeros(RANKS)
    exchange = tonari.mpi.alltoallv_inplace
    for wrong in ([buf, counts[1:]], [buf, counts + [1]], [buf, (counts, counts[1:])]):
        on_one_rank(exchange, "entries; it must have", ([buf, counts], WORLD), (wrong, WORLD))
    general = tonari.mpi.alltoallv_inplace_general
    places = list(range(RANKS))
    right = [buf, (counts, places), (counts, places)]
    on_one_rank(general, "entries", (right, WORLD), ([*right[:2], (counts, places[1:])], WORLD))
    sparse = tonari.mpi.sparse_alltoallv
    for wrong in ([buf, [1, 1]], [buf, ([1], [0, 1])]):
        on_one_rank(sparse, "it must have 1", ([0], [buf, [1]], WORLD), ([0], wrong, WORLD))
    on_one_rank(sparse, "reach", ([0], [buf, [1]], WORLD), ([0], [buf, [RANKS + 1]], WORLD))
