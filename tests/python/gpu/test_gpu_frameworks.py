# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy, PyTorch, JAX and Numba in memory of a real GPU, and the order of their streams.

One process, which MPI starts by itself, and whose rank is its own neighbor. It needs a GPU of CUDA
and any of these libraries; tonari finds its own by TONARI_BUILD or TONARI_LIBRARY:

    PYTHONPATH=python:build/python python -m pytest tests/python/gpu
"""

from __future__ import annotations

import ctypes
import gc
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest


def gpus() -> int:
    """How many CUDA's driver sees, asked before anything of MPI or of a library is loaded."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


pytestmark = pytest.mark.skipif(not gpus(), reason="there is no GPU of CUDA")
BUSY = 2**24  # numbers, whose sines keep the GPU busy for milliseconds


def library(module: str, name: str) -> Any:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other libraries need some
    return pytest.importorskip(module, reason=f"there is no {name}")


class CuPy:
    """What the tests ask of a library: arrays that may be written, and streams."""

    def __init__(self) -> None:
        self.cupy = library("cupy", "CuPy")

    def array(self, values: Any, dtype: str = "f8") -> Any:
        return self.cupy.asarray(np.asarray(values, dtype))

    def values(self, array: Any) -> np.ndarray:
        """In the stream that the library is in."""
        return self.cupy.asnumpy(array, stream=self.cupy.cuda.get_current_stream())

    def stream(self) -> Any:
        return self.cupy.cuda.Stream(non_blocking=True)

    def within(self, stream: Any) -> AbstractContextManager[Any]:
        return stream

    def busy(self) -> None:
        """Puts work into the stream that the library is in, and returns at once."""
        some = self.cupy.ones(BUSY)
        for _ in range(50):
            self.cupy.sin(some, out=some)

    def synchronize(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def sharing(self, array: Any) -> Any:
        """An array of the library on the memory of one with the CUDA array interface."""
        return self.cupy.asarray(array)


class PyTorch:
    def __init__(self) -> None:
        self.torch = library("torch", "PyTorch")
        if not self.torch.cuda.is_available():
            pytest.skip("there is no PyTorch that uses the GPU")

    def array(self, values: Any, dtype: str = "f8") -> Any:
        return self.torch.from_numpy(np.array(values, dtype)).cuda()

    def values(self, array: Any) -> np.ndarray:
        return array.cpu().numpy()

    def stream(self) -> Any:
        return self.torch.cuda.Stream()

    def within(self, stream: Any) -> AbstractContextManager[Any]:
        return self.torch.cuda.stream(stream)

    def busy(self) -> None:
        some = self.torch.ones(BUSY, device="cuda")
        for _ in range(50):
            some.sin_()

    def synchronize(self) -> None:
        self.torch.cuda.synchronize()

    def sharing(self, array: Any) -> Any:
        return self.torch.as_tensor(array, device="cuda")


WRITABLE = [CuPy, PyTorch]


@pytest.fixture(params=WRITABLE, ids=lambda kind: kind.__name__)
def gpu(request: pytest.FixtureRequest) -> Any:
    made = request.param()
    yield made
    made.synchronize()


@pytest.fixture(scope="module")
def near() -> Iterator[Any]:
    """Three blocks, which all come back to this rank."""
    import tonari.mpi
    from mpi4py import MPI

    cart = MPI.COMM_SELF.Create_cart([1], periods=[True])
    with tonari.mpi.Neighborhood(cart, [[1], [-1], [0]]) as made:
        yield made
    cart.Free()


def numbers(time: int = 0) -> np.ndarray:
    return np.arange(12.0).reshape(3, 4) + 100 * time


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(got, wanted)


def jax_array(values: np.ndarray, dtype: Any = "float32") -> Any:
    jax = library("jax", "JAX")
    try:
        device = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("there is no JAX that uses the GPU")
    return jax.device_put(jax.numpy.asarray(values, dtype), device)


# ---- operations


@pytest.mark.parametrize("form", ["once", "begun", "request"])
def test_alltoall(gpu: Any, near: Any, form: str) -> None:
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    gpu.synchronize()
    if form == "once":
        near.alltoall(send, recv)
    elif form == "begun":
        near.ialltoall(send, recv).wait()
    else:
        with near.alltoall_init(send, recv) as request:
            assert "device 0" in request.describe()
            request.start()
            request.wait()
    same(gpu.values(recv), numbers())


def test_allgather(gpu: Any, near: Any) -> None:
    recv = gpu.array(np.zeros((3, 4)))
    near.allgather(gpu.array(numbers()[1]), recv)
    same(gpu.values(recv), [numbers()[1]] * 3)


def test_alltoallv_with_gaps(gpu: Any, near: Any) -> None:
    send, recv = gpu.array(np.arange(20.0)), gpu.array(np.full(20, -1.0))
    near.alltoallv([send, ([1, 0, 3], [15, 0, 2])], [recv, ([1, 0, 3], [4, 0, 8])])
    wanted = np.full(20, -1.0)
    wanted[[4, 8, 9, 10]] = [15, 2, 3, 4]
    same(gpu.values(recv), wanted)


def test_alltoallw_of_views(gpu: Any, near: Any) -> None:
    """They are packed and unpacked by a kernel that NVRTC compiles."""
    u = gpu.array(np.arange(42.0).reshape(6, 7))
    ghosts = gpu.array(np.full((7, 8), -1.0))
    gpu.synchronize()
    send, recv = [u[1], u[:, 2], u[::2, ::3]], [ghosts[0, :7], ghosts[1:, 7], ghosts[1::2, 1:7:2]]
    with near.alltoallw_init(send, recv) as request:
        request.start()
        request.wait()
    wanted, values = np.full((7, 8), -1.0), np.arange(42.0).reshape(6, 7)
    wanted[0, :7], wanted[1:, 7], wanted[1::2, 1:7:2] = values[1], values[:, 2], values[::2, ::3]
    same(gpu.values(ghosts), wanted)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "u1", "?", "c16"])
def test_types(gpu: Any, near: Any, dtype: str) -> None:
    send, recv = gpu.array(numbers(), dtype), gpu.array(np.zeros((3, 4)), dtype)
    near.alltoall(send, recv)
    same(gpu.values(recv), numbers().astype(dtype))


def test_one_side_is_numpys(gpu: Any, near: Any) -> None:
    send, recv = gpu.array(numbers()), np.zeros((3, 4))
    near.alltoall(send, recv)
    same(recv, numbers())
    back = gpu.array(np.zeros((3, 4)))
    near.alltoall(recv, back)
    same(gpu.values(back), numbers())


# ---- streams


def test_starts_and_waits_in_streams(gpu: Any, near: Any) -> None:
    """The program waits for the GPU once, at the end: each value depends on that before."""
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    total = gpu.array(np.zeros((3, 4)))
    gpu.synchronize()
    stream = gpu.stream()
    with near.alltoall_init(send, recv) as request, gpu.within(stream):
        for _ in range(20):
            gpu.busy()
            send += 1.0
            request.start(stream)
            request.wait(stream)
            total += recv
            recv *= 0.0
    gpu.synchronize()
    same(gpu.values(total), sum(numbers() + k for k in range(1, 21)))


def test_two_streams(gpu: Any, near: Any) -> None:
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    gpu.synchronize()
    first, second = gpu.stream(), gpu.stream()
    with near.alltoall_init(send, recv) as request:
        with gpu.within(first):
            gpu.busy()
            send *= 2.0
            request.start(first)
        request.wait(second)
        with gpu.within(second):
            same(gpu.values(recv), 2 * numbers())


@pytest.mark.parametrize("form", ["alltoall", "ialltoall", "start_with"])
def test_calls_at_once_follow_the_stream_of_the_library(gpu: Any, near: Any, form: str) -> None:
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    gpu.synchronize()
    with gpu.within(gpu.stream()):
        for _ in range(5):
            gpu.busy()
            send += 1.0
            if form == "start_with":
                with near.alltoall_init(send, recv) as request:
                    request.start_with(send, recv)
                    request.wait()
            else:
                done = getattr(near, form)(send, recv)
                if done is not None:
                    done.wait()
        same(gpu.values(recv), numbers() + 5)


def test_the_default_stream(gpu: Any, near: Any) -> None:
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    for stream in (0, 1):
        with near.alltoall_init(send, recv) as request:
            gpu.busy()
            send += 1.0
            request.start(stream)
            request.wait(stream)
            same(gpu.values(recv), numbers() + 1 + stream)


# ---- life and mistakes


def test_arrays_live_as_long_as_the_request(gpu: Any, near: Any) -> None:
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    seen: list[Callable[[], Any]] = [weakref.ref(send), weakref.ref(recv)]
    request = near.alltoall_init(send, recv)
    del send, recv
    gc.collect()
    assert all(array() is not None for array in seen)
    request.free()
    gc.collect()
    assert not any(array() is not None for array in seen)


def test_memory_is_given_back(near: Any) -> None:
    gpu = PyTorch()
    gc.collect()
    before = gpu.torch.cuda.memory_allocated()
    for _ in range(10):
        send, recv = gpu.array(np.zeros((3, 2**16))), gpu.array(np.zeros((3, 2**16)))
        near.alltoall(send, recv)
        near.alltoall_init(send, recv).free()
        del send, recv
    gc.collect()
    assert gpu.torch.cuda.memory_allocated() <= before


def test_tensors_with_gradients_are_refused(near: Any) -> None:
    from tonari import Error

    gpu = PyTorch()
    send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
    send.requires_grad_()
    with pytest.raises(Error, match="detach"):
        near.alltoall(send, recv)
    near.alltoall(send.detach(), recv)
    same(gpu.values(recv), numbers())


def test_views_that_are_not_contiguous_are_refused(gpu: Any, near: Any) -> None:
    from tonari import Error

    send, recv = gpu.array(np.zeros((3, 8))), gpu.array(np.zeros((3, 4)))
    with pytest.raises(Error, match="send is not contiguous in C order"):
        near.alltoall(send[:, ::2], recv)


# ---- other libraries, and types that NumPy has not


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_short_floats_of_pytorch(near: Any, dtype: str) -> None:
    gpu = PyTorch()
    send = gpu.array(numbers()).to(getattr(gpu.torch, dtype))
    recv = gpu.torch.zeros_like(send)
    try:
        send.__dlpack__()
    except BufferError:
        pytest.skip(f"there is no {dtype} in this PyTorch's DLPack")
    near.alltoall(send, recv)
    same(gpu.values(recv.double()), gpu.values(send.double()))


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_jax_sends(gpu: Any, near: Any, dtype: str) -> None:
    """New arrays at each start, without waiting for any."""
    send = jax_array(numbers(), dtype)
    recv = gpu.array(np.zeros((3, 4)), {"bfloat16": "i2"}.get(dtype, dtype))
    if dtype == "bfloat16":
        near.alltoall(send, recv)
        same(gpu.values(recv), np.asarray(send).view("i2"))
        return
    with near.alltoall_init(send, recv) as request:
        for time in range(5):
            some = jax_array(np.ones(BUSY))
            for _ in range(50):
                some = library("jax", "JAX").numpy.sin(some)
            send = (jax_array(numbers(time)) + 0 * some[0]).astype(dtype)
            request.start_with(send, recv)
            request.wait()
            same(gpu.values(recv), numbers(time).astype(dtype))


def test_jax_arrays_are_not_received_into(near: Any) -> None:
    from tonari import Error

    send = jax_array(numbers())
    with pytest.raises(Error, match="recv is read-only memory|recv comes by a DLPack older"):
        near.alltoall(send, jax_array(np.zeros((3, 4))))


def test_numba(near: Any) -> None:
    cuda = library("numba.cuda", "Numba")
    if not cuda.is_available():
        pytest.skip("there is no Numba that uses the GPU")
    stream = cuda.stream()
    send = cuda.to_device(numbers(), stream=stream)
    recv = cuda.device_array((3, 4))
    near.alltoall(send, recv)
    same(recv.copy_to_host(), numbers())


def test_from_one_library_to_another(near: Any) -> None:
    one, other = CuPy(), PyTorch()
    send, recv = one.array(numbers()), other.array(np.zeros((3, 4)))
    near.alltoall(send, recv)
    same(other.values(recv), numbers())
    back = one.array(np.zeros((3, 4)))
    near.alltoall(recv, back)
    same(one.values(back), numbers())


def test_managed_memory_of_cupy(near: Any) -> None:
    gpu = CuPy()
    with gpu.cupy.cuda.using_allocator(gpu.cupy.cuda.malloc_managed):
        send, recv = gpu.array(numbers()), gpu.array(np.zeros((3, 4)))
        send *= 3.0
        near.alltoall(send, recv)
        same(gpu.values(recv), 3 * numbers())


# ---- grids


def ghosts_and_cells(time: int) -> np.ndarray:
    """Of a periodic grid of 4 x 6 cells, which has one ghost on each side."""
    return np.pad(np.arange(24.0).reshape(4, 6) + 100 * time, 1, mode="wrap")


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_grid(gpu: Any, whose: str) -> None:
    """Memory that tonari allocates, which the library sees, or an array of the library's own."""
    import tonari.mpi
    from mpi4py import MPI

    cart = MPI.COMM_SELF.Create_cart([1, 1], periods=[True, True])
    mine = gpu.array(np.zeros((6, 8)))
    gpu.synchronize()
    memory = {"memory": "device"} if whose == "ours" else {"arrays": [mine]}
    with tonari.mpi.Grid(cart, (4, 6), 1, **memory) as grid, grid.exchange_init() as halo:
        cells = gpu.sharing(grid.array()) if whose == "ours" else mine
        stream = gpu.stream()
        for time in range(3):
            own = gpu.array(ghosts_and_cells(time)[1:-1, 1:-1])
            gpu.synchronize()
            with gpu.within(stream):
                gpu.busy()
                cells[1:-1, 1:-1] = own
                halo.start(stream)
                halo.wait(stream)
                same(gpu.values(cells), ghosts_and_cells(time))
    cart.Free()
