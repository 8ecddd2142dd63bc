# SPDX-License-Identifier: BSD-3-Clause
"""libtonari of the MPI that mpi4py runs with, and its functions.

`call("start", handle)` calls tonari_start, and raises Error with the library's sentence.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tonari.errors import Error
from tonari.installation import LIBRARIES, PACKAGE
from tonari.mpi import prototypes

try:
    from mpi4py import MPI
except ImportError as missing:
    raise ImportError(
        f"tonari.mpi needs mpi4py and an MPI, which cannot be loaded ({missing}): install an MPI,"
        " and mpi4py by `pip install mpi4py` (both: `pip install 'tonari[mpi]'`); planning"
        " (tonari.neighborhood) works without"
    ) from None

STANDARD_WORLD = 0x101  # MPI_COMM_WORLD in the standard ABI (MPI 5.0, section 20.3)
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH or a relative", "abi": "the standard ABI of MPI 5"}


def kind_of_mpi() -> str:
    """openmpi, mpich or abi, as libraries are called: by what handles are (docs/adr/0029)."""
    if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int):
        return "mpich"
    return "abi" if MPI._handleof(MPI.COMM_WORLD) == STANDARD_WORLD else "openmpi"


KIND = kind_of_mpi()
Handle: Any = ctypes.c_int if KIND == "mpich" else ctypes.c_void_p
GridShape, VectorValues, BlocksShape = prototypes.with_handles(Handle)


def candidates(kind: str) -> Iterator[Path]:
    """Where the library of a kind may lie: what $TONARI_LIBRARY names and nothing else; a build
    tree; beside this package where both were installed."""
    if named := os.environ.get("TONARI_LIBRARY"):
        yield Path(named)
        return
    name = "libtonari_abi.so" if kind == "abi" else "libtonari.so"
    for tree in (os.environ.get("TONARI_BUILD"), PACKAGE.parents[1] / "build"):
        if tree:
            yield Path(tree, kind, "lib", name)
    for folder in LIBRARIES:
        yield from sorted(folder.glob(f"tonari/{kind}/{name}.*"))


def find(kind: str) -> Path:
    for path in candidates(kind):
        if path.is_file():
            return path.resolve()
    looked = os.environ.get("TONARI_LIBRARY") or f"beside {PACKAGE}"
    raise ImportError(
        f"mpi4py runs with {NAMES[kind]}, and there is no libtonari for it ({looked}): build it"
        " with the mpicxx of this MPI (make install), and set TONARI_LIBRARY to its libtonari.so"
    )


def load(path: Path) -> tuple[ctypes.CDLL, ctypes.PyDLL]:
    """The library twice: calls that wait for other ranks let other threads run, quick ones do
    not."""
    try:
        return ctypes.CDLL(str(path)), ctypes.PyDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded ({error}): it must have been built with the MPI that mpi4py"
            f" runs with, {MPI.Get_library_version().splitlines()[0].strip()}"
        ) from None


PATH = find(KIND)
_waiting, _quick = load(PATH)
_TYPES = {"H": Handle, "i": ctypes.c_int, "l": ctypes.c_int64, "p": ctypes.c_void_p}


def function(name: str) -> Callable[..., int]:
    """The C function tonari_<name>; it returns a code."""
    library = _quick if name in prototypes.QUICK else _waiting
    try:
        found = library[f"tonari_{name}"]
    except AttributeError:
        raise ImportError(
            f"{PATH} has no tonari_{name}: it is older than this package; build it anew"
        ) from None
    found.argtypes = [_TYPES[kind] for kind in prototypes.FUNCTIONS[name]]
    found.restype = ctypes.c_int
    return found


_last_error = _quick.tonari_last_error
_last_error.argtypes, _last_error.restype = [], ctypes.c_char_p
_refuse = _quick.tonari_refuse
_refuse.argtypes, _refuse.restype = [ctypes.c_int, ctypes.c_char_p], None
describe_request = _waiting.tonari_request_describe
describe_request.argtypes, describe_request.restype = [ctypes.c_void_p], ctypes.c_char_p
_FUNCTIONS = {name: function(name) for name in prototypes.FUNCTIONS}


def fail(code: int) -> None:
    """Raises the error that the last call of this thread returned."""
    raise Error(_last_error().decode(errors="replace"), code)


def refuse(code: int, sentence: str) -> None:
    """The next call fails with this sentence, on all ranks that it concerns."""
    _refuse(code, sentence.encode())


def call(name: str, *arguments: Any) -> None:
    if code := _FUNCTIONS[name](*arguments):
        fail(code)


def created(name: str, *arguments: Any) -> int:
    """Calls a function whose last argument is where a new handle goes, and returns the handle. It
    is 0 for requests within a group."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.addressof(handle))
    return handle.value or 0


def freed(name: str, handle: int) -> None:
    """Calls a function that frees what the handle belongs to."""
    value = ctypes.c_void_p(handle)
    call(name, ctypes.addressof(value))


def handle_of(thing: Any) -> int:
    """Of an object of mpi4py, which gives all of them as unsigned numbers of a pointer's size."""
    number = MPI._handleof(thing)
    return ctypes.c_int(number).value if KIND == "mpich" else number
