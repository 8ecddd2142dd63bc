# SPDX-License-Identifier: BSD-3-Clause
"""A plugin that uses libtonari may be unloaded before MPI_Finalize (tests/unload)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built import c_compiler, with_program
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
LIBRARY = "../lib/libtonari.so"
BUILDS = with_program(LIBRARY)


@pytest.mark.parametrize("mpi", BUILDS)
def test_the_library_may_be_closed(mpi: str, tmp_path: Path) -> None:
    build = BUILDS[mpi]
    program = tmp_path / "unload"
    source = [SOURCE / "tests/unload/unload.c", f"-I{SOURCE / 'include'}", "-ldl"]
    subprocess.run([c_compiler(build), "-std=c99", *source, "-o", program], check=True)
    done = subprocess.run(
        [build["mpiexec"], "-n", "2", program, Path(build["bin"]) / LIBRARY],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=ANY_RANKS | dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    # tests/support/keep_loaded.cpp
    assert set(done.stdout.splitlines()) == {str(int(mpi == "openmpi"))}
