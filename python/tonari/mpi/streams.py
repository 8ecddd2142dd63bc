# SPDX-License-Identifier: BSD-3-Clause
"""Streams of a GPU of CUDA: their handles, whatever library has made them, and waiting for one."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from tonari.errors import ARGUMENT, INTERNAL, Error

LEGACY = 1  # CUDA's handle of the default stream that the others of a device wait for
_DEVICE = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def handle_of(stream: Any) -> int:
    """Of a number; or of a stream by its __cuda_stream__, or as PyTorch and CuPy have it."""
    number = stream
    if hasattr(stream, "__cuda_stream__"):
        number = stream.__cuda_stream__()[1]
    elif hasattr(stream, "cuda_stream"):
        number = stream.cuda_stream
    elif hasattr(stream, "ptr"):
        number = stream.ptr
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**64:
        return number
    raise Error(
        f"stream is {stream!r}; it must be a handle of CUDA, or a stream with __cuda_stream__,"
        " cuda_stream or ptr",
        ARGUMENT,
    )


def wait_for(stream: int, address: int, name: str) -> None:
    """Returns when a stream has done what it holds. Default streams are meant of the device that
    has the memory at this address."""
    driver, device, context = _driver(), ctypes.c_int(), ctypes.c_void_p()

    def do(function: str, *arguments: Any) -> None:
        if code := getattr(driver, function)(*arguments):
            raise Error(
                f"{function} of CUDA's driver failed with {code}, in waiting for the stream"
                f" {stream} that {name} came with",
                INTERNAL,
            )

    do("cuPointerGetAttribute", ctypes.byref(device), _DEVICE, ctypes.c_uint64(address))
    do("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        do("cuCtxPushCurrent_v2", context)
        try:
            do("cuStreamSynchronize", ctypes.c_void_p(stream))
        finally:
            do("cuCtxPopCurrent_v2", ctypes.byref(context))
    finally:
        do("cuDevicePrimaryCtxRelease_v2", device)


@cache
def _driver() -> ctypes.CDLL:
    """Other threads run while it waits."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Error(
            f"a stream of a GPU cannot be waited for without CUDA's driver ({error}): install it",
            ARGUMENT,
        ) from None
