# SPDX-License-Identifier: BSD-3-Clause
"""Requests: exchanges that are started, tested and waited for."""

from __future__ import annotations

import ctypes
import dataclasses
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import library, pictures, prototypes, streams
from tonari.mpi.library import call, fail
from tonari.mpi.memory import Memory, contiguous

# Called by name, since calls through a table would take a third of the time more.
_start = library.function("start")
_wait = library.function("wait")
_start_on = library.function("start_on")
_wait_on = library.function("wait_on")
_test = library.function("test")


@dataclass(frozen=True)
class RequestInfo:
    """What was chosen for a request, and why; see tonari_request_info in tonari.h.

    Times are in seconds. messages and bytes are those that this rank sends in one exchange.
    """

    algorithm: str
    variant: str
    channel: str
    channel_detail: str
    reason: str
    predicted_seconds: float
    init_seconds: float
    measured_seconds: float
    messages: int
    rounds: int
    bytes: int
    scratch_bytes: int
    lost_seconds: float
    ranks_per_core: int


class _Collected(threading.local):
    """What the calls in the block of a group bind, of each thread."""

    def __init__(self) -> None:
        self.lists: list[list[Bound]] = []

    def append(self, members: list[Bound]) -> None:
        self.lists.append(members)

    def pop(self) -> None:
        self.lists.pop()


collected = _Collected()


@dataclass(frozen=True)
class Bound:
    """What an exchange reads and writes: its memory, and what other memory must be like to take its
    place."""

    kept: tuple[Any, ...]
    dtypes: tuple[np.dtype | None, ...] = ()
    nbytes: tuple[int, ...] = ()  # -1: it cannot be replaced
    maker: Any = None  # what stands for the grid or the blocks whose arrays they are


class Request:
    """An exchange. `start` it as often as you like, and `wait` for each start; those of calls with
    an i in front have been started already, once for all.

    It keeps the arrays that it was made with, or started with last. Between start and completion
    they must not be changed. One thread at a time may use a request; while it waits, other threads
    run. `free`, or the end of a `with` block, or that of the last reference, frees it; what is
    active then is waited for, since other ranks may depend on it.
    """

    __slots__ = ("_bound", "_handle", "_origin", "_what", "__weakref__")

    def __init__(
        self, handle: int, bound: Bound, what: str, origin: Callable[[], Any] | None = None
    ) -> None:
        """Takes over a handle, which is 0 in a group. origin: the plan of the neighborhood, for
        pictures."""
        self._handle = handle
        self._bound: Any = bound
        self._what = what
        self._origin = origin
        if not handle and collected.lists:
            collected.lists[-1].append(bound)

    def start(self, stream: Any = None) -> None:
        """Starts the exchange and returns at once. Every rank of the neighborhood must start it.

        stream  of the GPU that has the arrays: takes what is sent behind all that this stream
                holds. A handle, or a stream of PyTorch, CuPy or any other with __cuda_stream__.
                None: what writes the arrays is complete already.

        See tonari_start_on.
        """
        if stream is None:
            code = _start(self._handle)
        else:
            code = _start_on(self._handle, streams.handle_of(stream))
        if code:
            fail(code)

    def wait(self, stream: Any = None) -> None:
        """Returns when the exchange is complete on this rank; at once if it was not started.

        stream  of a GPU, as for start: what it gets from now on sees what has come. The GPU may
                still be copying that when this returns.
        """
        if stream is None:
            code = _wait(self._handle)
        else:
            code = _wait_on(self._handle, streams.handle_of(stream))
        if code:
            fail(code)

    def test(self) -> bool:
        """Whether the exchange is complete. Never blocks. Exchanges proceed in test and wait, so
        that every rank that has started must go on to one of them."""
        flag = ctypes.c_int()
        if code := _test(self._handle, ctypes.byref(flag)):
            fail(code)
        return flag.value != 0

    def start_with(self, send: Any, recv: Any) -> None:
        """Starts the exchange with other arrays, which stay bound: a later `start` uses them.

        send, recv  contiguous, of the types and at least of the sizes of those at init; of vectors
                    in the order in which init takes them

        Local; but either all ranks start an exchange so, or none. Where it fails (ARGUMENT,
        BUFFERS) nothing was started, and the arrays of before stay bound. Of arrays of a GPU, this
        waits for the streams that they come with.
        """
        bound = self._bound
        if bound is None:
            raise Error(f"{self._what} was freed", ARGUMENT)
        arrays = [self._replacement(thing, k) for k, thing in enumerate((send, recv))]
        call("start_with", self._handle, *[array.address for array in arrays])
        self._bound = Bound(tuple(arrays), bound.dtypes, bound.nbytes)

    def _replacement(self, thing: Any, k: int) -> Memory:
        name = ("send", "recv")[k]
        if not self._bound.nbytes or self._bound.nbytes[k] < 0:
            raise Error(
                f"{self._what} cannot be started with other arrays: it is bound to those of init",
                ARGUMENT,
            )
        array = contiguous(thing, name, written=k == 1)
        dtype, nbytes = self._bound.dtypes[k], self._bound.nbytes[k]
        if array.dtype != dtype:
            raise Error(f"{name} has elements of {array.dtype}; at init it was {dtype}", ARGUMENT)
        if array.nbytes < nbytes:
            raise Error(f"{name} has {array.nbytes} bytes; {nbytes} are needed", BUFFERS)
        array.wait_for_stream(name)
        return array

    def check_maker(self, maker: Any, what: str) -> None:
        """An exchange of others may read more arrays than this one has."""
        if self._bound is None or self._bound.maker is not maker:
            raise Error(
                f"the request ({self._what}) is no exchange of {what}, or was freed", ARGUMENT
            )

    def free(self) -> None:
        """Frees it at once. Local. Error with code ACTIVE if the exchange is not complete; after
        that the request is as before."""
        if self._handle:
            library.freed("request_free", self._handle)
            self._handle, self._bound = 0, None

    def __enter__(self) -> Request:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._finish()

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._finish()

    def _finish(self) -> None:
        """After MPI.Finalize nothing can be waited for, and nothing has to be freed."""
        if self._handle and not MPI.Is_finalized():
            _wait(self._handle)
            handle, self._handle = self._handle, 0
            library.freed("request_free", handle)
        self._handle, self._bound = 0, None

    def recv_view(self, block: int) -> np.ndarray:
        """Where receive block `block` can be read until the next start, as read-only bytes of shape
        (bytes,). With info={"tonari_recv_view": "yes"} blocks that came through shared memory are
        not copied to the receive buffer; see tonari_request_recv_view."""
        address, count = ctypes.c_void_p(), ctypes.c_int64()
        call("request_recv_view", self._handle, block, *map(ctypes.addressof, (address, count)))
        size = count.value
        array = shared_array(self, address.value or 0, size, (size,), np.dtype(np.uint8))
        array.flags.writeable = False
        return array

    def describe(self) -> str:
        """What was chosen, from what, and why: a few lines."""
        text = library.describe_request(self._handle)
        return text.decode() if text else ""

    @property
    def info(self) -> RequestInfo:
        """The same for programs."""
        c = prototypes.RequestInfo()
        call("request_get_info", self._handle, ctypes.addressof(c))
        values: dict[str, Any] = {
            field.name: getattr(c, field.name) for field in dataclasses.fields(RequestInfo)
        }
        for name, value in values.items():
            values[name] = value.decode() if isinstance(value, bytes) else value
        return RequestInfo(**values)

    def __repr__(self) -> str:
        if not self._handle:
            state = "freed" if self._bound is None else "part of a group"
            return f"<tonari {self._what}: {state}>"
        info = self.info
        words = [info.algorithm, info.variant]
        if info.channel:
            words += ["by", info.channel, info.channel_detail]
        chosen = " ".join(filter(None, words))
        sent = f"{pictures.counted(info.messages, 'message')}, {info.bytes} bytes"
        return f"<tonari {self._what}: {chosen} ({info.reason}), sends {sent}>"

    def _repr_html_(self) -> str:
        near = self._origin() if self._handle and self._origin else None
        info = self.info if near is not None else None
        drawn = info and pictures.rounds(near, self._what, info.algorithm, info.variant)
        return pictures.html(repr(self), drawn or "")


def shared_array(
    owner: Any,
    address: int,
    nbytes: int,
    shape: tuple[int, ...],
    dtype: np.dtype,
    strides: tuple[int, ...] | None = None,
) -> np.ndarray:
    """An array on memory of the library, which its owner keeps; the array keeps the owner."""
    held: Any = (ctypes.c_char * nbytes).from_address(address)
    held.owner = owner
    return np.ndarray(shape, dtype, held, strides=strides)


def _handles(requests: Iterable[Request]) -> tuple[int, Any]:
    handles = [request._handle for request in requests]
    return len(handles), (ctypes.c_void_p * len(handles))(*handles)


def startall(requests: Iterable[Request]) -> None:
    """Starts all of them."""
    count, handles = _handles(requests)
    call("startall", count, handles)


def waitall(requests: Iterable[Request]) -> None:
    """Waits for all of them, which proceed together, so that any order is fine."""
    count, handles = _handles(requests)
    call("waitall", count, handles)
