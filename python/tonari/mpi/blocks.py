# SPDX-License-Identifier: BSD-3-Clause
"""Grids of any boxes, each with an owner: patches of one level of refinement, or a domain that is
no box (blocks.h).

>>> boxes = [[(0, 0), (8, 8)], [(8, 0), (12, 4)]]  # first cells, and those behind the last
>>> with tonari.mpi.Blocks(comm, boxes, owners=[0, 1], halo=1) as blocks:
...     arrays = blocks.zeros()
...     blocks.forward(arrays)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import buffers, calls, prototypes
from tonari.mpi.calls import Info
from tonari.mpi.grid_shape import ORDERS, Box, Ghosts, chosen, fill, one_of, widths
from tonari.mpi.library import BlocksShape, call, created, handle_of
from tonari.mpi.lifetime import Collective
from tonari.mpi.memory import on_host
from tonari.mpi.request import Bound, Request


class Blocks(Collective):
    """Boxes of cells of one grid, which share no cell and may leave gaps. A rank has an array for
    each field of each of its blocks, with ghost cells around.

    An exchange fills ghosts that are own cells of some block, and leaves the others alone.

    boxes     of all ranks: anything of shape (blocks, 2, dims): first cells, and the ends behind
              the last ones
    owners    of each block: a rank
    halo      ghost cells on every side: one number, one per dimension, or pairs (lower, upper)
    dtype     of a cell
    domain    shape (2, dims): the whole grid, where it is periodic
    periodic  one per dimension, or one for all
    fields    arrays of each block; order: "C" or "F"
    """

    _freed_by = "blocks_free"

    def __init__(
        self,
        comm: MPI.Comm,
        boxes: Any,
        owners: Any,
        halo: int | Sequence[int] | Sequence[tuple[int, int]] = 1,
        dtype: DTypeLike = float,
        *,
        domain: Any = None,
        periodic: bool | Sequence[bool] = False,
        fields: int = 1,
        order: str = "C",
        info: Info = None,
    ) -> None:
        def read() -> tuple[Any, ...]:
            self.dtype, self.fields = np.dtype(dtype), fields
            ends = _corners(boxes, "boxes", 3)
            d = ends.shape[2]
            ranks = buffers.integers(owners, "owners", np.intc, len(ends))
            lower, upper = widths(halo, d)
            circular = (periodic,) * d if isinstance(periodic, bool) else tuple(periodic)
            shape = BlocksShape(dims=d, count=len(ends))
            shape.fields = buffers.one_integer(fields, "fields")
            shape.order = one_of("order", order, ORDERS)
            shape.type = handle_of(buffers.mpi_type(self.dtype))
            fill(shape, d, periodic=list(map(int, circular)), lower=lower, upper=upper)
            if domain is not None:
                first, end = _corners(domain, "domain", 2)
                fill(shape.domain, d, first=first, end=end)
            each = (prototypes.Box * max(len(ends), 1))()
            for made, (first, end) in zip(each, ends, strict=False):
                fill(made, d, first=first, end=end)
            shape.boxes, shape.owners = ctypes.addressof(each), buffers.address(ranks)
            return shape, each, ranks

        refused: tuple[Any, ...] = (BlocksShape(dims=-1),)
        (shape, *_kept), complain = calls.together(read, refused)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            at = ctypes.addressof(shape)
            self._handle = created("blocks_create", handle_of(comm), at, keys)
        self._mark = object()
        self.dims = shape.dims
        self.count = shape.count
        self.own = self._own()

    dims: int
    count: int
    """Blocks of all ranks."""
    own: list[int]
    """Numbers of this rank's blocks, ascending."""

    def _own(self) -> list[int]:
        count = ctypes.c_int64()
        call("blocks_get_own", self._handle, ctypes.addressof(count), None)
        numbers = (ctypes.c_int64 * max(count.value, 1))()
        call("blocks_get_own", self._handle, ctypes.addressof(count), ctypes.addressof(numbers))
        return list(numbers[: count.value])

    # ---- arrays

    def _layout(self, block: int) -> Any:
        self._check_alive()
        made = prototypes.Array()
        call("blocks_get_array", self._handle, block, ctypes.addressof(made))
        return made

    def shape(self, block: int) -> tuple[int, ...]:
        """Of the array of a block, ghosts included."""
        a = self._layout(block)
        return tuple(a.lower[k] + a.own[k] + a.upper[k] for k in range(self.dims))

    def inside(self, block: int) -> Box:
        """The own cells of a block within its array."""
        a = self._layout(block)
        return tuple(slice(a.lower[k], a.lower[k] + a.own[k]) for k in range(self.dims))

    def zeros(self) -> list[np.ndarray]:
        """An array for each own block and field: the first block's fields, then the second's."""
        return [self._zeros(block) for block in self.own for _ in range(self.fields)]

    def _zeros(self, block: int) -> np.ndarray:
        """With the strides that the library has for its order."""
        a, shape = self._layout(block), self.shape(block)
        strides = tuple(a.stride[k] * self.dtype.itemsize for k in range(self.dims))
        flat = np.zeros(int(np.prod(shape)), self.dtype)
        return np.ndarray(shape, self.dtype, flat, strides=strides)

    def _pointers(self, arrays: Sequence[Any]) -> tuple[list[np.ndarray], Any]:
        held = [on_host(array, "arrays", True) for array in arrays]
        there = len(self.own) * self.fields
        if len(held) != there:
            raise Error(f"there are {len(held)} arrays; there must be {there}", BUFFERS)
        for k, array in enumerate(held):
            like = self._zeros(self.own[k // self.fields])
            if (array.shape, array.strides, array.dtype) != (like.shape, like.strides, self.dtype):
                raise Error(
                    f"arrays[{k}] has shape {array.shape} of {array.dtype}; it must be as zeros()"
                    f" makes it, of shape {like.shape} with its ghosts, of {self.dtype}",
                    BUFFERS,
                )
        return held, (ctypes.c_void_p * max(there, 1))(*map(buffers.address, held))

    # ---- exchanges

    def _arguments(
        self, arrays: Sequence[Any], ghosts: Ghosts | None
    ) -> tuple[tuple[Any, ...], Callable[[], None]]:
        self._check_alive()
        refused: tuple[Any, ...] = ([], None, prototypes.Ghosts(along=-1))
        return calls.together(lambda: (*self._pointers(arrays), chosen(ghosts, self.dims)), refused)

    def forward(self, arrays: Sequence[Any], ghosts: Ghosts | None = None) -> None:
        """Fills ghosts at once; the first call with these arguments prepares the exchange."""
        self._once("forward", arrays, ghosts)

    def reverse(
        self, arrays: Sequence[Any], op: MPI.Op = MPI.SUM, ghosts: Ghosts | None = None
    ) -> None:
        """Every own cell becomes itself op all ghosts of it, on all ranks."""
        self._once("reverse", arrays, ghosts, handle_of(op))

    def _once(self, name: str, arrays: Sequence[Any], ghosts: Ghosts | None, *op: int) -> None:
        (_held, pointers, some), complain = self._arguments(arrays, ghosts)
        with calls.complaining(complain):
            call(f"blocks_{name}", self._handle, _at(pointers), _at(some), *op)

    def forward_init(
        self, arrays: Sequence[Any], ghosts: Ghosts | None = None, info: Info = None
    ) -> Request:
        """A request that fills ghosts, all of them or some."""
        return self._init("forward", arrays, ghosts, info)

    def reverse_init(
        self,
        arrays: Sequence[Any],
        op: MPI.Op = MPI.SUM,
        ghosts: Ghosts | None = None,
        info: Info = None,
    ) -> Request:
        """A request for the way back."""
        return self._init("reverse", arrays, ghosts, info, handle_of(op))

    def _init(
        self, name: str, arrays: Sequence[Any], ghosts: Ghosts | None, info: Info, *op: int
    ) -> Request:
        (held, pointers, some), complain = self._arguments(arrays, ghosts)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            arguments = (_at(pointers), _at(some), *op, keys)
            handle = created(f"blocks_{name}_init", self._handle, *arguments)
        return Request(handle, Bound((held, pointers), maker=self._mark), f"blocks {name}")

    def start_with(self, request: Request, arrays: Sequence[Any]) -> None:
        """Starts an exchange that was made with info={"tonari_start_with": "yes"} with other
        arrays, which stay bound."""
        self._check_alive()
        request.check_maker(self._mark, "these blocks")
        held, pointers = self._pointers(arrays)
        call("blocks_start_with", request._handle, _at(pointers))
        request._bound = Bound((held, pointers), maker=self._mark)

    def __repr__(self) -> str:
        if not self._handle:
            return "<tonari Blocks: freed>"
        return (
            f"<tonari Blocks: {self.count} boxes of {self.dtype} in {self.dims} dimensions, this"
            f" rank has {len(self.own)}>"
        )


def _at(thing: Any) -> int | None:
    return None if thing is None else ctypes.addressof(thing)


def _corners(boxes: Any, name: str, dims: int) -> np.ndarray:
    """Firsts and ends: whole numbers of shape (..., 2, dims)."""
    ends = np.asarray(boxes)
    if ends.ndim != dims or ends.shape[-2] != 2 or ends.dtype.kind not in "iu":
        wanted = "(blocks, 2, dims)" if dims == 3 else "(2, dims)"
        raise Error(f"{name} has shape {ends.shape} of {ends.dtype}; it must be integers of shape"
                    f" {wanted}", ARGUMENT)  # fmt: skip
    return ends
