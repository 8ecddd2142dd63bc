# SPDX-License-Identifier: BSD-3-Clause
"""Messages to ranks that do not expect them.

>>> got = tonari.mpi.sparse_alltoallv([3, 7], [values, [10, 20]], comm)
>>> for source, part in got:
...     use(source, part)
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import buffers, calls, library, messages, prototypes
from tonari.mpi.calls import Info
from tonari.mpi.library import call, created, handle_of
from tonari.mpi.request import Bound, Request, shared_array

_BYTE = handle_of(MPI.BYTE)


class Messages:
    """What came: pairs of a rank and a read-only array on memory of the library, by rank; those of
    one rank in the order in which it listed them.

    Elements have the type of what this rank sends. Arrays stay valid as long as they are used.
    """

    def __init__(self, dtype: np.dtype, element: int) -> None:
        """For elements of so many bytes. A call fills `_slot`."""
        self._slot = ctypes.c_void_p()
        self._dtype, self._element = dtype, element

    def _came(self) -> Any:
        if not self._slot.value:
            raise Error("the messages have not come yet: wait for the request first", ARGUMENT)
        return prototypes.Messages.from_address(self._slot.value)

    def _list(self, address: int, kind: Any, dtype: type) -> np.ndarray:
        count = self._came().count
        size = count * ctypes.sizeof(kind)
        array = shared_array(self, address or 0, size, (count,), np.dtype(dtype))
        array.flags.writeable = False
        return array

    @property
    def sources(self) -> np.ndarray:
        """The sender of each message, ascending."""
        return self._list(self._came().sources, ctypes.c_int, np.intc)

    @property
    def counts(self) -> np.ndarray:
        """How many elements each has."""
        return self._list(self._came().counts, ctypes.c_int64, np.int64)

    @property
    def data(self) -> np.ndarray:
        """All elements, one message behind the other."""
        came = self._came()
        size = came.total * self._element
        shape = (size // self._dtype.itemsize,)
        array = shared_array(self, came.data or 0, size, shape, self._dtype)
        array.flags.writeable = False
        return array

    @property
    def algorithm(self) -> str:
        """What carried them."""
        return str(self._came().algorithm.decode())

    def __len__(self) -> int:
        return int(self._came().count)

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        ends = np.cumsum(self.counts * (self._element // self._dtype.itemsize))
        parts = np.split(self.data, ends[:-1]) if len(ends) else []
        return iter(zip(self.sources.tolist(), parts, strict=True))

    def __repr__(self) -> str:
        if not self._slot.value:
            return "<tonari Messages: not here yet>"
        came = self._came()
        return (
            f"<tonari Messages: {came.count} from {len(np.unique(self.sources))} ranks,"
            f" {came.total} elements of {self._dtype}, {self.algorithm}>"
        )

    def __del__(self) -> None:
        if self._slot.value and not MPI.Is_finalized():
            library.freed("messages_free", self._slot.value)


class SparseRequest(Request):
    """A sparse exchange in flight. It cannot be started again."""

    __slots__ = ("messages",)
    messages: Messages
    """What came, once it is complete."""


@dataclass
class _Sent:
    arguments: tuple[Any, ...]
    kept: tuple[Any, ...]
    came: Messages


def _read(destinations: Any, send: Any) -> _Sent:
    ranks = buffers.integers(destinations, "destinations", np.intc)
    side = messages.vector(send, len(ranks), "send", False)
    side.wait_for_streams("send")
    array, counts, displs = side.kept
    kind = messages.parts(send, "send", False)[2]
    element = kind.Get_size()
    dtype = array.dtype if element % array.dtype.itemsize == 0 else np.dtype(np.uint8)
    numbers = counts.astype(np.int64)
    pointers = (*map(buffers.address, (ranks, numbers, displs)), handle_of(kind))
    arguments = (len(ranks), *pointers, array.address)
    return _Sent(arguments, (array, ranks, numbers, displs), Messages(dtype, element))


def _called(destinations: Any, send: Any) -> tuple[_Sent, Any]:
    nothing = Messages(np.dtype(np.uint8), 1)
    refused = _Sent((-1, None, None, None, _BYTE, None), (), nothing)
    return calls.together(lambda: _read(destinations, send), refused)


def sparse_alltoallv(destinations: Any, send: Any, comm: MPI.Comm, info: Info = None) -> Messages:
    """Sends message i to the rank destinations[i], and returns what was sent to this rank.

    send  [array, counts] or [array, (counts, displs)], maybe with a type. All ranks must send
          elements of equally many bytes, also those that send nothing: [np.empty(0), []].
    info  tonari_algorithm: a mapping or MPI.Info

    Collective over comm. See tonari_sparse_alltoallv in sparse.h.
    """
    sent, complain = _called(destinations, send)
    place = ctypes.addressof(sent.came._slot)
    with calls.complaining(complain), calls.info_handle(info) as keys:
        call("sparse_alltoallv", *sent.arguments, handle_of(comm), keys, place)
    return sent.came


def isparse_alltoallv(
    destinations: Any, send: Any, comm: MPI.Comm, info: Info = None
) -> SparseRequest:
    """As sparse_alltoallv, without waiting: request.messages has what came when it is complete. The
    array must not change until then."""
    sent, complain = _called(destinations, send)
    place = ctypes.addressof(sent.came._slot)
    with calls.complaining(complain), calls.info_handle(info) as keys:
        handle = created("sparse_ialltoallv", *sent.arguments, handle_of(comm), keys, place)
        # before a mistake is told of, as other ranks wait for this exchange
        request = SparseRequest(handle, Bound((sent.kept, sent.came)), "sparse_alltoallv")
    request.messages = sent.came
    return request
