"""Every header compiles alone: usage: headers.py SOURCE_ROOT core|mpi|public CXX CC [INCLUDE_DIRECTORY...]. Public .h files also as C."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rooms import core_headers, other_headers, public_headers


def compile_alone(compiler: list[str], header: Path, directories: list[str]) -> str:
    """The compiler's complaint; empty if it has none. The header comes twice: it must be guarded."""
    includes = [f"-I{d}" for d in directories]
    line = f'#include "{header}"\n' * 2
    run = subprocess.run([*compiler, "-fsyntax-only", "-Wall", "-Wextra", *includes, "-"], input=line, capture_output=True, text=True)
    return f"{header} does not compile alone as {compiler[-1]}:\n{run.stderr}" if run.returncode else ""


def main(root: Path, which: str, cxx: str, cc: str, mpi: list[str]) -> int:
    headers = {"core": core_headers, "mpi": other_headers, "public": public_headers}[which](root)
    directories = [str(root / "src"), *([str(root / "include")] if which != "core" else []), *mpi]
    no_bindings = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
    jobs = [([cxx, *no_bindings, "-std=c++20", "-xc++"], header) for header in headers]
    jobs += [([cc, "-std=c99", "-xc"], header) for header in headers if header.suffix == ".h" and "include" in header.parts]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        complaints = [c for c in pool.map(lambda job: compile_alone(job[0], job[1], directories), jobs) if c]
    print("\n".join(complaints) or f"{len(jobs)} compilations of {len(headers)} headers, each alone")
    return bool(complaints) or not headers


sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
