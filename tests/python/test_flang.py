# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module with flang, where there is one: no MPI of Debian has modules for it, so the
module `mpi` is made of Open MPI's mpif.h, and handles are integers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
BUILD = built.CONFIG.parent.resolve()
# Before, assumed rank was not implemented.
OLDEST = 20
NAMES = ["flang", *(f"flang-{version}" for version in range(OLDEST, 40))]
TESTS = sorted(path.name for path in (SOURCE / "tests/fortran").glob("*_test.F90"))


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=PATIENCE,
        env=ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def version(compiler: str) -> int:
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    return int(match[1]) if (match := re.search(r"flang.* version (\d+)", said)) else 0


def flang() -> str | None:
    return next((c for c in filter(None, map(shutil.which, NAMES)) if version(c) >= OLDEST), None)


def open_mpi() -> dict[str, str] | None:
    if not built.CONFIG.is_file():
        return None
    return json.loads(built.CONFIG.read_text())["mpis"].get("openmpi")


pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(not flang(), reason=f"there is no flang of version {OLDEST} or newer"),
    pytest.mark.skipif(not open_mpi(), reason="there is no build for Open MPI (TONARI_BUILD)"),
]


def wrapper_says(what: str) -> list[str]:
    shown = run([built.fortran_compiler(open_mpi()), f"-showme:{what}"], SOURCE)
    return shown.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has the modules, and objects of them."""
    folder = tmp_path_factory.mktemp("flang")
    headers = [Path(directory) for directory in wrapper_says("incdirs")]
    mpif = next(path / "mpif.h" for path in headers if (path / "mpif.h").is_file())
    # Its mpi_sizeof is for types that flang does not tell apart.
    parts = re.findall(r"^ +include '(?!mpif-sizeof).*'$", mpif.read_text(), re.M)
    assert len(parts) > 3
    text = "\n".join(["module mpi", "implicit none", *parts, "end module"])
    (folder / "mpi.F90").write_text(text + "\n")
    places = [f"-I{path}" for path in headers]
    run([flang(), "-c", "mpi.F90", *places, "-o", "mpi.o"], folder)
    module = str(SOURCE / "include/tonari/fortran/tonari.F90")
    run([flang(), "-DTONARI_WITHOUT_MPI_F08", "-c", module, "-o", "tonari.o"], folder)
    return folder


@pytest.mark.parametrize("test", TESTS)
def test_the_module_passes(folder: Path, test: str, tmp_path: Path) -> None:
    library = BUILD / "openmpi/lib"
    tests = SOURCE / "tests/fortran"
    sources = [str(tests / "checks.F90"), str(tests / test)]
    places = [f"-I{folder}", f"-I{tests}", f"-L{library}", f"-Wl,-rpath,{library}"]
    places += [f"-L{path}" for path in wrapper_says("libdirs")]
    objects = [str(folder / "tonari.o"), str(folder / "mpi.o")]
    libraries = ["-ltonari", "-lmpi_mpifh", "-lmpi"]
    options = ["-O1", "-DTONARI_TEST_INTEGERS", *places]
    run([flang(), *options, *sources, *objects, *libraries, "-o", "program"], tmp_path)
    for ranks in (1, 3):
        launcher = [open_mpi()["mpiexec"], "-n", str(ranks)]
        assert "passed" in run([*launcher, str(tmp_path / "program")], tmp_path)
