# SPDX-License-Identifier: BSD-3-Clause
"""All-to-all exchanges in place between all ranks of a communicator, in bounded memory.

Block j of `buf` goes to rank j, and what rank j had for this rank takes its place. Each function
has three forms, as the operations of neighborhoods: alltoall_inplace returns when it is complete,
ialltoall_inplace returns a Request that is started already, alltoall_inplace_init one to start as
often as you like. `buf` is

    alltoall_inplace            an array, or [array, count, type]
    alltoallv_inplace           [array, counts] or [array, (counts, displs)], maybe with a type
    alltoallw_inplace           [array, (counts, displs), types], displacements in bytes
    alltoallv_inplace_general   [array, (sendcounts, senddispls), (recvcounts, recvdispls)]

and info has keys such as tonari_inplace_memory, the bytes of temporary memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import calls, messages
from tonari.mpi.calls import Info
from tonari.mpi.library import call, created, handle_of
from tonari.mpi.messages import Side
from tonari.mpi.request import Bound, Request

_BYTE = handle_of(MPI.BYTE)


def _general(spec: Any, ranks: int, name: str, written: bool) -> Side:
    if len(spec) not in (3, 4):
        raise Error(f"{name} must read [array, (counts, displs), (counts, displs)]", ARGUMENT)
    array, send, recv, *kind = spec
    out, into = (messages.vector([array, part, *kind], ranks, name, True) for part in (send, recv))
    address, *places, handle = out.arguments
    return Side((address, *places, *into.arguments[1:3], handle), (*out.kept, *into.kept), None, -1)


_FORMS: dict[str, tuple[Callable[..., Side], tuple[Any, ...]]] = {
    "alltoall_inplace": (messages.equal, (None, -1, _BYTE)),
    "alltoallv_inplace": (messages.vector, (None, None, None, _BYTE)),
    "alltoallw_inplace": (messages.full, (None, None, None, None)),
    "alltoallv_inplace_general": (_general, (None, None, None, None, None, _BYTE)),
}


class _Call:
    """at_once: it exchanges before it returns."""

    def __init__(self, name: str, buf: Any, comm: MPI.Comm, at_once: bool) -> None:
        read, refused = _FORMS[name]
        ranks = comm.size if comm != MPI.COMM_NULL else 0

        def look() -> Side:
            side = read(buf, ranks, "buf", True)
            if at_once:
                side.wait_for_streams("buf")
            return side

        side, self.complain = calls.together(look, Side(refused, (), None))
        self.arguments = (*side.arguments, handle_of(comm))
        self.bound = Bound(side.kept)


def _once(name: str, buf: Any, comm: MPI.Comm, info: Info) -> None:
    made = _Call(name, buf, comm, at_once=True)
    with calls.complaining(made.complain), calls.info_handle(info) as keys:
        call(name, *made.arguments, keys)


def _request(form: str, name: str, buf: Any, comm: MPI.Comm, info: Info) -> Request:
    made = _Call(name, buf, comm, at_once=form == f"i{name}")
    with calls.complaining(made.complain), calls.info_handle(info) as keys:
        handle = created(form, *made.arguments, keys)
    return Request(handle, made.bound, name)


def alltoall_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> None:
    """Blocks of one size. buf: shape (ranks, ...), or any contiguous array of as many elements."""
    _once("alltoall_inplace", buf, comm, info)


def ialltoall_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoall_inplace; complete it with test or wait."""
    return _request("ialltoall_inplace", "alltoall_inplace", buf, comm, info)


def alltoall_inplace_init(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoall_inplace; start it as often as you like."""
    return _request("alltoall_inplace_init", "alltoall_inplace", buf, comm, info)


def alltoallv_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> None:
    """Blocks of any sizes, the same for both ranks of a pair; displacements in elements."""
    _once("alltoallv_inplace", buf, comm, info)


def ialltoallv_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallv_inplace; complete it with test or wait."""
    return _request("ialltoallv_inplace", "alltoallv_inplace", buf, comm, info)


def alltoallv_inplace_init(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallv_inplace; start it as often as you like."""
    return _request("alltoallv_inplace_init", "alltoallv_inplace", buf, comm, info)


def alltoallw_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> None:
    """Blocks of any types; displacements in bytes."""
    _once("alltoallw_inplace", buf, comm, info)


def ialltoallw_inplace(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallw_inplace; complete it with test or wait."""
    return _request("ialltoallw_inplace", "alltoallw_inplace", buf, comm, info)


def alltoallw_inplace_init(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallw_inplace; start it as often as you like."""
    return _request("alltoallw_inplace_init", "alltoallw_inplace", buf, comm, info)


def alltoallv_inplace_general(buf: Any, comm: MPI.Comm, info: Info = None) -> None:
    """What is sent and what is received differ in sizes and places, which may overlap."""
    _once("alltoallv_inplace_general", buf, comm, info)


def ialltoallv_inplace_general(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallv_inplace_general; complete it with test or wait."""
    return _request("ialltoallv_inplace_general", "alltoallv_inplace_general", buf, comm, info)


def alltoallv_inplace_general_init(buf: Any, comm: MPI.Comm, info: Info = None) -> Request:
    """As alltoallv_inplace_general; start it as often as you like."""
    return _request("alltoallv_inplace_general_init", "alltoallv_inplace_general", buf, comm, info)
