# SPDX-License-Identifier: BSD-3-Clause
"""A compiler launcher for tests of how things are linked and packed: of each source it compiles
only a main function, which calls MPI where the source would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MPI = 'extern "C" int MPI_Init(int*, char***);\n'
MAIN = "int {name} = 1;\n__attribute__((weak)) int main() {{ return {calls}; }}\n"


def hollow(words: list[str]) -> int:
    target = Path(words[words.index("-o") + 1])
    uses_mpi = any("MPICH_SKIP_MPICXX" in word for word in words)
    name = "hollow_" + target.as_posix().encode().hex()
    text = (MPI if uses_mpi else "") + MAIN.format(
        name=name, calls="MPI_Init(0, 0)" * uses_mpi or 0
    )
    source = target.with_suffix(".hollow.cpp")
    source.write_text(text)
    if "-MF" in words:
        Path(words[words.index("-MF") + 1]).write_text(f"{target}: {source}\n")
    return subprocess.run([words[0], "-O0", "-fPIC", "-c", source, "-o", target]).returncode


if __name__ == "__main__":
    words = sys.argv[1:]
    if "-c" not in words or "-o" not in words or "CMakeScratch" in str(Path.cwd()):
        os.execvp(words[0], words)
    sys.exit(hollow(words))
