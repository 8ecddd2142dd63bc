# SPDX-License-Identifier: BSD-3-Clause
"""A C++ program that drops a request or another owner is warned: usage: dropped.py SOURCE_ROOT CXX
INCLUDE_DIRECTORY...

The compiler warns at the lines of headers/dropped.cpp that end in "dropped", and at no other. So
the functions there exchange at once where they have the names of C that do. Every class of the
headers that frees something in its destructor is [[nodiscard]], so new functions that return one
are, too."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rooms import public_headers

PROGRAM = Path(__file__).parent / "headers" / "dropped.cpp"


def warned(root: Path, compiler: str, mpi: list[str]) -> dict[int, str]:
    """The warnings by their line."""
    places = [f"-I{root / 'include'}", *(f"-isystem{directory}" for directory in mpi)]
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-DOMPI_SKIP_MPICXX=1"]
    command = [compiler, *flags, "-DMPICH_SKIP_MPICXX=1", *places, str(PROGRAM)]
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(done.stderr or "the compiler failed")
    found = re.findall(r"dropped\.cpp:(\d+):\d+: warning: (.*)", done.stderr)
    return {int(line): text for line, text in found}


def wrong_lines(warnings: dict[int, str]) -> Iterator[str]:
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        wanted = line.endswith("// dropped")
        if wanted and number not in warnings:
            yield f"line {number} drops an owner without a warning: {line.strip()}"
        if not wanted and number in warnings:
            yield f"line {number} has a warning: {warnings[number]}"


def unmarked(root: Path) -> Iterator[str]:
    for header in public_headers(root):
        text = header.read_text()
        for name in re.findall(r"^ *~(\w+)\(", text, re.MULTILINE):
            if not re.search(rf"(class|struct) \[\[nodiscard\]\] {name}\b", text):
                yield f"{header.name}: {name} frees what it owns, and is not [[nodiscard]]"


def main(root: Path, compiler: str, mpi: list[str]) -> int:
    problems = [*wrong_lines(warned(root, compiler, mpi)), *unmarked(root)]
    print("\n".join(problems))
    return bool(problems)


sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
