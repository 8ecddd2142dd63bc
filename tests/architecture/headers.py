# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone: usage: headers.py SOURCE_ROOT core|mpi|public CXX CC
[INCLUDE_DIRECTORY...]. Public .h files also as C. Sources are compiled alone, too, since builds
compile them in batches. Headers that come first in their own source are proven by it."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rooms import core_headers, core_sources, other_headers, other_sources, public_headers


def compile_alone(compiler: list[str], file: Path, directories: list[str]) -> str:
    """The compiler's complaint; empty if it has none. A header comes twice: it must be guarded."""
    includes = [f"-I{d}" for d in directories]
    line = f'#include "{file}"\n' * (1 if file.suffix == ".cpp" else 2)
    run = subprocess.run(
        [*compiler, "-fsyntax-only", "-Wall", "-Wextra", *includes, "-"],
        input=line,
        capture_output=True,
        text=True,
    )
    return (
        f"{file} does not compile alone as {compiler[-1]}:\n{run.stderr}" if run.returncode else ""
    )


def proven_by_its_source(root: Path, header: Path) -> bool:
    """Its source includes it before anything else, and it is guarded."""
    source = header.with_suffix(".cpp")
    if not source.is_file() or "\n#pragma once\n" not in "\n" + header.read_text(encoding="utf-8"):
        return False
    first = re.search(r"^ *# *include +(.*)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(first) and first[1].strip() == f'"{header.relative_to(root / "src")}"'


def main(root: Path, which: str, cxx: str, cc: str, mpi: list[str]) -> int:
    headers = {"core": core_headers, "mpi": other_headers, "public": public_headers}[which](root)
    proven = {header for header in headers if proven_by_its_source(root, header)}
    directories = [str(root / "src"), *([str(root / "include")] if which != "core" else []), *mpi]
    no_bindings = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
    jobs = [
        ([cxx, *no_bindings, "-std=c++20", "-xc++"], header)
        for header in headers
        if header not in proven
    ]
    jobs += [
        ([cc, "-std=c99", "-xc"], header)
        for header in headers
        if header.suffix == ".h" and "include" in header.parts
    ]
    files = {"core": core_sources, "mpi": other_sources}.get(which, lambda _: [])(root)
    jobs += [([cxx, *no_bindings, "-std=c++20", "-xc++"], file) for file in files]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        complaints = [
            c for c in pool.map(lambda job: compile_alone(job[0], job[1], directories), jobs) if c
        ]
    print(
        "\n".join(complaints)
        or f"{len(jobs)} compilations of {len(headers) - len(proven)} headers and {len(files)} "
        f"sources, each alone; {len(proven)} headers come first in their source"
    )
    return bool(complaints) or not headers or (which != "public" and not files)


sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
