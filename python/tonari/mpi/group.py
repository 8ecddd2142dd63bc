# SPDX-License-Identifier: BSD-3-Clause
"""Many exchanges in one, with one message per neighbor.

>>> with tonari.mpi.Group(comm) as group:
...     near.alltoall_init(send, recv)
...     vector.forward_init(x, ghosts)
...     grid.exchange_init(0)
>>> group.request.start()
>>> group.request.wait()
"""

from __future__ import annotations

from types import TracebackType

from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import calls
from tonari.mpi.calls import Info
from tonari.mpi.library import call, created, handle_of, refuse
from tonari.mpi.request import Bound, Request, collected

ENDS = ("request", "start", "run")


class Group:
    """What the block of a `with` would make persistent requests of, by calls with _init, becomes
    one exchange. Those calls take no info, and what they return cannot be started.

    comm  of the ranks that exchange; all make the same calls in the same order
    info  keys for the exchange as a whole: a mapping or MPI.Info
    then  what the end of the block does: "request" makes `group.request`; "start" makes one that
          has started and is complete once; "run" exchanges, and makes none

    The block belongs to one thread, and groups do not nest. Mistakes of any rank are found at its
    end, on all ranks. See group.h.
    """

    def __init__(self, comm: MPI.Comm, info: Info = None, then: str = "request") -> None:
        if then not in ENDS:
            raise Error(f"then is {then!r}; it must be one of {', '.join(ENDS)}", ARGUMENT)
        self._comm, self._info, self._then = comm, info, then
        self._members: list[Bound] = []
        self._request: Request | None = None

    @property
    def request(self) -> Request:
        """The exchange of all, after the end of the block."""
        if self._request is None:
            raise Error("the group has no request: it is not closed, or was run", ARGUMENT)
        return self._request

    def __enter__(self) -> Group:
        call("group_start", handle_of(self._comm))
        collected.append(self._members)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Where a rank leaves by an exception, the group fails on the others, too."""
        collected.pop()
        if kind is not None:
            self._give_up()
        elif self._then == "run":
            with calls.info_handle(self._info) as keys:
                call("group_run", keys)
        else:
            name = "group_end" if self._then == "request" else "group_irun"
            with calls.info_handle(self._info) as keys:
                handle = created(name, keys)
            kept = tuple(self._members)
            self._request = Request(handle, Bound(kept), f"group of {len(kept)} calls")

    def _give_up(self) -> None:
        try:
            refuse(ARGUMENT, "the group was given up: an exception left its block")
            with calls.info_handle(None) as keys:
                call("group_end", keys, None)
        except Error:
            pass  # the exception at hand says why
