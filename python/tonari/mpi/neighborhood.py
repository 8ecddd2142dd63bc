# SPDX-License-Identifier: BSD-3-Clause
"""Neighborhoods on communicators of mpi4py, and the six operations on them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import buffers, calls, messages, pictures
from tonari.mpi.calls import Info
from tonari.mpi.lifetime import Collective
from tonari.mpi.library import call, created, handle_of
from tonari.mpi.messages import Side
from tonari.mpi.request import Bound, Request

Offsets = str | Sequence[Sequence[int]] | np.ndarray
REFUSED = Side((None, -1, handle_of(MPI.BYTE)), (), None)
REFUSED_LISTS = Side((None, None, None, handle_of(MPI.BYTE)), (), None)
REFUSED_TYPES = Side((None, None, None, None), (), None)
# How many blocks, how they are read, and what stands for a mistake: of what is sent and received.
_EQUAL = (messages.equal, REFUSED)
_VECTOR = (messages.vector, REFUSED_LISTS)
_FULL = (messages.full, REFUSED_TYPES)
_SIDES = {
    "alltoall": (_EQUAL, _EQUAL),
    "alltoallv": (_VECTOR, _VECTOR),
    "alltoallw": (_FULL, _FULL),
    "allgather": (_EQUAL, _EQUAL),
    "allgatherv": (_EQUAL, _VECTOR),
    "allgatherw": (_EQUAL, _FULL),
}


class Neighborhood(Collective):
    """Who sends to whom: on every rank of a Cartesian communicator the same offsets, or any graph.

    Blocks, their order and MPI.PROC_NULL mean what they mean in MPI's neighborhood collectives.
    Send block i goes to targets[i]; receive block j comes from sources[j].

    The six operations come in three forms, with the same arguments:

        near.alltoall(send, recv)        returns when the exchange is complete on this rank
        near.ialltoall(send, recv)       returns a Request that is started already
        near.alltoall_init(send, recv)   returns a Request to start as often as you like

    What `send` and `recv` may be says tonari.mpi.messages: arrays, or lists as in mpi4py. All
    calls are collective, and so are creating and `free`; what is wrong on one rank is an Error on
    all. Requests may live longer than their neighborhood.

    cart     communicator with a Cartesian topology of d dimensions, 1 to 8
    offsets  s rows of d offsets, the same on all ranks, or the name of a pattern ("moore:3:1")
    info     keys for all requests on it (docs/settings.md), and promises: a mapping or MPI.Info
    """

    _freed_by = "neighborhood_free"

    def __init__(self, cart: MPI.Comm, offsets: Offsets, info: Info = None) -> None:
        read, complain = calls.together(lambda: _offsets(cart, offsets), np.empty(0, np.intc))
        with calls.complaining(complain), calls.info_handle(info) as keys:
            s = -1 if complain is not calls._nothing else len(read)
            handle = created(
                "neighborhood_create_cart", handle_of(cart), s, buffers.address(read), keys
            )
        self._take(handle)
        self._plan: Any = _planned(cart, read)

    @classmethod
    def adjacent(
        cls,
        comm: MPI.Comm,
        sources: Sequence[int],
        destinations: Sequence[int],
        info: Info = None,
        *,
        weights: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> Neighborhood:
        """Any directed graph: receive block j comes from sources[j], send block i goes to
        destinations[i]; both ends of an edge list it.

        weights  of sources and of destinations; for cdag_exact_byte_communications
        """

        def read() -> list[np.ndarray]:
            ends = [("sources", sources), ("destinations", destinations)]
            ranks = [buffers.integers(end, name, np.intc) for name, end in ends]
            given = weights if weights is not None else [np.ones(len(r), np.intc) for r in ranks]
            lists = zip(given, ranks, strict=True)
            return ranks + [buffers.integers(w, "weights", np.intc, len(r)) for w, r in lists]

        none = np.empty(0, np.intc)
        lists, complain = calls.together(read, [none] * 4)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            sizes = [-1 if complain is not calls._nothing else len(end) for end in lists[:2]]
            at = [buffers.address(entries) for entries in lists]
            graph = (sizes[0], at[0], at[2], sizes[1], at[1], at[3])
            handle = created("neighborhood_create_adjacent", handle_of(comm), *graph, keys)
        return cls._made(handle)

    @classmethod
    def from_destinations(
        cls, comm: MPI.Comm, destinations: Sequence[int], info: Info = None
    ) -> Neighborhood:
        """The same where no rank knows who sends to it; `sources` tells afterwards."""
        read, complain = calls.together(
            lambda: buffers.integers(destinations, "destinations", np.intc), np.empty(0, np.intc)
        )
        with calls.complaining(complain), calls.info_handle(info) as keys:
            count = -1 if complain is not calls._nothing else len(read)
            arguments = (handle_of(comm), count, buffers.address(read), keys)
            handle = created("neighborhood_create_from_destinations", *arguments)
        return cls._made(handle)

    @classmethod
    def from_comm(cls, comm: MPI.Comm, info: Info = None) -> Neighborhood:
        """That of a communicator with a Cartesian, graph or distributed-graph topology."""
        with calls.info_handle(info) as keys:
            return cls._made(created("neighborhood_create_from_comm", handle_of(comm), keys))

    @classmethod
    def _made(cls, handle: int) -> Neighborhood:
        near = cls.__new__(cls)
        near._take(handle)
        near._plan = None
        return near

    def _take(self, handle: int) -> None:
        self._handle = handle
        degrees = [ctypes.c_int(), ctypes.c_int()]
        call("neighborhood_degrees", handle, *map(ctypes.addressof, degrees))
        lists = [np.empty(degree.value, np.intc) for degree in reversed(degrees)]
        call("neighborhood_ranks", handle, *map(buffers.address, lists))
        self.targets, self.sources = ([int(rank) for rank in ranks] for ranks in lists)

    targets: list[int]
    """The rank that each send block goes to; MPI.PROC_NULL where there is none."""
    sources: list[int]
    """The rank that each receive block comes from."""

    @property
    def plan(self) -> Any:
        """The same as a tonari.Neighborhood, which plans without MPI; None for a graph."""
        return self._plan

    # ---- operations

    def alltoall(self, send: Any, recv: Any) -> None:
        """A block of one size for each neighbor. send: shape (len(targets), ...), recv: shape
        (len(sources), ...), or any contiguous arrays of as many elements."""
        self._once("alltoall", send, recv)

    def ialltoall(self, send: Any, recv: Any) -> Request:
        """As alltoall; complete it with test or wait."""
        return self._begun("alltoall", send, recv)

    def alltoall_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As alltoall; start it as often as you like."""
        return self._init("alltoall", send, recv, info)

    def alltoallv(self, send: Any, recv: Any) -> None:
        """Blocks of any sizes: [array, counts], [array, (counts, displs)], displacements in
        elements, and maybe a type."""
        self._once("alltoallv", send, recv)

    def ialltoallv(self, send: Any, recv: Any) -> Request:
        """As alltoallv; complete it with test or wait."""
        return self._begun("alltoallv", send, recv)

    def alltoallv_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As alltoallv; start it as often as you like."""
        return self._init("alltoallv", send, recv, info)

    def alltoallw(self, send: Any, recv: Any) -> None:
        """Blocks of any sizes and types, anywhere: a list of arrays, one per neighbor, which may be
        strided views (send=[u[1], u[:, 1], ...]); or [array, (counts, displs), types],
        displacements in bytes."""
        self._once("alltoallw", send, recv)

    def ialltoallw(self, send: Any, recv: Any) -> Request:
        """As alltoallw; complete it with test or wait."""
        return self._begun("alltoallw", send, recv)

    def alltoallw_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As alltoallw; start it as often as you like."""
        return self._init("alltoallw", send, recv, info)

    def allgather(self, send: Any, recv: Any) -> None:
        """One block for all neighbors. send: an array; recv: shape (len(sources), ...)."""
        self._once("allgather", send, recv)

    def iallgather(self, send: Any, recv: Any) -> Request:
        """As allgather; complete it with test or wait."""
        return self._begun("allgather", send, recv)

    def allgather_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As allgather; start it as often as you like."""
        return self._init("allgather", send, recv, info)

    def allgatherv(self, send: Any, recv: Any) -> None:
        """One block for all neighbors; recv as in alltoallv."""
        self._once("allgatherv", send, recv)

    def iallgatherv(self, send: Any, recv: Any) -> Request:
        """As allgatherv; complete it with test or wait."""
        return self._begun("allgatherv", send, recv)

    def allgatherv_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As allgatherv; start it as often as you like."""
        return self._init("allgatherv", send, recv, info)

    def allgatherw(self, send: Any, recv: Any) -> None:
        """One block for all neighbors; recv as in alltoallw."""
        self._once("allgatherw", send, recv)

    def iallgatherw(self, send: Any, recv: Any) -> Request:
        """As allgatherw; complete it with test or wait."""
        return self._begun("allgatherw", send, recv)

    def allgatherw_init(self, send: Any, recv: Any, info: Info = None) -> Request:
        """As allgatherw; start it as often as you like."""
        return self._init("allgatherw", send, recv, info)

    def _once(self, name: str, send: Any, recv: Any) -> None:
        with _Call(self, name, send, recv, at_once=True) as sides:
            call(name, *sides.arguments, self._handle)

    def _begun(self, name: str, send: Any, recv: Any) -> Request:
        with _Call(self, name, send, recv, at_once=True) as sides:
            handle = created(f"i{name}", *sides.arguments, self._handle)
        return Request(handle, Bound(sides.kept), name, self._planned)

    def _init(self, name: str, send: Any, recv: Any, info: Info) -> Request:
        with _Call(self, name, send, recv, at_once=False) as sides, calls.info_handle(info) as keys:
            handle = created(f"{name}_init", *sides.arguments, self._handle, keys)
        return Request(handle, sides.bound, name, self._planned)

    @property
    def _planned(self) -> Callable[[], Any]:
        plan = self._plan
        return lambda: plan

    def __repr__(self) -> str:
        if not self._handle:
            return "<tonari Neighborhood: freed>"
        kind = "any graph" if self._plan is None else pictures.what(self._plan)
        degrees = f"sends to {_there(self.targets)}, receives from {_there(self.sources)}"
        return f"<tonari Neighborhood: {kind}; this rank {degrees}>"

    def _repr_html_(self) -> str:
        drawn = self._plan is not None and pictures.fastest_rounds(self._plan)
        return pictures.html(repr(self), drawn or "")


class _Call:
    """The arguments of one operation, read as far as this rank can; around the collective call.

    at_once: it exchanges before it returns, so what is under way on a GPU is waited for.
    """

    def __init__(self, near: Neighborhood, name: str, send: Any, recv: Any, at_once: bool) -> None:
        near._check_alive()
        (read_send, no_send), (read_recv, no_recv) = _SIDES[name]
        outgoing = 1 if name.startswith("allgather") else len(near.targets)
        self._sides: list[Side] = []

        def read() -> list[Side]:
            self._sides.append(read_send(send, outgoing, "send", False))
            self._sides.append(read_recv(recv, len(near.sources), "recv", True))
            if at_once:
                for side, argument in zip(self._sides, ("send", "recv"), strict=True):
                    side.wait_for_streams(argument)
            return self._sides

        sides, complain = calls.together(read, [no_send, no_recv])
        self.arguments = tuple(argument for side in sides for argument in side.arguments)
        self.kept = tuple(side.kept for side in sides)
        dtypes = tuple(side.dtype for side in sides)
        self.bound = Bound(self.kept, dtypes, tuple(side.nbytes for side in sides))
        self._guard = calls.complaining(complain)

    def __enter__(self) -> _Call:
        self._guard.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        for side in self._sides:
            side.close()
        self._guard.__exit__(*error)


def _offsets(cart: MPI.Comm, offsets: Offsets) -> np.ndarray:
    """Shape (s, d)."""
    if isinstance(offsets, str):
        from tonari.neighborhood import neighborhood

        array = np.asarray(neighborhood(offsets).offsets)
    else:
        array = np.asarray(offsets)
    d = dimensions(cart)
    if array.size == 0:
        return np.empty((0, d or 1), np.intc)
    if array.ndim != 2 or array.dtype.kind not in "iu" or (d and array.shape[1] != d):
        what = f"offsets ({offsets})" if isinstance(offsets, str) else "offsets"
        raise Error(
            f"{what} has shape {array.shape} and type {array.dtype}; it must be integers of shape"
            f" (neighbors, {d or 'dimensions'})",
            ARGUMENT,
        )
    return buffers.narrowed(array, "offsets", np.intc)


def dimensions(comm: MPI.Comm) -> int | None:
    """None if it is not Cartesian."""
    if comm == MPI.COMM_NULL or comm.Get_topology() != MPI.CART:
        return None
    return MPI.Cartcomm(comm).Get_dim()


def _planned(cart: MPI.Comm, offsets: np.ndarray) -> Any:
    from tonari.neighborhood import Neighborhood as Planned

    dims, periods, _ = MPI.Cartcomm(cart).Get_topo()
    return Planned(offsets, tuple(dims), tuple(map(bool, periods)))


def _there(ranks: list[int]) -> int:
    return sum(rank != MPI.PROC_NULL for rank in ranks)
