# SPDX-License-Identifier: BSD-3-Clause
"""libtonari_preload and libtonari_advise export what src/preload/symbols.txt lists: usage:
preload_symbols.py SOURCE_ROOT NM CC LIBRARY... [-- INCLUDE_DIRECTORY...]."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from symbols import differences, exported

LIBRARY = re.compile(r"libtonari_(\w+)\.so")
# What only `tonari advise` may stand in front of: nobody else may slow it down or blind tools.
MESSAGES = re.compile(
    r"MPI_(I?[SRB]?send(_init|recv\w*)?|I?recv\w*|Wait\w*|Test\w*)", re.IGNORECASE
)
Row = tuple[str, str, str]


def holds(condition: str, macros: Mapping[str, int]) -> bool:
    """Whether an MPI with these macros in its header has what has this condition."""
    new, open_mpi = macros.get("MPI_VERSION", 0) >= 4, macros.get("OMPI_MAJOR_VERSION", 0)
    return {
        "always": True,
        "MPI-4": new,
        "init": new or open_mpi >= 5,
        "MPIX": not new and open_mpi < 5,
        "UCX": not open_mpi,
    }[condition]


def rows_of(text: str) -> list[Row]:
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [(name, library, condition) for name, library, condition in lines]


def both(name: str) -> set[str]:
    return {name, "P" + name} if name.startswith("MPI") else {name}


def problems(rows: list[Row], macros: Mapping[str, int], library: str, nm: str) -> list[str]:
    wrong = []
    if rows != sorted(set(rows), key=lambda row: (row[1] != "preload", row[0])):
        wrong.append("the rows are not sorted, or one is there twice")
    mine = [row for row in rows if row[1] == library]
    known = set().union(*(both(name) for name, _, where in mine if holds(where, macros)))
    wrong += differences(known, exported(nm), f"exported by libtonari_{library}")
    messages = [name for name, _, _ in mine if MESSAGES.fullmatch(name)] * (library == "preload")
    return wrong + [f"{name} is a message, and not for libtonari_preload" for name in messages]


def selftest() -> None:
    rows = rows_of("# about\nMPI_A preload always\nMPI_A_c preload MPI-4\nMPI_Wait advise always\n")
    old, new = {"MPI_VERSION": 3, "OMPI_MAJOR_VERSION": 4}, {"MPI_VERSION": 4}
    nm = "01 T MPI_A\n01 T PMPI_A\n"
    large = nm + "01 T MPI_A_c\n01 T PMPI_A_c\n"
    assert not problems(rows, old, "preload", nm), problems(rows, old, "preload", nm)
    assert not problems(rows, new, "preload", large), problems(rows, new, "preload", large)
    message = [("MPI_A", "preload", "always"), ("MPI_Isend", "preload", "always")]
    wrong = {
        "PMPI_A is listed, but not exported": (rows, old, "preload", "01 T MPI_A\n"),
        "PMPI_A_c is exported": (rows, old, "preload", large),
        "MPI_A_c is listed, but": (rows, new, "preload", nm),
        "PMPI_Wait is listed, but not exported": (rows, old, "advise", "01 T MPI_Wait\n"),
        "the rows are not sorted": (rows[::-1], old, "preload", nm),
        "MPI_Isend is a message": (message, old, "preload", nm),
    }
    for sentence, case in wrong.items():
        assert any(sentence in problem for problem in problems(*case)), (sentence, problems(*case))


def macros_of(compiler: str, includes: list[str]) -> dict[str, int]:
    """The numbers that the header of the MPI defines."""
    options = [f"-I{folder}" for folder in includes]
    command = [compiler, *options, "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(n) for name, n in re.findall(r"^#define (\w+) \(?(\d+)\)?$", text, re.M)}


def main(root: Path, nm: str, compiler: str, libraries: list[str], includes: list[str]) -> int:
    rows = rows_of((root / "src/preload/symbols.txt").read_text(encoding="utf-8"))
    macros, found = macros_of(compiler, includes), []
    for file in libraries:
        command = [nm, "-D", "--defined-only", file]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        [library] = LIBRARY.findall(Path(file).name)
        found += problems(rows, macros, library, symbols)
    print("\n".join(found) or "what stands in front of the MPI is listed, no other function")
    return bool(found)


if __name__ == "__main__":
    selftest()
    words, includes = sys.argv[1:], []
    if "--" in words:
        words, includes = words[: words.index("--")], words[words.index("--") + 1 :]
    sys.exit(main(Path(words[0]), words[1], words[2], words[3:], includes))
