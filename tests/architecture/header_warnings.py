# SPDX-License-Identifier: BSD-3-Clause
"""The public headers compile without a warning with every compiler of this machine, by every
standard that it knows: usage: header_warnings.py SOURCE_ROOT CC CXX INCLUDE_DIRECTORY...

headers/all.c and headers/all.cpp include all of them, so that each compiler runs once for each
standard. Compilers are CC, CXX, and those that Debian's packages install: gcc-12, clang++-14."""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rooms import public_headers

HERE = Path(__file__).parent / "headers"
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()
# Names that compilers of all versions know: C23 is c2x where c23 is too new.
STANDARDS = {"all.c": ["c99", "c11", "c17", "c2x"], "all.cpp": ["c++20", "c++2b"]}


def compilers(file: str, given: str) -> list[str]:
    """The given one and those on PATH, each once."""
    plain = ["gcc", "clang"] if file == "all.c" else ["g++", "clang++"]
    names = [given, *plain, *(f"{name}-{version}" for name in plain for version in range(9, 30))]
    found = filter(None, map(shutil.which, names))
    return list({version(path): path for path in reversed(list(found))}.values())


def version(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True)
    return done.stdout.partition("\n")[0].partition(" ")[2]


def complaint_of(command: list[str], text: str = "") -> str:
    """What the compiler says; empty if it takes the program."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return (done.stderr or "it failed") if done.returncode else ""


def knows(compiler: str, standard: str, language: str) -> bool:
    """Some versions know a standard, but not its library."""
    text = "int all;\n" if language == "c" else "#include <concepts>\n#include <span>\n"
    return not complaint_of(
        [compiler, f"-std={standard}", "-fsyntax-only", f"-x{language}", "-"], text
    )


def job(
    root: Path, file: str, compiler: str, standard: str, mpi: list[str]
) -> tuple[str, str | None]:
    """Its name and the complaint: empty if there is none, None if the compiler is left out."""
    name = f"{compiler} -std={standard} {file}"
    language = "c" if file == "all.c" else "c++"
    if not knows(compiler, standard, language):
        return name, None
    old_casts = ["-Wold-style-cast"] if language == "c++" else []
    places = [f"-I{root / 'include'}", *(f"-isystem{directory}" for directory in mpi)]
    bindings = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
    command = [compiler, f"-std={standard}", "-fsyntax-only", *WARNINGS, *old_casts, *bindings]
    return name, complaint_of([*command, *places, str(HERE / file)])


def left_out(root: Path) -> Iterator[str]:
    """Headers of include/tonari that no file here includes."""
    included = "".join((HERE / file).read_text() for file in STANDARDS)
    for header in public_headers(root):
        name = header.relative_to(root / "include").as_posix()
        if header.parent.name == "tonari" and f"#include <{name}>" not in included:
            yield f"headers/all{'.c' if header.suffix == '.h' else '.cpp'} does not include {name}"


def report(results: Iterable[tuple[str, str | None]]) -> list[str]:
    complaints = []
    for name, complaint in results:
        print(
            f"{name}: {'left out' if complaint is None else 'warnings' if complaint else 'clean'}"
        )
        if complaint:
            complaints.append(f"{name}:\n{complaint}")
    return complaints


def main(root: Path, cc: str, cxx: str, mpi: list[str]) -> int:
    jobs = [
        (root, file, compiler, standard, mpi)
        for file, given in (("all.c", cc), ("all.cpp", cxx))
        for compiler in compilers(file, given)
        for standard in STANDARDS[file]
    ]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda given: job(*given), jobs))
    tried = {
        file
        for file in STANDARDS
        for name, said in results
        if name.endswith(f" {file}") and said is not None
    }
    problems = [*report(results), *left_out(root)]
    problems += [f"no compiler took headers/{file}" for file in STANDARDS.keys() - tried]
    print("\n".join(problems))
    return bool(problems)


sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
