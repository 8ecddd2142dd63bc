# SPDX-License-Identifier: BSD-3-Clause
"""What a DLPack capsule says of memory, whatever library has made it.

https://dmlc.github.io/dlpack/latest: versions before 1.0 and 1.x. NumPy's own from_dlpack takes
memory of the host only, and no types that NumPy has not.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonari.errors import ARGUMENT, Error
from tonari.mpi.streams import LEGACY

HOST = {1, 3}  # kDLCPU, kDLCUDAHost
CUDA = 2  # kDLCUDA
MANAGED = 13  # kDLCUDAManaged
_OTHERS = {4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 11: "ROCm", 14: "oneAPI"}
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # kDLInt, kDLUInt, kDLFloat, kDLComplex, kDLBool
_READ_ONLY = 1  # a flag


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    """DLTensor, which is also what a DLManagedTensor begins with"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("dims", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements
        ("offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned"""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# Prototypes of this module's own: others may have set those of ctypes.pythonapi.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@dataclass(frozen=True)
class Tensor:
    address: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes
    read_only: bool | None  # None: it cannot say
    device: int  # HOST, CUDA or MANAGED
    stream: int | None  # that waits for what the array's library has put into its own ones
    capsule: Any  # which frees the memory when nobody has it any more


def tensor(thing: Any, name: str) -> Tensor:
    """Of an object that has __dlpack__."""
    device = int(thing.__dlpack_device__()[0])
    if device not in {*HOST, CUDA, MANAGED}:
        kind = _OTHERS.get(device, f"another kind (DLPack's number {device})")
        raise Error(
            f"{name} is memory of a device of {kind}; tonari takes that of the host and of GPUs of"
            " CUDA: copy it there",
            ARGUMENT,
        )
    stream = None if device in HOST else LEGACY
    capsule = _exported(thing, {} if stream is None else {"stream": stream})
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise Error(
                f"{name} comes by version {versioned.major} of DLPack; tonari reads version 1 and"
                " those before it",
                ARGUMENT,
            )
        c, read_only = versioned.tensor, bool(versioned.flags & _READ_ONLY)
    elif _is_valid(capsule, b"dltensor"):
        c, read_only = _Tensor.from_address(_pointer(capsule, b"dltensor")), None
    else:
        raise Error(f"{name} has a __dlpack__ that gives no capsule of DLPack", ARGUMENT)
    dtype = _dtype(c.type, name)
    shape = tuple(c.shape[: c.dims]) if c.dims else ()
    strides = tuple(n * dtype.itemsize for n in c.strides[: c.dims]) if c.strides else None
    address = (c.data or 0) + c.offset
    return Tensor(address, dtype, shape, strides, read_only, device, stream, capsule)


def _exported(thing: Any, stream: dict[str, int]) -> Any:
    """Libraries that are older than version 1.0 know fewer arguments."""
    try:
        return thing.__dlpack__(max_version=(1, 0), copy=False, **stream)
    except TypeError:
        return thing.__dlpack__(**stream)


def _dtype(kind: Any, name: str) -> np.dtype:
    """What NumPy has no type for, such as bfloat16, is moved as bytes."""
    size, rest = divmod(kind.bits * kind.lanes, 8)
    if rest or not size:
        raise Error(
            f"{name} has elements of {kind.bits * kind.lanes} bits; tonari moves whole bytes",
            ARGUMENT,
        )
    code = _KINDS.get(kind.code, "V") if kind.lanes == 1 else "V"
    try:
        return np.dtype(f"{code}{size}")
    except TypeError:
        return np.dtype(f"V{size}")
