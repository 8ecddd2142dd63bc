# SPDX-License-Identifier: BSD-3-Clause
"""The six operations in their three forms, compared with what must arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI
from patterns import POISON, RANK, Pattern, patterns, payload
from tonari.mpi import Request, startall, waitall

DTYPES = [np.dtype("f8"), np.dtype("i2"), np.dtype("c16"), np.dtype("u1, f4"), np.dtype(">i4")]
Arguments = tuple[Any, Any]


class Case:
    """Arguments of one operation on a pattern; `fill` makes what is sent, `check` looks at what
    came."""

    def __init__(self, pattern: Pattern, gathers: bool) -> None:
        self.pattern, self.gathers = pattern, gathers
        self.blocks = 1 if gathers else len(pattern.near.targets)

    def sent(self, edge: tuple[int, int], elements: int, time: int) -> np.ndarray:
        rank, block = edge
        return payload(rank, 0 if self.gathers else block, elements, time)

    def size(self, rank: int, block: int) -> int:
        """Of v forms: blocks differ, and some are empty."""
        return (7 * rank + (0 if self.gathers else 3 * block)) % 5


class Equal(Case):
    elements = 3

    def arguments(self) -> Arguments:
        self.out = np.empty((self.blocks, self.elements))
        self.into = np.full((len(self.pattern.edges), self.elements), POISON)
        return self.out, self.into

    def fill(self, time: int) -> None:
        self.into[:] = POISON
        for i in range(self.blocks):
            self.out[i] = self.sent((RANK, i), self.elements, time)

    def check(self, time: int) -> None:
        for row, edge in zip(self.into, self.pattern.edges, strict=True):
            wanted = POISON if edge is None else self.sent(edge, self.elements, time)
            np.testing.assert_array_equal(row, np.broadcast_to(wanted, row.shape))


class Vector(Case):
    """Blocks with gaps, the last one first; what is received lies without gaps."""

    def arguments(self) -> Arguments:
        edges = self.pattern.edges
        self.sizes = [self.size(RANK, i) for i in range(self.blocks)]
        self.came = [2 if edge is None else self.size(*edge) for edge in edges]
        self.displs = [6 * (self.blocks - 1 - i) for i in range(self.blocks)]
        self.out = np.empty(6 * self.blocks + 1)
        self.into = np.full(sum(self.came), POISON)
        if self.gathers:
            return [self.out, self.sizes[0], MPI.DOUBLE], [self.into, self.came]
        return (
            [self.out, (self.sizes, self.displs), MPI.DOUBLE],
            [self.into, (self.came, None)],
        )

    def fill(self, time: int) -> None:
        self.out[:] = POISON
        self.into[:] = POISON
        for i, (size, displ) in enumerate(zip(self.sizes, self.displs, strict=True)):
            self.out[displ : displ + size] = self.sent((RANK, i), size, time)

    def check(self, time: int) -> None:
        at = 0
        for edge, size in zip(self.pattern.edges, self.came, strict=True):
            wanted = POISON if edge is None else self.sent(edge, size, time)
            np.testing.assert_array_equal(self.into[at : at + size], np.broadcast_to(wanted, size))
            at += size
        assert at == len(self.into)


class Views(Case):
    """A strided array per neighbor; types and shapes differ from edge to edge."""

    def kind(self, rank: int, block: int) -> tuple[np.dtype, tuple[int, int]]:
        number = rank + (0 if self.gathers else block)
        return DTYPES[number % len(DTYPES)], (1 + number % 3, 2)

    def view(self, rank: int, block: int, fortran: bool) -> np.ndarray:
        dtype, (rows, columns) = self.kind(rank, block)
        whole = np.zeros((2 * rows + 3, 3 * columns), dtype, order="F" if fortran else "C")
        whole.view("u1" if not fortran else dtype)  # shares
        return whole[2 : 2 + 2 * rows : 2, 1::3]

    def arguments(self) -> Arguments:
        edges = self.pattern.edges
        self.out = [self.view(RANK, i, fortran=False) for i in range(self.blocks)]
        none = np.zeros((2, 1))
        self.into = [none.copy() if e is None else self.view(*e, fortran=True) for e in edges]
        if not self.gathers:
            return self.out, self.into
        self.out[0] = np.ascontiguousarray(self.out[0])
        return self.out[0], self.into

    def numbers(self, edge: tuple[int, int], time: int) -> np.ndarray:
        """Small enough for every type."""
        dtype, shape = self.kind(*edge)
        values = (self.sent(edge, shape[0] * shape[1], time) * 31 % 251).astype("u1")
        made = np.zeros(len(values), dtype)
        for field in dtype.names or [None]:
            (made if field is None else made[field])[:] = values
        return made.reshape(shape)

    def fill(self, time: int) -> None:
        for i, array in enumerate(self.out):
            array[...] = self.numbers((RANK, i), time)
        for array in self.into:
            array[...] = np.zeros((), array.dtype)

    def check(self, time: int) -> None:
        for edge, array in zip(self.pattern.edges, self.into, strict=True):
            wanted = np.zeros((2, 1)) if edge is None else self.numbers(edge, time)
            np.testing.assert_array_equal(array, wanted)
            if array.base is not None:  # what lies between is not written
                assert np.count_nonzero(array.base) == np.count_nonzero(array)


class Typed(Case):
    """Types of MPI and displacements in bytes: every other number of a block."""

    def arguments(self) -> Arguments:
        every_other = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
        count = len(self.pattern.edges)
        self.out = np.empty(4 * self.blocks)
        self.into = np.full(3 * count, POISON)
        send = [1] * self.blocks, [32 * i for i in range(self.blocks)]
        recv = [2] * count, [24 * j for j in range(count)]
        if self.gathers:
            return [self.out, 1, every_other], [self.into, recv, [MPI.DOUBLE] * count]
        return [self.out, send, [every_other] * self.blocks], [
            self.into,
            recv,
            [MPI.DOUBLE] * count,
        ]

    def fill(self, time: int) -> None:
        self.into[:] = POISON
        for i in range(self.blocks):
            self.out[4 * i : 4 * i + 4] = self.sent((RANK, i), 4, time)

    def check(self, time: int) -> None:
        for j, edge in enumerate(self.pattern.edges):
            block = self.into[3 * j : 3 * j + 3]
            wanted = [POISON] * 2 if edge is None else self.sent(edge, 4, time)[[0, 2]]
            np.testing.assert_array_equal(block, [*wanted, POISON])


CASES: list[tuple[str, type[Case]]] = [
    ("alltoall", Equal),
    ("allgather", Equal),
    ("alltoallv", Vector),
    ("allgatherv", Vector),
    ("alltoallw", Views),
    ("allgatherw", Views),
    ("alltoallw", Typed),
    ("allgatherw", Typed),
]


def on_all(use: Callable[[Pattern, str, Case, Arguments], None]) -> None:
    with patterns() as all_patterns:
        for pattern in all_patterns:
            for name, kind in CASES:
                case = kind(pattern, name.startswith("allgather"))
                use(pattern, name, case, case.arguments())


def check_one_shot_calls() -> None:
    def use(pattern: Pattern, name: str, case: Case, arguments: Arguments) -> None:
        for time in range(2):
            case.fill(time)
            getattr(pattern.near, name)(*arguments)
            case.check(time)

    on_all(use)


def check_calls_that_do_not_block() -> None:
    def use(pattern: Pattern, name: str, case: Case, arguments: Arguments) -> None:
        case.fill(5)
        request = getattr(pattern.near, f"i{name}")(*arguments)
        while not request.test():
            pass
        case.check(5)
        request.free()

    on_all(use)


def check_requests() -> None:
    def use(pattern: Pattern, name: str, case: Case, arguments: Arguments) -> None:
        with getattr(pattern.near, f"{name}_init")(*arguments) as request:
            for time in range(3):
                case.fill(time)
                request.start()
                request.wait()
                case.check(time)

    on_all(use)


def check_many_at_once() -> None:
    with patterns() as all_patterns:
        cases = [Equal(pattern, gathers=False) for pattern in all_patterns]
        made: list[Request] = [c.pattern.near.alltoall_init(*c.arguments()) for c in cases]
        for time in range(2):
            for case in cases:
                case.fill(time)
            startall(made)
            waitall(made[::-1])
            for case in cases:
                case.check(time)
        for request in made:
            request.free()


def check_other_arrays() -> None:
    """start_with: the arrays change from start to start, and stay bound."""
    with patterns() as all_patterns:
        for pattern in all_patterns:
            for kind, name in ((Equal, "alltoall"), (Vector, "alltoallv"), (Equal, "allgather")):
                first = kind(pattern, name == "allgather")
                with getattr(pattern.near, f"{name}_init")(*first.arguments()) as request:
                    for time in range(4):
                        other = kind(pattern, name == "allgather")
                        other.arguments()
                        other.fill(time)
                        request.start_with(other.out, other.into)
                        request.wait()
                        other.check(time)
                    other.fill(9)
                    request.start()
                    request.wait()
                    other.check(9)


def check_algorithms_by_info() -> None:
    """irecv is linear, message by message, without persistent requests."""
    for algorithm, detail in (("linear", ""), ("irecv", "immediate")):
        with patterns({"tonari_tune": "off", "tonari_channel": "p2p-packed"}) as all_patterns:
            for pattern in all_patterns:
                case = Equal(pattern, gathers=False)
                info = {"tonari_algorithm": algorithm}
                with pattern.near.alltoall_init(*case.arguments(), info=info) as request:
                    chosen = request.info
                    wanted = ("linear", "p2p-packed", detail, "forced")
                    words = chosen.algorithm, chosen.channel, chosen.channel_detail, chosen.reason
                    assert words == wanted, words
                    assert 1 <= chosen.ranks_per_core <= MPI.COMM_WORLD.size
                    assert repr(request).startswith("<tonari alltoall: linear ")
                    assert f"(forced), sends {chosen.messages} message" in repr(request)
                    case.fill(1)
                    request.start()
                    request.wait()
                    case.check(1)


def check_views_of_what_came() -> None:
    with patterns() as all_patterns:
        for pattern in all_patterns:
            case = Equal(pattern, gathers=False)
            info = {"tonari_recv_view": "yes", "tonari_channel": "shared"}
            with pattern.near.alltoall_init(*case.arguments(), info=info) as request:
                case.fill(1)
                request.start()
                request.wait()
                for j, edge in enumerate(pattern.edges):
                    if edge is not None:
                        seen = request.recv_view(j)
                        np.testing.assert_array_equal(seen.view("f8"), case.sent(edge, 3, 1))
                        assert not seen.flags.writeable
