# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module has every function of the C headers, and calls them with the arguments that
they have: usage: fortran.py SOURCE_ROOT. Prints what is missing or differs, and exits with 1."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARED = re.compile(r"^TONARI_API\b([^;(]*?)(\w+)\s*\(([^;]*)\);", re.MULTILINE)
NEIGHBORS_OF_BRICKS = "a table for the kernels of stencil.hpp; grids in Fortran are arrays"
PAPER = "the interface that Träff et al. (2016) print in their paper is one of C"
# Functions of C without a procedure, and why.
WITHOUT = {
    "tonari_refuse": "for layers above C, which refuse what C cannot see",
    "tonari_*_c": "one procedure has counts of both kinds; lists of vectors are default integers",
    "tonari_grid_memory_*": "the memory of a grid that outlives it is for languages with views",
    "tonari_grid_shape_cells": "grid_create says the same of a grid that exists",
    "tonari_vector_renumber": "the module has no mesh whose indices are not contiguous",
    "tonari_grid_get_bricks": NEIGHBORS_OF_BRICKS,
    "tonari_grid_bricks_of": NEIGHBORS_OF_BRICKS,
    "Iso_*": PAPER,
    "tonari_fortran_*": "what the module itself calls",
}
# What stands for a parameter: of C its type, without const, `*` for a pointer; of Fortran its
# declaration, with `*` where it is passed by reference.
SAME = {
    "int": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "int*": "integer(c_int)*",
    "int32_t*": "integer(c_int32_t)*",
    "int64_t*": "integer(c_int64_t)*",
    "MPI_Aint*": "integer(c_intptr_t)*",
    "MPI_Count*": "integer(c_long_long)*",
    "char*": "character(c_char)*",
    "void**": "type(c_ptr)*",
    "tonari_box*": "type(c_box)*",
    "tonari_ghosts*": "type(tonari_ghosts)*",
    "tonari_array*": "type(tonari_array)*",
    "tonari_grid_info*": "type(tonari_grid_info)*",
    "tonari_fortran_field*": "type(tonari_vector_field)*",
    "tonari_request_info*": "type(c_request_info)*",
    "tonari_vector_facts*": "type(c_vector_facts)*",
}
HANDLES = ["neighborhood", "request", "grid", "vector", "blocks", "messages"]
SAME |= {f"tonari_{handle}": "type(c_ptr)" for handle in HANDLES}
SAME |= {f"tonari_{handle}*": "type(c_ptr)*" for handle in HANDLES}
# An address may be passed as a number, whatever it points to.
ADDRESS = "type(c_ptr)"


def functions_of_c(headers: list[str]) -> dict[str, list[str]]:
    """Names, and what stands for each parameter."""
    return {
        name: [] if parameters.strip() in ("", "void") else list(map(c_kind, parameters.split(",")))
        for text in headers
        for _, name, parameters in DECLARED.findall(COMMENT.sub("", text))
    }


def c_kind(parameter: str) -> str:
    words = re.sub(r"\bconst\b", "", parameter)
    kind = words.split()[0].rstrip("*")
    return kind + "*" * (words.count("*") + words.count("["))


def joined(text: str) -> str:
    """Lines without comments, and statements in one line each."""
    lines = [re.sub(r"!.*", "", line) for line in text.splitlines() if not line.startswith("#")]
    return re.sub(r"&\s*", " ", "\n".join(lines))


def functions_of_fortran(text: str) -> dict[str, list[str]]:
    """Of the interfaces: the names that C has, and what stands for each argument."""
    found = {}
    starts = re.compile(r'(?:function|subroutine) \w+\(([^)]*)\)\s+bind\(C, name="(\w+)"\)')
    for start in starts.finditer(text := joined(text)):
        arguments = [word.strip() for word in start[1].split(",") if word.strip()]
        body = text[start.end() :].split("\n    end ")[0]
        kinds = {}
        for attributes, names in re.findall(r"^\s+(\w+\(\w+\).*?) :: (.*)$", body, re.MULTILINE):
            kind = attributes.split(",")[0] + ("" if "value" in attributes else "*")
            kinds |= {name.strip(): kind for name in names.split(",")}
        found[start[2]] = [kinds.get(argument, "undeclared") for argument in arguments]
    return found


def procedures(text: str) -> set[str]:
    """What the module shows to programs."""
    return {
        name.strip()
        for names in re.findall(r"^\s*public ::(.*)$", joined(text), re.MULTILINE)
        for name in names.split(",")
        if name.strip().startswith("tonari_")
    }


def is_without(name: str) -> bool:
    return any(re.fullmatch(pattern.replace("*", r"\w*"), name) for pattern in WITHOUT)


def problems(headers: list[str], calls: str, module: str) -> Iterator[str]:
    c, fortran, shown = functions_of_c(headers), functions_of_fortran(calls), procedures(module)
    for name in sorted(c):
        if is_without(name) == (name in shown):
            yield (
                f"{name} is a procedure, so it is no exception"
                if name in shown
                else f"{name} has no procedure in Fortran, and no reason why not"
            )
    yield from (
        f"{pattern} is an exception, but C has no such function"
        for pattern in WITHOUT
        if not any(re.fullmatch(pattern.replace("*", r"\w*"), name) for name in c)
    )
    for name, given in sorted(fortran.items()):
        if name not in c and name != "strlen":
            yield f"{name} is called, but no header declares it"
        wanted = c.get(name, given)
        if len(wanted) != len(given):
            yield f"{name} has {len(wanted)} parameters in C, but {len(given)} in Fortran"
        for number, (of_c, of_fortran) in enumerate(zip(wanted, given, strict=False), 1):
            is_address = of_fortran == ADDRESS and of_c.endswith("*")
            if name in c and SAME.get(of_c) != of_fortran and not is_address:
                yield f"{name}, parameter {number}: {of_c} in C, but {of_fortran} in Fortran"


def selftest() -> None:
    header = "TONARI_API int tonari_f(const int counts[], void* buf, tonari_request* request);\n"
    iso = ""
    for pattern in WITHOUT:
        iso += f"TONARI_API int {pattern.replace('*', 'f')}(int a);\n"
    calls = (
        'integer(c_int) function c_f(counts, buf, &\n   request) bind(C, name="tonari_f")\n'
        "      import\n      integer(c_int), intent(in), dimension(*) :: counts\n"
        "      type(c_ptr), value :: buf\n      type(c_ptr), intent(inout) :: request\n"
        "    end function\n"
    )
    module = "  public :: &\n   tonari_f\n"
    assert not list(problems([header, iso], calls, module)), list(
        problems([header, iso], calls, module)
    )
    wrong = {
        "tonari_f has no procedure": (header, calls, "  public :: tonari_g\n"),
        "parameter 1: int* in C, but integer(c_int64_t)*": (
            header,
            calls.replace("integer(c_int), intent", "integer(c_int64_t), intent"),
            module,
        ),
        "parameter 3: tonari_request in C, but type(c_ptr)* in Fortran": (
            header.replace("tonari_request*", "tonari_request"),
            calls,
            module,
        ),
        "has 4 parameters in C, but 3": (header.replace("buf,", "buf, int n,"), calls, module),
        "tonari_grid_bricks_of is a procedure": (
            header,
            calls,
            module + "  public :: tonari_grid_bricks_of\n",
        ),
    }
    for sentence, (given, called, shown) in wrong.items():
        found = list(problems([given, iso], called, shown))
        assert any(sentence in problem for problem in found), (sentence, found)


def main(root: Path) -> int:
    headers = [path.read_text(encoding="utf-8") for path in sorted(root.glob("include/tonari/*.h"))]
    folder = root / "include/tonari/fortran"
    module = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()))
    calls = (folder / "c_calls.inc").read_text(encoding="utf-8")
    listed = {
        line.split()[0]
        for line in (root / "include/symbols.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    }
    found = list(problems(headers, calls, module))
    found += [f"{name} is not declared" for name in sorted(listed - set(functions_of_c(headers)))]
    print("\n".join(found) or f"{len(procedures(module))} procedures; each C function has one")
    return bool(found)


if __name__ == "__main__":
    selftest()
    sys.exit(main(Path(sys.argv[1])))
