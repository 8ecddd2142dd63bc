# SPDX-License-Identifier: BSD-3-Clause
"""What arguments become for C: types of MPI for elements, and integers of the right width."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi.memory import Memory

# Types that MPI can add; all others are moved as bytes.
_TYPES = {
    "?": MPI.C_BOOL,
    "f4": MPI.FLOAT,
    "f8": MPI.DOUBLE,
    "c8": MPI.C_FLOAT_COMPLEX,
    "c16": MPI.C_DOUBLE_COMPLEX,
    **{f"i{bits // 8}": getattr(MPI, f"INT{bits}_T") for bits in (8, 16, 32, 64)},
    **{f"u{bits // 8}": getattr(MPI, f"UINT{bits}_T") for bits in (8, 16, 32, 64)},
}


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@cache
def mpi_type(dtype: np.dtype) -> MPI.Datatype:
    """MPI's type of the elements; where there is none, as many bytes."""
    if dtype.isnative and (found := _TYPES.get(dtype.str[1:].replace("b1", "?"))):
        return found
    return MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()


def type_of_view(array: Memory) -> MPI.Datatype:
    """A committed type of all elements of an array, strided in any way, from its first one on."""
    made = mpi_type(array.dtype).Dup()
    for length, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        inner, made = made, made.Create_hvector(length, 1, stride)
        inner.Free()
    return made.Commit()


def integers(values: Any, name: str, dtype: Any, length: int | None = None) -> np.ndarray:
    """One-dimensional integers for C, as many as `length` says."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise Error(
            f"{name} must be a list of integers, not {_shape(array)} of {array.dtype}", ARGUMENT
        )
    if length is not None and len(array) != length:
        raise Error(f"{name} has {len(array)} entries; it must have {length}", ARGUMENT)
    return narrowed(array, name, dtype)


def narrowed(array: np.ndarray, name: str, dtype: Any) -> np.ndarray:
    """Integers in the width that C takes, if all of them fit."""
    bounds = np.iinfo(dtype)
    if array.size and not bounds.min <= int(array.min()) <= int(array.max()) <= bounds.max:
        raise Error(f"{name} has an entry that does not fit into {bounds.bits} bits", ARGUMENT)
    return np.ascontiguousarray(array, dtype=dtype)


def one_integer(value: Any, name: str, dtype: Any = np.intc) -> int:
    """A number that C takes in this width; ctypes would cut it off without a word."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise Error(f"{name} is {value!r}; it must be a whole number", ARGUMENT)
    bounds = np.iinfo(dtype)
    if not bounds.min <= value <= bounds.max:
        raise Error(f"{name} is {value}, which does not fit into {bounds.bits} bits", ARGUMENT)
    return int(value)


def _shape(array: np.ndarray) -> str:
    return f"an array of shape {array.shape}" if array.ndim else "a number"


def is_list(thing: Any) -> bool:
    """array.array, bytes and ranges are sequences, too."""
    return isinstance(thing, (list, tuple))
