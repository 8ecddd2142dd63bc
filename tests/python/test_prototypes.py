# SPDX-License-Identifier: BSD-3-Clause
"""The functions and structures that Python calls the library with are those of the headers."""

from __future__ import annotations

import ctypes
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]


def _loaded() -> object:
    """Without its package, which needs mpi4py."""
    path = SOURCE / "python/tonari/mpi/prototypes.py"
    spec = spec_from_file_location("prototypes", path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


P = _loaded()


class Handle(ctypes.c_int):
    """Of MPI."""


HEADERS = "".join(
    re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    for file in sorted((SOURCE / "include/tonari").glob("*.h"))
)
FUNCTION = re.compile(r"TONARI_API int tonari_(\w+)\(([^)]*)\);")
STRUCT = re.compile(r"typedef struct (?:\w+ )?\{(.*?)\} tonari_(\w+);", re.S)
UNION = re.compile(r"TONARI_UNNAMED union \{\s*(.*?;).*?\};", re.S)
MEMBER = re.compile(r"(?:const )?(?P<type>\w+)(?P<pointer>\*?) (?P<names>[^;]+);")
KINDS = {"MPI_Comm": "H", "MPI_Info": "H", "MPI_Datatype": "H", "MPI_Op": "H"}
KINDS |= {"int": "i", "int64_t": "l", "MPI_Count": "l"}
TYPES = {
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "MPI_Count": ctypes.c_int64,
    "MPI_Datatype": Handle,
    "char": ctypes.c_char,
    "tonari_box": P.Box,
}
SIZES = {"TONARI_GRID_MAX_DIMS": 5}


def kind_of(argument: str) -> str:
    if "*" in argument or "[" in argument or argument.strip().startswith("tonari_"):
        return "p"
    return KINDS[argument.replace("const ", "").split()[0]]


def of_header(arguments: str) -> str:
    return "".join(kind_of(argument) for argument in arguments.split(",") if argument != "void")


def test_functions_take_what_the_headers_say() -> None:
    declared = {name: of_header(arguments) for name, arguments in FUNCTION.findall(HEADERS)}
    mine = P.FUNCTIONS
    assert len(mine) > 70
    assert mine == {name: declared.get(name, "not declared") for name in mine}


def members(body: str) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for member in MEMBER.finditer(UNION.sub(r"\1", body)):
        for name in member["names"].split(","):
            plain, _, size = name.strip().partition("[")
            kind: object = TYPES.get(member["type"])
            if member["pointer"]:
                kind = ctypes.c_char_p if member["type"] == "char" else ctypes.c_void_p
            if size:
                word = size.rstrip("]")
                kind = kind * SIZES.get(word, int(word) if word.isdigit() else 0)
            found.append((plain, kind))
    return found


STRUCTURES = {
    "request_info": P.RequestInfo,
    "grid_info": P.GridInfo,
    "array": P.Array,
    "bricks": P.Bricks,
    "box": P.Box,
    "ghosts": P.Ghosts,
    "vector_facts": P.VectorFacts,
    **dict(
        zip(("grid_shape", "vector_values", "blocks_shape"), P.with_handles(Handle), strict=True)
    ),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_are_those_of_the_headers(name: str) -> None:
    (body,) = [body for body, found in STRUCT.findall(HEADERS) if found == name]
    assert members(body) == STRUCTURES[name]._fields_
    assert STRUCTURES[name].__doc__ == f"tonari_{name}"


def test_messages_are_those_of_the_header() -> None:
    """A structure that programs see by a pointer only."""
    (body,) = re.findall(
        r"typedef const struct tonari_messages_s \{(.*?)\}\* tonari_messages;", HEADERS, re.S
    )
    assert members(body) == P.Messages._fields_


def test_constants_are_those_of_the_headers() -> None:
    assert re.search(rf"#define TONARI_GRID_MAX_DIMS {P.MOST_DIMS}\n", HEADERS)
