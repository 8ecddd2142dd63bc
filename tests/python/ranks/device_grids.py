# SPDX-License-Identifier: BSD-3-Clause
"""Grids in memory of a GPU: that tonari allocates, and arrays of programs."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
from gpu_arrays import GPU, CudaArray, DlpackArray, gives_all_back
from grids import around, wanted
from patterns import POISON, RANK, RANKS, cartesian, refused
from tonari.mpi import Grid

CASES: list[tuple[int, int, dict[str, Any]]] = [
    (1, 2, {"copies": 2}),
    (2, 2, {"fields": 2, "subdomains": (2, 1)}),
    (2, 1, {"order": "F", "dtype": np.int32}),
    (2, 4, {"storage": "brick", "brick": (4, 4)}),
    (2, 4, {"storage": "mapped", "brick": (4, 4), "copies": 2, "mapped_ghosts": True}),
]


def on_gpu(array: Any) -> np.ndarray:
    """What the GPU has where the interface says."""
    told = array.__cuda_array_interface__
    shape, dtype = told["shape"], np.dtype(told["typestr"])
    strides = told["strides"] or np.empty(shape, dtype).strides
    extent = sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + dtype.itemsize
    here, stream = GPU.pinned(extent), GPU.stream()
    GPU.copy(here, told["data"][0], extent, stream)
    GPU.synchronize(stream)
    held = (ctypes.c_char * extent).from_buffer_copy(ctypes.string_at(here, extent))
    GPU("cuMemFreeHost", ctypes.c_void_p(here))
    GPU("cuStreamDestroy_v2", ctypes.c_void_p(stream))
    return np.ndarray(shape, dtype, held, strides=strides).copy()


def fill_own(grid: Grid, copy: int, time: int) -> None:
    for s in range(grid.subdomains):
        for f in range(grid.fields):
            grid.set_cells(wanted(grid, s, 0, True, copy, f, time), s, copy, f)


def expect(grid: Grid, width: int, copy: int, time: int) -> None:
    for s in range(grid.subdomains):
        whole = around(grid, s, (width,) * grid.dims)
        for f in range(grid.fields):
            values = wanted(grid, s, width, True, copy, f, time)
            np.testing.assert_array_equal(grid.get_cells(s, copy, f, whole), values)
            if grid.memory == "device":
                see(grid, s, copy, f, values)


def see(grid: Grid, s: int, copy: int, f: int, values: np.ndarray) -> None:
    """The same cells, where DeviceArray says that they are."""
    if grid.storage == "array":
        np.testing.assert_array_equal(on_gpu(grid.array(s, copy, f)), values)
        inside = grid.boxes("own", s)[0]
        np.testing.assert_array_equal(on_gpu(grid.own(s, copy, f)), values[inside])
        return
    table, flat = grid.bricks(s), grid.flat(s, copy, f)
    assert flat.writeable != grid._mapped_ghosts
    cells, volume = on_gpu(flat), int(np.prod(table.brick))
    low = [part.start for part in grid.boxes("own", s)[0]]
    for b in range(table.count):
        start = [low[k] + table.position[b, k] * n for k, n in enumerate(table.brick)]
        part = values[tuple(slice(a, a + n) for a, n in zip(start, table.brick, strict=True))]
        np.testing.assert_array_equal(cells[table.place[b] :][:volume], part.ravel())


def play(dims: int, width: int, options: dict[str, Any], where: str) -> None:
    cart = cartesian(dims)
    cells = [n * 4 * max(width, 2) for n in cart.dims]
    with Grid(cart, cells, width, memory=where, **options) as grid:
        assert grid.memory == where
        with grid.exchange_init() as request:
            for time in range(3):
                fill_own(grid, 0, time)
                request.start()
                request.wait()
                expect(grid, width, 0, time)
        fill_own(grid, 0, 5)
        grid.forward()
        expect(grid, width, 0, 5)
    cart.Free()


def check_grids_that_tonari_allocates() -> None:
    """On all ranks, or all but one."""
    play(*CASES[0], "device")  # what the library makes for the device once stays
    gc.collect()  # of checks before
    for case in CASES:
        for host in {-1, RANKS - 1 if RANKS > 1 else -1}:
            with gives_all_back(GPU):
                play(*case, "host" if host == RANK else "device")
                gc.collect()


def check_exchanges_in_the_order_of_streams() -> None:
    cart = cartesian(2)
    stream = GPU.stream()
    with Grid(cart, [8 * n for n in cart.dims], 2, memory="device") as grid:
        with grid.exchange_init() as request:
            for time in range(4):
                fill_own(grid, 0, time)
                request.start(stream)
                request.wait(stream)
                GPU.synchronize(stream)
                expect(grid, 2, 0, time)
    GPU("cuStreamDestroy_v2", ctypes.c_void_p(stream))
    cart.Free()


def check_arrays_of_programs() -> None:
    """By both protocols; starts may replace them by others."""
    for kind in (CudaArray, DlpackArray):
        cart = cartesian(2)
        shape = (8 + 2, 6 + 2)
        first, second = (kind(GPU, np.full(shape, POISON)) for _ in range(2))
        with Grid(cart, (8, 6), 1, local=True, arrays=[first]) as grid:
            assert grid.memory == "device" and grid.array().address == first.address
            with grid.exchange_init() as request:
                for time in range(4):
                    values = (first, second)[time % 2]
                    fill_values(grid, values, time)
                    grid.start_with(request, [values])
                    request.wait()
                    np.testing.assert_array_equal(
                        values.get(), wanted(grid, 0, 1, True, 0, 0, time)
                    )
                said = str(refused(grid.start_with, request, [np.zeros(shape)]))
                assert "is not memory of a GPU, as it was at init" in said
                said = str(refused(grid.start_with, request, [kind(GPU, np.zeros((3, 3)))]))
                assert "it must be contiguous, of shape (10, 8) with its ghosts" in said
        cart.Free()


def fill_values(grid: Grid, values: Any, time: int) -> None:
    values.array[...] = POISON
    values.array[1:-1, 1:-1] = wanted(grid, 0, 0, True, 0, 0, time)
    values.put()


def check_arrays_that_outlive_their_grid() -> None:
    cart = cartesian(1)
    with Grid(cart, [4 * RANKS], 1, memory="device") as grid:
        view = grid.own()
        grid.set_cells(RANK + 1.5)
    del grid
    gc.collect()
    assert "DeviceArray: 4 of float64 on a GPU" in repr(view)
    np.testing.assert_array_equal(on_gpu(view), [RANK + 1.5] * 4)
    cart.Free()


def check_what_cannot_be() -> None:
    cart = cartesian(1)
    told = {
        "memory is 'disk'; it must be one of host, device": {"memory": "disk"},
        "shape.device is 7; there are 2 devices": {"memory": "device", "device": 7},
        "shape.device is 1, but shape.memory is TONARI_MEMORY_HOST": {"device": 1},
        "set shape.mapped_ghosts, or choose storage brick": {
            "memory": "device",
            "storage": "mapped",
        },
    }
    for sentence, options in told.items():
        said = str(refused(Grid, cart, [16 * RANKS], 8, **options))
        assert sentence in said, said
    cart.Free()
