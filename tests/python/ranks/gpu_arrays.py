# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of a GPU as libraries have them, on devices without hardware: those of CUDA's
driver as tests/device/cuda plays it, which is the first libcuda.so.1 that is found.

The host cannot touch that memory, streams run in any order that the rules allow, and an access that
nothing orders is an error of the driver.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tonari.mpi
from mpi4py import MPI

LEGACY = 1


class Gpu:
    """The first of `devices`, in whose context the program is."""

    def __init__(self, devices: int = 2, seed: int = 1) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.driver.tonari_fake_devices.argtypes = [ctypes.c_int, ctypes.c_uint64]
        self.driver.tonari_fake_held.restype = ctypes.c_char_p
        self.driver.tonari_fake_said.restype = ctypes.c_char_p
        self.driver.tonari_fake_devices(devices, seed)
        self("cuInit", 0)
        for device in reversed(range(devices)):
            context = ctypes.c_void_p()
            self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self("cuCtxPushCurrent_v2", context)

    def __call__(self, name: str, *arguments: Any) -> None:
        if code := getattr(self.driver, name)(*arguments):
            raise RuntimeError(f"{name}: {code}, {self.driver.tonari_fake_said().decode()}")

    def held(self) -> str:
        return self.driver.tonari_fake_held().decode()

    def stream(self) -> int:
        made = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(made), 1)
        return made.value or 0

    def synchronize(self, stream: int) -> None:
        self("cuStreamSynchronize", ctypes.c_void_p(stream))

    def waits_for(self, stream: int, other: int) -> None:
        """What a stream gets from now on comes behind what another one holds."""
        event = ctypes.c_void_p()
        self("cuEventCreate", ctypes.byref(event), 2)
        self("cuEventRecord", event, ctypes.c_void_p(other))
        self("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
        self("cuEventDestroy_v2", event)

    def allocate(self, nbytes: int) -> int:
        made = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(max(nbytes, 1)))
        return made.value

    def free(self, address: int) -> None:
        self("cuMemFree_v2", ctypes.c_uint64(address))

    def pinned(self, nbytes: int) -> int:
        made = ctypes.c_void_p()
        self("cuMemHostAlloc", ctypes.byref(made), ctypes.c_size_t(max(nbytes, 1)), 0)
        return made.value or 0

    def copy(self, to: int, source: int, nbytes: int, stream: int) -> None:
        """Puts it into the stream, and does not wait."""
        addresses = ctypes.c_uint64(to), ctypes.c_uint64(source)
        self("cuMemcpyAsync", *addresses, ctypes.c_size_t(nbytes), ctypes.c_void_p(stream))


GPU = Gpu()  # one for all, since the library keeps what it has opened


class Values:
    """What a NumPy array describes, in memory of a GPU: the bytes of its base, of which it may be a
    view. `stream` is the one that its program works in."""

    def __init__(self, gpu: Gpu, array: np.ndarray, stream: int = LEGACY) -> None:
        self.gpu, self.array, self.stream = gpu, array, stream
        self._base = array if array.base is None else array.base
        self._host = self._base.__array_interface__["data"][0]
        self._at = gpu.allocate(self._base.nbytes)
        self._pinned = gpu.pinned(self._base.nbytes)
        self.address = self._at + array.__array_interface__["data"][0] - self._host
        self.read_only = False
        self.put()

    def put(self, wait: bool = True) -> None:
        """What the host's array has comes to the GPU: at some time, in the stream."""
        ctypes.memmove(self._pinned, self._host, self._base.nbytes)
        self.gpu.copy(self._at, self._pinned, self._base.nbytes, self.stream)
        if wait:
            self.gpu.synchronize(self.stream)

    def get(self, stream: int | None = None) -> np.ndarray:
        """The other way, behind what the stream holds."""
        stream = self.stream if stream is None else stream
        self.gpu.copy(self._pinned, self._at, self._base.nbytes, stream)
        self.gpu.synchronize(stream)
        ctypes.memmove(self._host, self._pinned, self._base.nbytes)
        return self.array

    def __del__(self) -> None:
        self.gpu.free(self._at)
        self.gpu("cuMemFreeHost", ctypes.c_void_p(self._pinned))


class CudaArray(Values):
    """As Numba's: the CUDA array interface alone."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.address if self.array.size else None, self.read_only),
            "strides": None if self.array.flags.c_contiguous else self.array.strides,
            "version": 3,
            "stream": self.stream,
        }


class DlpackArray(Values):
    """As JAX's: DLPack alone. NumPy makes the capsules; what it says of memory is changed."""

    device = 2
    type_code: tuple[int, int] | None = None  # code and bits, in the place of NumPy's
    alive = 0  # capsules whose deleter was not called

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        assert copy is False and max_version is not None
        return self.capsule(stream, max_version)

    def capsule(self, stream: int | None, max_version: tuple[int, int] | None) -> Any:
        assert (stream is None) == (self.device == 3)
        if stream is not None:
            self.gpu.waits_for(stream, self.stream)
        view = self.array.view(_Counted)
        if max_version is not None:  # else nothing can be said
            view.flags.writeable = not self.read_only
        made = view.__dlpack__(max_version=max_version)
        words = _words(made, max_version is not None)
        words[0], words[5] = self.address - 8, 8
        words[1] = self.device  # and number 0
        if self.type_code:
            code, bits = self.type_code
            words[2] = (words[2] & 0xFFFFFFFF) | (code | bits << 8 | 1 << 16) << 32
        return made


class OldDlpackArray(DlpackArray):
    """As of libraries before DLPack 1.0."""

    def __dlpack__(self, stream: int | None = None) -> Any:  # type: ignore[override]
        return self.capsule(stream, None)


class Managed(DlpackArray):
    """In memory that the host reads and writes, too: `values`."""

    device = 13

    def __init__(self, gpu: Gpu, array: np.ndarray, stream: int = LEGACY) -> None:
        self.gpu, self.array, self.stream, self.read_only = gpu, array, stream, False
        self.address = self.allocate(array.nbytes)
        held = (ctypes.c_char * array.nbytes).from_address(self.address)
        self.values = np.ndarray(array.shape, array.dtype, held)

    def allocate(self, nbytes: int) -> int:
        made = ctypes.c_uint64()
        self.gpu("cuMemAllocManaged", ctypes.byref(made), ctypes.c_size_t(nbytes), 1)
        return made.value

    def __del__(self) -> None:
        self.gpu.free(self.address)


class Pinned(Managed):
    device = 3

    def allocate(self, nbytes: int) -> int:
        return self.gpu.pinned(nbytes)

    def __del__(self) -> None:
        self.gpu("cuMemFreeHost", ctypes.c_void_p(self.address))


class Tensor(OldDlpackArray, CudaArray):
    """As PyTorch's and CuPy's for years: both, where DLPack cannot say what may be written."""


class _Counted(np.ndarray):
    """What a capsule keeps, until its deleter is called."""

    def __array_finalize__(self, _: Any) -> None:
        DlpackArray.alive += 1

    def __del__(self) -> None:
        DlpackArray.alive -= 1


def _words(capsule: Any, versioned: bool) -> Any:
    """Its DLTensor, as numbers of eight bytes: address, device, dimensions and type, shape,
    strides, and how far behind the address the values begin."""
    name = b"dltensor_versioned" if versioned else b"dltensor"
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )(capsule, name)
    return (ctypes.c_uint64 * 6).from_address(pointer + (32 if versioned else 0))


def _look_at_freed() -> None:
    """On all ranks. What a request by handles had is given back once all of them have closed it;
    later calls find that out."""
    cart = MPI.COMM_SELF.Create_cart([1], periods=[True])
    send, recv = np.zeros((1, 1)), np.zeros((1, 1))
    with tonari.mpi.Neighborhood(cart, [[1]]) as near:
        for _ in range(20):
            MPI.COMM_WORLD.Barrier()
            near.alltoall_init(send, recv).free()
    cart.Free()


@contextmanager
def gives_all_back(gpu: Gpu) -> Iterator[None]:
    """The block takes nothing of the driver that it does not give back, and keeps no capsule. On
    all ranks."""
    _look_at_freed()
    before = gpu.held(), DlpackArray.alive
    yield
    _look_at_freed()
    after = gpu.held(), DlpackArray.alive
    assert after == before, f"{before}, then {after}"
