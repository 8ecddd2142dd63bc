# SPDX-License-Identifier: BSD-3-Clause
"""What is sent and received, as mpi4py's users write it, for the C interface.

An argument `send` or `recv` is one of

    array                              as many elements for each neighbor
    [array, type]                      a datatype of mpi4py instead of that of the elements
    [array, count, type]               so many elements in a block
    [array, counts]                    v forms: a count per neighbor, one block behind the other
    [array, (counts, displs)]          v forms: displacements in elements; then maybe a type
    [array, (counts, displs), types]   w forms: displacements in bytes, and a list of types
    [array, array, ...]                w forms: an array per neighbor, of any shape and strides

where `array` is any that tonari.mpi.memory reads, also in memory of a GPU. All is checked against
the size of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, BUFFERS, Error
from tonari.mpi import buffers
from tonari.mpi.library import KIND, handle_of
from tonari.mpi.memory import Memory, contiguous, memory

HANDLES = np.intc if KIND == "mpich" else np.uintp


@dataclass
class Side:
    """One side of an operation: arguments for C, and what they point to."""

    arguments: tuple[Any, ...]
    kept: tuple[Any, ...]  # memory that must stay as long as a request
    dtype: np.dtype | None  # of what a start with other buffers must have
    nbytes: int = 0  # that such buffers must have; -1: blocks lie in several arrays
    types: tuple[MPI.Datatype, ...] = ()  # made for the call

    def wait_for_streams(self, name: str) -> None:
        """For calls that exchange at once: what is under way on a GPU may write the memory."""
        for thing in self.kept:
            if isinstance(thing, Memory):
                thing.wait_for_stream(name)

    def close(self) -> None:
        for made in self.types:
            made.Free()


def equal(spec: Any, blocks: int, name: str, written: bool) -> Side:
    """`blocks` blocks of one size, one behind the other."""
    array, counts, kind = parts(spec, name, written)
    if counts is None:
        counts = _divided(array, blocks, kind, name)
    if isinstance(counts, bool) or not isinstance(counts, (int, np.integer)):
        raise Error(f"{name} has {counts!r} for a count; all blocks have one size here", ARGUMENT)
    count = buffers.one_integer(counts, f"{name}'s count")
    last = (blocks - 1) * count * kind.Get_extent()[1]
    used = _reach(kind, [count, count], [0, last], array, name) if blocks else 0
    return Side((array.address, count, handle_of(kind)), (array,), array.dtype, used)


def vector(spec: Any, blocks: int, name: str, written: bool) -> Side:
    """A count and a displacement, in elements, per block."""
    array, counts, kind = parts(spec, name, written)
    if counts is None:
        counts = [_divided(array, blocks, kind, name)] * blocks
    numbers, places = _counts_and_places(counts, blocks, name)
    extent = kind.Get_extent()[1]
    used = _reach(kind, numbers, [int(place) * extent for place in places], array, name)
    pointers = tuple(buffers.address(entries) for entries in (numbers, places))
    arguments = (array.address, *pointers, handle_of(kind))
    return Side(arguments, (array, numbers, places), array.dtype, used)


def full(spec: Any, blocks: int, name: str, written: bool) -> Side:
    """A count, a displacement in bytes and a type per block."""
    if _are_views(spec):
        return _views(spec, blocks, name, written)
    array, counts, kinds = parts(spec, name, written, several=True)
    if not buffers.is_list(kinds) or len(kinds) != blocks:
        raise Error(f"{name} must have a list of {blocks} types, one per block", ARGUMENT)
    if counts is None:
        raise Error(f"{name} must have (counts, displs) in front of its types", ARGUMENT)
    numbers, places = _counts_and_places(counts, blocks, name)
    reach = [
        _reach(kind, [number], [place], array, name)
        for kind, number, place in zip(kinds, numbers, places, strict=True)
    ]
    handles = np.array([handle_of(kind) for kind in kinds], dtype=HANDLES)
    pointers = tuple(buffers.address(entries) for entries in (numbers, places, handles))
    kept = (array, numbers, places, handles)
    return Side((array.address, *pointers), kept, array.dtype, max(reach, default=0))


def _are_views(spec: Any) -> bool:
    """Whether it is a list of arrays, and not one array with more."""
    if not buffers.is_list(spec):
        return False
    return not any(_tells_types(part) for part in spec[1:])


def _tells_types(part: Any) -> bool:
    return isinstance(part, (tuple, MPI.Datatype)) or (
        buffers.is_list(part) and all(isinstance(kind, MPI.Datatype) for kind in part)
    )


def _views(spec: Any, blocks: int, name: str, written: bool) -> Side:
    if len(spec) != blocks:
        raise Error(f"{name} has {len(spec)} arrays; there are {blocks} neighbors", ARGUMENT)
    arrays = [memory(part, f"{name}[{i}]", written) for i, part in enumerate(spec)]
    types = tuple(buffers.type_of_view(array) for array in arrays)
    numbers = np.ones(blocks, dtype=np.intc)
    places = np.array([array.address for array in arrays], dtype=np.intp)
    handles = np.array([handle_of(kind) for kind in types], dtype=HANDLES)
    pointers = tuple(buffers.address(entries) for entries in (numbers, places, handles))
    kept = (*arrays, numbers, places, handles)
    return Side((MPI.Get_address(MPI.BOTTOM), *pointers), kept, None, -1, types)


def parts(spec: Any, name: str, written: bool, several: bool = False) -> tuple[Any, Any, Any]:
    """Memory, counts if there are any, and the type, or types."""
    counts = kind = None
    if buffers.is_list(spec):
        spec, *rest = spec
        if rest and (isinstance(rest[-1], MPI.Datatype) or several):
            kind = rest.pop()
        if len(rest) > 1:
            raise Error(f"{name} must read [array, counts, type]; counts may be (counts, displs)")
        counts = rest[0] if rest else None
    array = contiguous(spec, name, written)
    return array, counts, kind if kind is not None else buffers.mpi_type(array.dtype)


def _divided(array: Memory, blocks: int, kind: MPI.Datatype, name: str) -> int:
    elements, left = divmod(array.nbytes, kind.Get_extent()[1] or 1)
    if blocks == 0 and not left:
        return 0
    if left or elements % blocks:
        raise Error(
            f"{name} has {array.nbytes} bytes, which are no {blocks} blocks of whole elements of"
            f" {kind.Get_extent()[1]} bytes",
            ARGUMENT,
        )
    return elements // blocks


def _counts_and_places(given: Any, blocks: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A tuple of two is (counts, displs); displacements that are missing, or None, make blocks lie
    one behind the other."""
    displs = None
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], (int, np.integer)):
        given, displs = given
    counts = buffers.integers(given, f"{name}'s counts", np.intc, blocks)
    if displs is None:
        displs = np.concatenate(([0], np.cumsum(counts, dtype=np.intp)[:-1]))[:blocks]
    return counts, buffers.integers(displs, f"{name}'s displs", np.intp, blocks)


def _reach(kind: MPI.Datatype, counts: Any, places: Any, array: Memory, name: str) -> int:
    """How many bytes of the array these blocks reach to, which must be there."""
    extent = kind.Get_extent()[1]
    first, span = kind.Get_true_extent()
    least = most = 0
    for count, place in zip(counts, places, strict=True):
        if count > 0:
            last = int(place) + (int(count) - 1) * extent
            ends = (int(place), last)
            least = min(least, first + min(ends))
            most = max(most, first + span + max(ends))
        elif count < 0:
            raise Error(f"{name} has a count of {count}; it must not be negative", ARGUMENT)
    if least < 0 or most > array.nbytes:
        raise Error(
            f"{name} has {array.nbytes} bytes, and its blocks reach from byte {least} to {most}",
            BUFFERS,
        )
    return most
