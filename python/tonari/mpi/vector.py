# SPDX-License-Identifier: BSD-3-Clause
"""Distributed vectors: values by index, whose owners send them to all ranks that need them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import buffers, calls, pictures, prototypes
from tonari.mpi.calls import Info
from tonari.mpi.library import VectorValues, call, created, handle_of
from tonari.mpi.lifetime import Collective
from tonari.mpi.memory import on_host
from tonari.mpi.neighborhood import dimensions
from tonari.mpi.request import Bound, Request

Integers = Any  # anything that becomes a one-dimensional array of integers


@dataclass(frozen=True)
class VectorFacts:
    """What was found, for one vector of one component; see tonari_vector_facts in vector.h."""

    ghosts: int
    sources: int
    targets: int
    stages: int
    values_sent: int
    values_received: int
    route: str
    owned_length: int
    ghost_length: int


class Vector(Collective):
    """N values partitioned over ranks: each index has one owner, and any rank may need any.

    A forward exchange brings the owners' values to all that need them: ghosts[k] becomes the value
    of indices[k]. A reverse exchange combines all ghosts at their owners. One-shot calls (forward,
    reverse, combine) return when they are complete; those with _init return a Request.

    Arrays `owned` and `ghosts` have one shape but for the number of values:
        (n,)       one number per index
        (n, c)     c components per index
        (v, n, c)  v vectors, exchanged in the same messages

    first, owned  this rank owns the global indices first, ..., first + owned - 1; the ranges of all
                  ranks together are 0, ..., N - 1
    indices       the global indices whose values this rank needs, in the order of its ghosts
    info          tonari_route and others (docs/settings.md): a mapping or MPI.Info
    """

    _freed_by = "vector_free"

    def __init__(
        self, comm: MPI.Comm, first: int, owned: int, indices: Integers, info: Info = None
    ) -> None:
        def read() -> tuple[Any, ...]:
            needed = buffers.integers(indices, "indices", np.int64)
            numbers = [_int64(n, name) for n, name in ((first, "first"), (owned, "owned"))]
            return *numbers, len(needed), needed

        self._create("vector_create", comm, read, (0, -1, 0, None), info)

    @classmethod
    def from_ids(
        cls,
        comm: MPI.Comm,
        owned_ids: Integers,
        needed_ids: Integers,
        *,
        owned_places: Integers | None = None,
        ghost_places: Integers | None = None,
        info: Info = None,
    ) -> Vector:
        """Of values with numbers of any kind, each owned by one rank. Places: where value k lies in
        `owned` and `ghosts`; None: at k."""

        def read() -> tuple[Any, ...]:
            mine = buffers.integers(owned_ids, "owned_ids", np.int64)
            needed = buffers.integers(needed_ids, "needed_ids", np.int64)
            places = _places(owned_places, "owned_places", len(mine))
            there = _places(ghost_places, "ghost_places", len(needed))
            return len(mine), mine, places, len(needed), needed, there

        return cls._made(
            "vector_create_from_ids", comm, read, (-1, None, None, 0, None, None), info
        )

    @classmethod
    def shared(
        cls, comm: MPI.Comm, ids: Integers, *, places: Integers | None = None, info: Info = None
    ) -> Vector:
        """Of values that several ranks have, such as the nodes of a mesh. The lowest rank that has
        one owns it. Exchanges take one array for both: combine(x, x)."""

        def read() -> tuple[Any, ...]:
            mine = buffers.integers(ids, "ids", np.int64)
            return len(mine), mine, _places(places, "places", len(mine))

        return cls._made("vector_create_shared", comm, read, (-1, None, None), info)

    @classmethod
    def from_neighbors(
        cls,
        comm: MPI.Comm,
        owned: int,
        sends: Sequence[tuple[int, Integers]],
        receives: Sequence[tuple[int, Integers | int]],
        info: Info = None,
    ) -> Vector:
        """Of lists of neighbors: sends has (rank, places in `owned`); receives has (rank, places in
        `ghosts`), or (rank, how many), which are appended."""

        def read() -> tuple[Any, ...]:
            out = _lists("sends", sends, appended=False)
            into = _lists("receives", receives, appended=all(_is_number(c) for _, c in receives))
            return _int64(owned, "owned"), len(sends), *out, len(receives), *into

        refused = (-1, 0, None, None, None, 0, None, None, None)
        return cls._made("vector_create_from_neighbors", comm, read, refused, info)

    @classmethod
    def box_nodes(cls, cart: MPI.Comm, cells: Sequence[int], info: Info = None) -> Vector:
        """Of the nodes of a mesh cut into boxes of cells, one on each rank of a Cartesian
        communicator; exchanges take one array for both, of shape (prod(cells + 1),)."""
        read = partial(_box_cells, cart, cells)
        return cls._made("vector_create_box_nodes", cart, read, (None,), info)

    @classmethod
    def box_cells(
        cls,
        cart: MPI.Comm,
        cells: Sequence[int],
        width: int = 1,
        along: int = 0,
        info: Info = None,
    ) -> Vector:
        """Of the cells of such a mesh: a box owns its cells and needs `width` layers of each box
        beside it; along: 1 across faces only, 2 across edges, too, 0 across all."""

        def read() -> tuple[Any, ...]:
            sides = [buffers.one_integer(n, w) for n, w in ((width, "width"), (along, "along"))]
            return *_box_cells(cart, cells), *sides

        return cls._made("vector_create_box_cells", cart, read, (None, 1, 0), info)

    @classmethod
    def _made(
        cls,
        name: str,
        comm: MPI.Comm,
        read: Callable[[], tuple[Any, ...]],
        refused: tuple[Any, ...],
        info: Info,
    ) -> Vector:
        vector = cls.__new__(cls)
        vector._create(name, comm, read, refused, info)
        return vector

    def _create(
        self,
        name: str,
        comm: MPI.Comm,
        read: Callable[[], tuple[Any, ...]],
        refused: tuple[Any, ...],
        info: Info,
    ) -> None:
        arguments, complain = calls.together(read, refused)
        plain = [buffers.address(a) if isinstance(a, np.ndarray) else a for a in arguments]
        with calls.complaining(complain), calls.info_handle(info) as keys:
            self._handle = created(name, handle_of(comm), *plain, keys)
        self.facts = self._facts()

    facts: VectorFacts
    """How many messages and values this rank sends, by which route, and how long arrays must be."""

    def _facts(self) -> VectorFacts:
        c = prototypes.VectorFacts()
        call("vector_get_facts", self._handle, ctypes.addressof(c))
        values: dict[str, Any] = {f.name: getattr(c, f.name) for f in fields(VectorFacts)}
        values["route"] = values["route"].decode()
        return VectorFacts(**values)

    # ---- exchanges

    def forward(self, owned: Any, ghosts: Any) -> None:
        """ghosts[k] becomes the owner's value of index k."""
        self._once("forward", owned, ghosts)

    def forward_init(self, owned: Any, ghosts: Any, info: Info = None) -> Request:
        """The same as a request; start_with takes (owned, ghosts)."""
        return self._init("forward", owned, ghosts, info)

    def reverse(self, ghosts: Any, owned: Any, op: MPI.Op = MPI.SUM) -> None:
        """owned[i] becomes owned[i] op all ghosts of it, on all ranks."""
        self._once("reverse", owned, ghosts, op)

    def reverse_init(
        self, ghosts: Any, owned: Any, op: MPI.Op = MPI.SUM, info: Info = None
    ) -> Request:
        """The same as a request; start_with takes (ghosts, owned)."""
        return self._init("reverse", owned, ghosts, info, op)

    def combine(self, owned: Any, ghosts: Any, op: MPI.Op = MPI.SUM) -> None:
        """A reverse exchange, and then a forward one of what it leaves. For shared values, with
        (x, x), all ranks that have a value get the same bits."""
        self._once("combine", owned, ghosts, op)

    def combine_init(
        self, owned: Any, ghosts: Any, op: MPI.Op = MPI.SUM, info: Info = None
    ) -> Request:
        """The same as a request; start_with takes (owned, ghosts)."""
        return self._init("combine", owned, ghosts, info, op)

    def _arguments(
        self, name: str, owned: Any, ghosts: Any, op: MPI.Op | None
    ) -> tuple[tuple[Any, ...], Bound, Callable[[], None]]:
        """As C takes them: reverse exchanges have ghosts first."""
        self._check_alive()

        def read() -> tuple[Any, ...]:
            mine = on_host(owned, "owned", written=name != "forward")
            theirs = on_host(ghosts, "ghosts", written=name != "reverse")
            return _values(mine, theirs, self.facts), mine, theirs

        refused = (VectorValues(components=-1), np.empty(0), np.empty(0))
        (values, *arrays), complain = calls.together(read, refused)
        ordered = arrays[::-1] if name == "reverse" else arrays
        ops = () if op is None else (handle_of(op),)
        arguments = (ctypes.addressof(values), *ops, *map(buffers.address, ordered))
        flat = all(array.flags.c_contiguous for array in arrays)
        sizes = tuple(array.nbytes if flat else -1 for array in ordered)
        bound = Bound((*ordered, values), tuple(array.dtype for array in ordered), sizes)
        return arguments, bound, complain

    def _once(self, name: str, owned: Any, ghosts: Any, op: MPI.Op | None = None) -> None:
        arguments, _bound, complain = self._arguments(name, owned, ghosts, op)
        with calls.complaining(complain):
            call(f"vector_{name}", self._handle, *arguments)

    def _init(
        self, name: str, owned: Any, ghosts: Any, info: Info, op: MPI.Op | None = None
    ) -> Request:
        arguments, bound, complain = self._arguments(name, owned, ghosts, op)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            handle = created(f"vector_{name}_init", self._handle, *arguments, keys)
        return Request(handle, bound, f"vector {name}")

    def __repr__(self) -> str:
        if not self._handle:
            return "<tonari Vector: freed>"
        f = self.facts
        out = pictures.counted(f.targets, "message")
        return (
            f"<tonari Vector: this rank has {pictures.counted(f.owned_length, 'value')} and needs"
            f" {f.ghosts} of other ranks; {f.route}, {out} out, {f.sources} in>"
        )


def _values(owned: np.ndarray, ghosts: np.ndarray, facts: VectorFacts) -> Any:
    """How values lie in the two arrays, which must have room for them."""
    if owned.ndim != ghosts.ndim or not 1 <= owned.ndim <= 3 or owned.dtype != ghosts.dtype:
        raise Error(
            f"owned and ghosts are arrays of shapes {owned.shape} and {ghosts.shape}, of"
            f" {owned.dtype} and {ghosts.dtype}; both must be (n,), (n, c) or (v, n, c), of one"
            " type",
            ARGUMENT,
        )
    values = VectorValues(type=handle_of(buffers.mpi_type(owned.dtype)), components=1, vectors=1)
    if owned.ndim > 1:
        values.components = _same("components", owned.shape[-1], ghosts.shape[-1])
    if owned.ndim == 3:
        values.vectors = _same("vectors", owned.shape[0], ghosts.shape[0])
    values.owned_stride = _stride(owned, "owned", facts.owned_length)
    values.ghost_stride = _stride(ghosts, "ghosts", facts.ghost_length)
    return values


def _same(what: str, owned: int, ghosts: int) -> int:
    if owned != ghosts or owned < 1:
        raise Error(f"owned and ghosts have {owned} and {ghosts} {what}; both must be the same")
    return owned


def _stride(array: np.ndarray, name: str, length: int) -> int:
    """Numbers from one vector to the next; within one they lie side by side."""
    n = array.shape[-2] if array.ndim > 1 else len(array)
    if n < length:
        raise Error(f"{name} has room for {n} values; {length} are needed", BUFFERS)
    one = array[0] if array.ndim == 3 else array
    if not one.flags.c_contiguous:
        raise Error(f"{name} is not contiguous; the values of a vector must be", ARGUMENT)
    if array.ndim < 3 or array.shape[0] == 1 or array.size == 0:
        return max(one.size, 0)
    stride, odd = divmod(array.strides[0], array.itemsize)
    if odd or stride <= 0:
        raise Error(f"{name} has vectors at a distance of {array.strides[0]} bytes", ARGUMENT)
    return stride


def _int64(number: Any, name: str) -> int:
    return buffers.one_integer(number, name, np.int64)


def _places(places: Integers | None, name: str, length: int) -> np.ndarray | None:
    return None if places is None else buffers.integers(places, name, np.intc, length)


def _is_number(thing: Any) -> bool:
    return isinstance(thing, (int, np.integer))


def _lists(name: str, lists: Sequence[tuple[int, Any]], appended: bool) -> tuple[Any, ...]:
    """Ranks, counts, and all places one behind the other; no places if values are appended."""
    ranks = buffers.integers([rank for rank, _ in lists], f"{name}'s ranks", np.intc)
    if appended:
        counts = [int(count) for _, count in lists]
        return ranks, buffers.integers(counts, f"{name}'s counts", np.intc), None
    places = [buffers.integers(p, f"places of {name}", np.intc) for _, p in lists]
    counts_of = buffers.integers([len(p) for p in places], "counts", np.intc)
    return ranks, counts_of, np.concatenate([np.empty(0, np.intc), *places])


def _box_cells(cart: MPI.Comm, cells: Sequence[int]) -> tuple[np.ndarray]:
    """One number per dimension; other communicators than Cartesian ones are refused by C."""
    return (buffers.integers(cells, "cells", np.intc, dimensions(cart)),)
