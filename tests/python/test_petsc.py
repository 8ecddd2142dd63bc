# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's programs with libtonari_petsc, loaded by an option: the same results, exchanges that went
through tonari, and a sentence where the library does not fit. Skipped where there is no PETSc."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
PROGRAMS = SOURCE / "tests" / "programs"
MPI = built.with_program("../lib/libtonari.so").get("openmpi")
FOLDERS = sorted((Path(MPI["bin"]).parent / "lib").glob("petsc-*")) if MPI else []
NAMES = [folder.name.removeprefix("petsc-") for folder in FOLDERS]
pytestmark = pytest.mark.skipif(
    not FOLDERS, reason="there is no PETSc in the build: Debian's package is petsc-dev"
)


def library(name: str) -> Path:
    assert MPI
    return Path(MPI["bin"]).parent / "lib" / f"petsc-{name}" / "libtonari_petsc.so"


def flags(name: str) -> list[str]:
    """Those of the PETSc that the library is linked with."""
    asked = ["ldd", library(name)]
    needed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    found = re.search(r"libpetsc(_\w+)?\.so\.([0-9.]+) ", needed)
    assert found, needed
    kind = (found[1] or "").removeprefix("_")
    folders = [*Path("/usr/lib/petscdir").glob(f"*{found[2]}/*{kind}/lib/pkgconfig")]
    environment = os.environ | {"PKG_CONFIG_PATH": ":".join(map(str, folders))}
    words = ["pkg-config", "--cflags", "--libs", "PETSc"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split()


def compiled(name: str, source: str, folder: Path, words: list[str]) -> Path:
    assert MPI
    made = folder / source
    command = [built.c_compiler(MPI), "-O2", PROGRAMS / f"{source}.c", *words]
    subprocess.run([*command, *flags(name), "-lm", "-o", made], check=True)
    return made


@pytest.fixture(scope="module", params=NAMES)
def solver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """The name of a PETSc, and a solver that knows nothing of tonari."""
    folder = tmp_path_factory.mktemp(f"petsc-{request.param}")
    return request.param, compiled(request.param, "petsc_cg", folder, [])


def run(
    ranks: int, program: Path, options: list[str], more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    assert MPI
    environment = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ | (more or {})
    command = [MPI["mpiexec"], "-n", str(ranks), program, "-side", "12", *options]
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
    )


def with_tonari(name: str) -> list[str]:
    return ["-dll_prepend", str(library(name)), "-sf_type", "tonari"]


@pytest.mark.parametrize("ranks", [2, built.more(3), built.more(5)])
def test_an_unchanged_solver(solver: tuple[str, Path], ranks: int) -> None:
    """Residuals of all iterations, and the last of 200 products, bit by bit. The view of the
    scatter counts what went through tonari: all products but two, and turns of basic."""
    name, program = solver
    alone = run(ranks, program, [])
    assert alone.returncode == 0, alone.stderr
    options = [*with_tonari(name), "-sf_tonari_race", "0", "-log_view"]
    ours = run(ranks, program, options)
    assert ours.returncode == 0, ours.stderr
    printed = "\n".join(re.findall(r"^(?:residual|products).*", ours.stdout, re.MULTILINE))
    assert printed == alone.stdout.strip()
    counted = re.search(r"^SFTonari +(\d+) ", ours.stdout, re.MULTILINE)
    assert counted and int(counted[1]) >= 200, ours.stdout


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ("version", r"was built for PETSc 3\.\d+, but this is PETSc 3\.99; build it"),
        ("indices", r"whose indices have 32 bits, but this one's have 64; build it"),
        ("mpi", r"was built for Open MPI, but the MPI of this program is Some MPI 1\.2; build it"),
    ],
)
def test_another_petsc(solver: tuple[str, Path], other: str, sentence: str, tmp_path: Path) -> None:
    """It is refused when it is loaded; nothing crashes."""
    name, program = solver
    words = ["-shared", "-fPIC", "-include", "petscsys.h"]
    stands_in = compiled(name, "petsc_other", tmp_path, words)
    preload = f"{stands_in}:{built.PATIENT.get('LD_PRELOAD', '')}"
    done = run(2, program, with_tonari(name), {"LD_PRELOAD": preload, "PETSC_OTHER": other})
    assert done.returncode != 0
    assert re.search(sentence, " ".join(done.stderr.split())), done.stderr
    assert "SEGV" not in done.stderr


def test_a_rank_that_leaves(tmp_path: Path) -> None:
    """The others get an error of PETSc with tonari's sentence, and do not wait for ever."""
    name = NAMES[0]
    program = compiled(name, "petsc_leaver", tmp_path, [])
    assert MPI
    command = [MPI["mpiexec"], "--enable-recovery", "-n", "3", program, *with_tonari(name)]
    done = subprocess.run(
        [*command, "-sf_tonari_race", "0"],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=ANY_RANKS | os.environ | {"TONARI_TIMEOUT": "2"},
    )
    assert re.search(r"PETSC ERROR: tonari: rank 1 .*has ended", done.stderr), done.stderr
