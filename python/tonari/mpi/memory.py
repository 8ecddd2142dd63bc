# SPDX-License-Identifier: BSD-3-Clause
"""Memory that programs hand over: where it is, what it holds, and what keeps it.

NumPy arrays, and anything with the buffer protocol, DLPack or the CUDA array interface, which
arrays of CuPy, PyTorch, JAX and Numba have. Nothing is copied, and no library is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import dlpack, streams

READ_ONLY = "is read-only memory, and would be written"
UNTOLD = (
    "comes by a DLPack older than 1.0, which does not say whether it may be written; receive into"
    " an array of another library, or of a newer version"
)


@dataclass(slots=True)  # frozen ones take three times as long to make
class Memory:
    """Of the host or of a GPU; how C knows."""

    address: int
    nbytes: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    c_contiguous: bool
    owner: Any
    not_written: str  # why not, as a part of a sentence; empty: it may be written
    on_gpu: bool = False  # so that the host cannot read it
    # Its work may write or read the memory: of who hands it over, at that time.
    stream: int | None = None

    def wait_for_stream(self, name: str) -> None:
        if self.stream is not None and self.nbytes:
            streams.wait_for(self.stream, self.address, name)


def memory(thing: Any, name: str, written: bool = False) -> Memory:
    """The memory of an array, a bytearray, a tensor, ..., where it is."""
    found = _found(thing, name)
    if found.dtype.hasobject:
        raise Error(f"{name} holds Python objects; tonari moves plain memory", ARGUMENT)
    if written and found.not_written:
        raise Error(f"{name} {found.not_written}", BUFFERS)
    return found


def contiguous(thing: Any, name: str, written: bool = False) -> Memory:
    found = memory(thing, name, written)
    if not found.c_contiguous:
        raise Error(
            f"{name} is not contiguous in C order; give alltoallw a list of arrays, one per"
            " neighbor, which may be any views",
            ARGUMENT,
        )
    return found


def on_host(thing: Any, name: str, written: bool = False) -> np.ndarray:
    """As a NumPy array that shares it."""
    found = memory(thing, name, written)
    if found.on_gpu:
        raise Error(
            f"{name} is memory of a GPU, which only the operations of neighborhoods take; copy it"
            " to the host",
            ARGUMENT,
        )
    found.wait_for_stream(name)
    return found.owner if isinstance(found.owner, np.ndarray) else np.asarray(_Interface(found))


def _found(thing: Any, name: str) -> Memory:
    if isinstance(thing, np.ndarray):
        return _of_array(thing)
    try:
        return _of_array(np.asarray(memoryview(thing)))
    except (TypeError, BufferError):
        pass
    if hasattr(thing, "__dlpack__"):
        return _of_tensor(dlpack.tensor(thing, name), thing)
    if (interface := getattr(thing, "__cuda_array_interface__", None)) is not None:
        return _of_interface(interface, thing, name)
    raise Error(
        f"{name} is a {type(thing).__name__}; it must be an array, or have the buffer protocol,"
        " DLPack or the CUDA array interface",
        ARGUMENT,
    )


def _of_array(array: np.ndarray) -> Memory:
    flags = array.flags
    return Memory(
        array.__array_interface__["data"][0],
        array.nbytes,
        array.dtype,
        array.shape,
        array.strides,
        flags.c_contiguous,
        array,
        "" if flags.writeable else READ_ONLY,
    )


def _of_others(
    address: int,
    dtype: np.dtype,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    *others: Any,
) -> Memory:
    """strides: None: elements lie one behind the other."""
    packed, nbytes = [dtype.itemsize], prod(shape) * dtype.itemsize
    for length in reversed(shape[1:]):
        packed.append(packed[-1] * length)
    wanted = tuple(reversed(packed[: len(shape)]))
    found = wanted if strides is None else strides
    steps = zip(shape, found, wanted, strict=True)
    flat = not nbytes or all(length == 1 or step == other for length, step, other in steps)
    return Memory(address, nbytes, dtype, shape, found, flat, *others)


def _of_tensor(found: dlpack.Tensor, thing: Any) -> Memory:
    """Where DLPack cannot say whether it is read-only, the CUDA array interface can."""
    read_only = found.read_only
    if read_only is None and found.device not in dlpack.HOST:
        interface = getattr(thing, "__cuda_array_interface__", None)
        read_only = interface["data"][1] if interface else None
    return _of_others(
        found.address,
        found.dtype,
        found.shape,
        found.strides,
        (thing, found.capsule),
        UNTOLD if read_only is None else READ_ONLY if read_only else "",
        found.device == dlpack.CUDA,
        found.stream,
    )


def _of_interface(interface: dict[str, Any], thing: Any, name: str) -> Memory:
    """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""
    version = interface["version"]
    if version not in (2, 3):
        raise Error(
            f"{name} has version {version} of the CUDA array interface; tonari reads versions 2"
            " and 3",
            ARGUMENT,
        )
    if interface.get("mask") is not None:
        raise Error(f"{name} has a mask; tonari moves plain memory", ARGUMENT)
    stream = interface.get("stream")
    if stream == 0:
        raise Error(
            f"{name} gives 0 for its stream, which the CUDA array interface does not allow: it must"
            " be None, 1, 2 or a handle",
            ARGUMENT,
        )
    strides = interface.get("strides")
    address, read_only = interface["data"]
    return _of_others(
        address or 0,
        np.dtype(interface["typestr"]),
        tuple(interface["shape"]),
        None if strides is None else tuple(strides),
        thing,
        READ_ONLY if read_only else "",
        True,
        stream,
    )


class _Interface:
    """What NumPy makes an array of, which then keeps it."""

    def __init__(self, found: Memory) -> None:
        self._owner = found.owner
        self.__array_interface__ = {
            "shape": found.shape,
            "typestr": found.dtype.str,
            "data": (found.address, bool(found.not_written)),
            "strides": found.strides,
            "version": 3,
        }
