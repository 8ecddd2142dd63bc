# SPDX-License-Identifier: BSD-3-Clause
"""Grids with halos: their memory as NumPy arrays, and the exchanges that fill ghost cells."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import buffers, calls, library, prototypes
from tonari.mpi.calls import Info
from tonari.mpi.device_array import DeviceArray
from tonari.mpi.grid_shape import MEMORIES, ORDERS, PARTS, STORAGES, Box, Bricks, Cells, Ghosts
from tonari.mpi.grid_shape import chosen, fill, one_of, widths
from tonari.mpi.library import GridShape, call, created, handle_of
from tonari.mpi.lifetime import Collective
from tonari.mpi.memory import Memory, on_host
from tonari.mpi.memory import memory as memory_of
from tonari.mpi.request import Bound, Request, shared_array


class _Memory:
    """Keeps the memory of a grid for arrays that outlive it."""

    def __init__(self, grid: int) -> None:
        self._held = created("grid_memory_hold", grid)

    def __del__(self) -> None:
        if getattr(self, "_held", 0):
            library.freed("grid_memory_release", self._held)


def _pointers(arrays: Sequence[Any] | None, there: int) -> tuple[list[Memory], Any]:
    """Those of a program's own arrays: as many as C reads."""
    if arrays is None:
        return [], None
    held = [memory_of(array, f"arrays[{k}]", True) for k, array in enumerate(arrays)]
    if len(held) != there:
        raise Error(f"there are {len(held)} arrays; there must be {there}", BUFFERS)
    return held, _addresses(held)


def _addresses(arrays: Sequence[Memory]) -> Any:
    """When what their streams hold is done."""
    for k, array in enumerate(arrays):
        array.wait_for_stream(f"arrays[{k}]")
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.address for array in arrays))


class Grid(Collective):
    """A rectangular grid, cut into subdomains with ghost cells around them (grid.h).

    An exchange fills the ghosts with the neighbors' cells; it is a Request. Memory is the grid's,
    and zero at first; arrays of it are views. They stay valid when the grid is freed. In memory of
    a GPU they are DeviceArray, for libraries that compute there.

    cart         a Cartesian communicator: who are neighbors, and where the grid is periodic
    cells        of the whole grid, one number per dimension, 1 to 5; with local=True of each
                 subdomain of this rank
    halo         ghost cells on every side: one number, one per dimension, or pairs (lower, upper)
    dtype        of a cell
    storage      "array", in order C or F; "brick"; "mapped"
    subdomains   per rank and dimension; fields per cell; copies of it all, such as old and new
    brick        cells of a brick, per dimension; interleaved: field after field in each brick
    mapped_ghosts  ghosts that ranks of the same node own are these ranks' memory; see grid.h
    arrays       storage "array": the program's own arrays, ghosts included, copy after copy, and in
                 each subdomain after subdomain, field after field; None: tonari allocates. They may
                 lie on a GPU of CUDA, on some ranks or all (docs/howto/gpu-memory.md)
    memory       of what tonari allocates: "host", or "device", a GPU of CUDA, where storage
                 "mapped" needs mapped_ghosts; ranks may differ
    device       the GPU's number for the driver
    """

    _freed_by = "grid_free"

    def __init__(
        self,
        cart: MPI.Comm,
        cells: Cells,
        halo: int | Sequence[int] | Sequence[tuple[int, int]] = 1,
        dtype: DTypeLike = float,
        *,
        storage: str = "array",
        local: bool = False,
        subdomains: int | Sequence[int] = 1,
        fields: int = 1,
        copies: int = 1,
        interleaved: bool = False,
        brick: Cells = (),
        page: int = 0,
        huge_pages: bool = False,
        mapped_ghosts: bool = False,
        order: str = "C",
        arrays: Sequence[Any] | None = None,
        memory: str = "host",
        device: int = 0,
        info: Info = None,
    ) -> None:
        def read() -> Any:
            self.dtype, d = np.dtype(dtype), len(cells)
            if not 1 <= d <= prototypes.MOST_DIMS:
                raise Error(f"cells has {d} numbers; a grid has 1 to 5 dimensions", ARGUMENT)
            lower, upper = widths(halo, d)
            numbers = (subdomains,) * d if isinstance(subdomains, int) else tuple(subdomains)
            shape = GridShape(dims=d, local=local, page=page)
            shape.fields = buffers.one_integer(fields, "fields")
            shape.copies = buffers.one_integer(copies, "copies")
            shape.storage = one_of("storage", storage, STORAGES)
            shape.order = one_of("order", order, ORDERS)
            shape.interleaved, shape.huge_pages = interleaved, huge_pages
            shape.mapped_ghosts = mapped_ghosts
            shape.memory = one_of("memory", memory, MEMORIES)
            shape.device = buffers.one_integer(device, "device")
            shape.type = handle_of(buffers.mpi_type(self.dtype))
            fill(shape, d, cells=cells, lower=lower, upper=upper, subdomains=numbers, brick=brick)
            return shape, _pointers(
                arrays, math.prod(max(n, 1) for n in (shape.copies, shape.fields, *numbers))
            )

        refused: tuple[Any, ...] = (GridShape(dims=-1), ([], None))
        (shape, (held, pointers)), complain = calls.together(read, refused)
        own = None if pointers is None else ctypes.addressof(pointers)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            handle = created("grid_create", handle_of(cart), ctypes.addressof(shape), own, keys)
        self._handle, self._arrays = handle, held
        self._memory, self.storage = _Memory(handle), storage
        self._mapped_ghosts = mapped_ghosts
        self._on_gpu = memory == "device" or any(array.on_gpu for array in held)
        self._info = prototypes.GridInfo()
        call("grid_get_info", handle, ctypes.addressof(self._info))
        self._check_arrays(cart)

    def _check_arrays(self, cart: MPI.Comm) -> None:
        """Only now it is known how many cells this rank has; the ranks fail together."""
        if not self._arrays:
            return
        wrong = self._wrong_arrays(self._arrays, self.copies)
        if said := next((said for said in cart.allgather(wrong) if said), ""):
            self.free()
            raise Error(said, BUFFERS)

    def _wrong_arrays(self, arrays: Sequence[Memory], copies: int) -> str:
        here = f"rank {MPI.COMM_WORLD.rank}: "
        there = copies * self.subdomains * self.fields
        if len(arrays) != there:
            return f"{here}there are {len(arrays)} arrays; there must be {there}"
        for k, array in enumerate(arrays):
            shape, strides = self._layout(k // self.fields % self.subdomains)
            if (array.shape, tuple(array.strides), array.dtype) != (shape, strides, self.dtype):
                return (
                    f"{here}arrays[{k}] has shape {array.shape} of {array.dtype}; it must be"
                    f" contiguous, of shape {shape} with its ghosts, of {self.dtype}"
                )
        return ""

    # ---- what it is

    @property
    def dims(self) -> int:
        return self._info.dims

    @property
    def subdomains(self) -> int:
        """Of this rank."""
        return self._info.subdomains

    @property
    def fields(self) -> int:
        return self._info.fields

    @property
    def copies(self) -> int:
        return self._info.copies

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells of the whole grid."""
        return tuple(getattr(self._info, "global")[: self.dims])

    @property
    def nbytes(self) -> int:
        """Of this rank's storage: all copies, ghosts and padding."""
        return self._info.bytes

    @property
    def memory(self) -> str:
        """Of this rank's cells: "host" or "device"."""
        return MEMORIES[self._on_gpu]

    def first(self, subdomain: int = 0) -> tuple[int, ...]:
        """Where its first own cell is in the whole grid."""
        return self._cells(subdomain)[0]

    def cells(self, subdomain: int = 0) -> tuple[int, ...]:
        """Own cells of a subdomain, per dimension."""
        return self._cells(subdomain)[1]

    def _cells(self, subdomain: int) -> list[tuple[int, ...]]:
        self._check_alive()
        numbers = [(ctypes.c_int64 * self.dims)() for _ in range(2)]
        call("grid_get_cells", self._handle, subdomain, *map(ctypes.addressof, numbers))
        return [tuple(n) for n in numbers]

    def boxes(self, part: str, subdomain: int = 0) -> list[Box]:
        """The parts of a subdomain as slices of `array`, disjoint: "interior" (no neighbor needs
        it), "surface" (some neighbor needs it), "ghosts" or "own"."""
        self._check_alive()
        count, room = ctypes.c_int(3**self.dims), (prototypes.Box * 3**self.dims)()
        at = (ctypes.addressof(count), ctypes.addressof(room))
        call("grid_boxes", self._handle, subdomain, one_of("part", part, PARTS), *at)
        lower = self._array(subdomain).lower if self.storage == "array" else self._lower(subdomain)
        return [
            tuple(slice(b.first[k] + lower[k], b.end[k] + lower[k]) for k in range(self.dims))
            for b in room[: count.value]
        ]

    # ---- where cells are

    def array(self, subdomain: int = 0, copy: int = 0, field: int = 0) -> Any:
        """Storage "array": a field with its ghosts, of shape lower + own + upper."""
        shape, strides = self._layout(subdomain)
        address = self._data(subdomain, copy, field)
        if self._on_gpu:
            return DeviceArray(self._owner(), address, shape, self.dtype, strides)
        size = int(np.prod(shape)) * self.dtype.itemsize
        return shared_array(self._owner(), address, size, shape, self.dtype, strides)

    def own(self, subdomain: int = 0, copy: int = 0, field: int = 0) -> Any:
        """Storage "array": the own cells of a field, a view of `array`."""
        a, whole = self._array(subdomain), self.array(subdomain, copy, field)
        if not self._on_gpu:
            return whole[tuple(slice(a.lower[k], a.lower[k] + a.own[k]) for k in range(self.dims))]
        address = whole.address + sum(a.lower[k] * whole.strides[k] for k in range(self.dims))
        own = tuple(a.own[: self.dims])
        return DeviceArray(self._owner(), address, own, self.dtype, whole.strides)

    def flat(self, subdomain: int = 0, copy: int = 0, field: int = 0, *, own: bool = False) -> Any:
        """Storage "brick" and "mapped": all elements of a field from its base on, in one dimension;
        brick b begins at bricks().place[b]. own=True: as far as own bricks reach. With mapped
        ghosts, which only their owners may write, all of it is read-only, and own=True is not."""
        table = self.bricks(subdomain)
        places = table.place[: table.own_count] if own else table.place
        count = int(places.max()) + int(np.prod(table.brick))
        address = self._data(subdomain, copy, field)
        if self._on_gpu:
            writeable = own or not self._mapped_ghosts
            return DeviceArray(self._owner(), address, (count,), self.dtype, None, writeable)
        size = count * self.dtype.itemsize
        made = shared_array(self._owner(), address, size, (count,), self.dtype)
        made.flags.writeable = own or not self._mapped_ghosts
        return made

    def brick_array(
        self, subdomain: int = 0, copy: int = 0, field: int = 0, *, own: bool = False
    ) -> Any:
        """Storage "brick" and "mapped": shape (slots, *brick), brick b at slots()[b]; for storage
        "brick" slot b is brick b. own: as for flat."""
        table = self.bricks(subdomain)
        volume = int(np.prod(table.brick))
        step = self._step(table, volume)
        places = table.place[: table.own_count] if own else table.place
        slots = int(places.max()) // step + 1
        inner = volume * self.dtype.itemsize // np.cumprod(table.brick)
        flat = self.flat(subdomain, copy, field, own=own)
        strides = (step * self.dtype.itemsize, *map(int, inner))
        if self._on_gpu:
            shape = (slots, *table.brick)
            at = flat.address
            return DeviceArray(self._owner(), at, shape, self.dtype, strides, flat.writeable)
        return np.lib.stride_tricks.as_strided(
            flat, (slots, *table.brick), strides, writeable=flat.flags.writeable
        )

    def slots(self, subdomain: int = 0) -> np.ndarray:
        """Shape (count + 1,): where brick b is in brick_array."""
        table = self.bricks(subdomain)
        return table.place // self._step(table, int(np.prod(table.brick)))

    def _step(self, table: Bricks, volume: int) -> int:
        """Elements from one slot to the next."""
        step = int(np.diff(np.unique(table.place)).min())
        if step < volume or np.any(table.place % step):
            raise Error(
                f"bricks of {volume} elements do not lie at regular distances here, because pages"
                " are padded; use flat and bricks().place",
                ARGUMENT,
            )
        return step

    def bricks(self, subdomain: int = 0) -> Bricks:
        """How a subdomain is stored in bricks."""
        self._check_alive()
        c = prototypes.Bricks()
        call("grid_get_bricks", self._handle, subdomain, ctypes.addressof(c))
        d = self.dims
        around = tuple(c.lower[k] + c.own[k] + c.upper[k] for k in range(d))

        def table(address: int, shape: tuple[int, ...], kind: str) -> np.ndarray:
            size = int(np.prod(shape)) * np.dtype(kind).itemsize
            made = shared_array(self._memory, address, size, shape, np.dtype(kind))
            made.flags.writeable = False
            return made

        return Bricks(
            tuple(c.brick[:d]),
            c.count,
            c.own_count,
            c.interior_count,
            table(c.number, around, "i4"),
            table(c.position, (c.count, d), "i4"),
            table(c.neighbors, (c.count + 1, *(3,) * d), "i4"),
            table(c.place, (c.count + 1,), "i8"),
        )

    def get_cells(
        self, subdomain: int = 0, copy: int = 0, field: int = 0, box: Box | None = None
    ) -> np.ndarray:
        """A copy of the cells of a box, slices as of `array`; None: of the own cells. Works for
        every storage, in the grid's order."""
        c, shape = self._box(subdomain, box)
        made = np.empty(shape, self.dtype, order=self._order())
        at = (subdomain, copy, field, ctypes.addressof(c), buffers.address(made))
        call("grid_export", self._handle, *at)
        return made

    def set_cells(
        self,
        values: Any,
        subdomain: int = 0,
        copy: int = 0,
        field: int = 0,
        box: Box | None = None,
    ) -> None:
        """Writes the cells of a box, None: the own cells, from anything that broadcasts to it."""
        c, shape = self._box(subdomain, box)
        given = np.broadcast_to(np.asarray(values, self.dtype), shape)
        values = np.asarray(given, order=self._order())
        if not (values.flags.f_contiguous if self._order() == "F" else values.flags.c_contiguous):
            values = values.copy(order=self._order())
        at = (subdomain, copy, field, ctypes.addressof(c), buffers.address(values))
        call("grid_import", self._handle, *at)

    def _box(self, subdomain: int, box: Box | None) -> tuple[Any, tuple[int, ...]]:
        own, lower = self.cells(subdomain), self._lower(subdomain)
        c = prototypes.Box()
        if box is None:
            box = tuple(slice(low, low + n) for low, n in zip(lower, own, strict=True))
        shape = []
        for k, (part, low) in enumerate(zip(box, lower, strict=True)):
            if part.step not in (None, 1):
                raise Error(f"box[{k}] has the step {part.step}; boxes have no gaps", ARGUMENT)
            c.first[k], c.end[k] = part.start - low, part.stop - low
            shape.append(max(part.stop - part.start, 0))
        return c, tuple(shape)

    def _lower(self, subdomain: int) -> tuple[int, ...]:
        """Ghost cells below the own ones."""
        if self.storage == "array":
            return tuple(self._array(subdomain).lower[: self.dims])
        c = prototypes.Bricks()
        call("grid_get_bricks", self._handle, subdomain, ctypes.addressof(c))
        return tuple(c.lower[k] * c.brick[k] for k in range(self.dims))

    def _order(self) -> Any:
        return "F" if self.storage == "array" and self._array(0).stride[0] == 1 else "C"

    def _array(self, subdomain: int) -> Any:
        self._check_alive()
        c = prototypes.Array()
        call("grid_get_array", self._handle, subdomain, ctypes.addressof(c))
        return c

    def _layout(self, subdomain: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        c, size = self._array(subdomain), self.dtype.itemsize
        shape = tuple(c.lower[k] + c.own[k] + c.upper[k] for k in range(self.dims))
        return shape, tuple(c.stride[k] * size for k in range(self.dims))

    def _data(self, subdomain: int, copy: int, field: int) -> int:
        self._check_alive()
        base = ctypes.c_void_p()
        call("grid_data", self._handle, subdomain, copy, field, ctypes.addressof(base))
        return base.value or 0

    def _owner(self) -> Any:
        return self._memory, self._arrays

    # ---- exchanges

    def forward_init(
        self, copy: int = 0, ghosts: Ghosts | None = None, info: Info = None
    ) -> Request:
        """A request that fills the ghosts of a copy, all of them or some."""
        some, complain = calls.together(partial(chosen, ghosts, self.dims), None)
        return self._made(
            "forward", copy if complain is calls._nothing else -1, some, complain, info
        )

    def reverse_init(
        self,
        copy: int = 0,
        op: MPI.Op = MPI.SUM,
        ghosts: Ghosts | None = None,
        info: Info = None,
    ) -> Request:
        """A request for the way back: every own cell becomes itself op all ghosts of it."""
        some, complain = calls.together(partial(chosen, ghosts, self.dims), None)
        copy = copy if complain is calls._nothing else -1
        return self._made("reverse", copy, some, complain, info, handle_of(op))

    exchange_init = forward_init

    def _made(
        self, name: str, copy: int, ghosts: Any, complain: Any, info: Info, *op: int
    ) -> Request:
        self._check_alive()
        at = None if ghosts is None else ctypes.addressof(ghosts)
        with calls.complaining(complain), calls.info_handle(info) as keys:
            handle = created(f"grid_{name}_init", self._handle, copy, at, *op, keys)
        return Request(
            handle, Bound((self._memory, self._arrays), maker=self._memory), f"grid {name}"
        )

    def forward(self, copy: int = 0, ghosts: Ghosts | None = None) -> None:
        """Fills ghosts at once; the first call with these arguments prepares the exchange."""
        self._once("forward", copy, ghosts)

    def reverse(self, copy: int = 0, op: MPI.Op = MPI.SUM, ghosts: Ghosts | None = None) -> None:
        """Combines ghosts at their owners at once."""
        self._once("reverse", copy, ghosts, handle_of(op))

    def _once(self, name: str, copy: int, ghosts: Ghosts | None, *op: int) -> None:
        self._check_alive()
        some, complain = calls.together(partial(chosen, ghosts, self.dims), None)
        at = None if some is None else ctypes.addressof(some)
        with calls.complaining(complain):
            call(f"grid_{name}", self._handle, copy if complain is calls._nothing else -1, at, *op)

    def start_with(self, request: Request, arrays: Sequence[Any]) -> None:
        """Starts an exchange of this grid with other arrays, subdomain after subdomain, field after
        field, of the shapes that `array` has, in memory of the same kind. They stay bound."""
        self._check_alive()
        request.check_maker(self._memory, "this grid")
        given = arrays if self._on_gpu else [on_host(array, "arrays", True) for array in arrays]
        held = [memory_of(array, "arrays", True) for array in given]
        if wrong := self._wrong_arrays(held, 1):
            raise Error(wrong, BUFFERS)
        pointers = _addresses(held)
        call("grid_start_with", request._handle, ctypes.addressof(pointers))
        request._bound = Bound((self._memory, self._arrays, held), maker=self._memory)

    # ---- files

    def save(self, filename: str, copy: int = 0, field: int = 0) -> None:
        """Collective: one field of the whole grid, without ghosts, as one .npy file."""
        self._check_alive()
        name = ctypes.c_char_p(str(filename).encode())
        call("grid_save", self._handle, copy, field, name)

    def load(self, filename: str, copy: int = 0, field: int = 0) -> None:
        """Collective: the way back. Ghosts are not filled."""
        self._check_alive()
        name = ctypes.c_char_p(str(filename).encode())
        call("grid_load", self._handle, copy, field, name)

    def __repr__(self) -> str:
        if not self._handle:
            return "<tonari Grid: freed>"
        size = "x".join(map(str, self.shape))
        own = ", ".join("x".join(map(str, self.cells(s))) for s in range(min(self.subdomains, 3)))
        more = ", ..." if self.subdomains > 3 else ""
        return (
            f"<tonari Grid: {size} cells of {self.dtype} as {self.storage}, this rank has"
            f" {own}{more}; {self.fields} field{'s' * (self.fields != 1)},"
            f" {self.copies} cop{'ies' if self.copies != 1 else 'y'}>"
        )
