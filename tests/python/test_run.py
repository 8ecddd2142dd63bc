# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari run` says in the end where its library was not loaded, or could not tell."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, fits
from tonari.benchmark.launch import ANY_RANKS

FOLDER = Path(__file__).resolve().parents[1] / "preload"
LIBRARY = "../lib/libtonari_preload.so"
MPIS = {mpi: how for mpi, how in built.with_program(LIBRARY).items() if mpi != "abi"}
NOT_LOADED = "tonari: warning: no rank has loaded libtonari_preload.so"
NO_CALL = "the program made no neighborhood collective"
KILLED = "Ranks that aborted or were killed"
pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize("mpi", list(MPIS) or ["none"])
SOURCE = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("quiet")
    source = folder / "quiet.c"
    source.write_text(SOURCE)
    for mpi, how in MPIS.items():
        subprocess.run([built.c_compiler(how), source, "-o", folder / mpi], check=True)
    return {mpi: str(folder / mpi) for mpi in MPIS}


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))


def said(mpi: str, *words: str, explain: bool = True) -> tuple[int, str]:
    """The status and standard error of two ranks."""
    options = ["--explain"] if explain else []
    launch = [MPIS[mpi]["mpiexec"], "-n", "2", *words]
    done = call("run", "--mpi", mpi, *options, "--", *launch, **ANY_RANKS)
    return done.returncode, done.stderr


@pytest.mark.parametrize("explain", [True, False])
@each_mpi
def test_a_library_that_was_never_loaded(programs: Any, mpi: str, explain: bool) -> None:
    """`env` itself has loaded it, but is no program of MPI."""
    status, text = said(mpi, "env", "LD_PRELOAD=", programs[mpi], explain=explain)
    assert status == 0
    assert NOT_LOADED in text
    assert NO_CALL not in text
    fits("\n".join(line for line in text.splitlines() if "tonari" in line))


@each_mpi
def test_a_library_that_was_never_loaded_before_an_abort(programs: Any, mpi: str) -> None:
    status, text = said(mpi, "env", "LD_PRELOAD=", programs[mpi], "3")
    assert status == 3
    assert NOT_LOADED in text
    assert NO_CALL not in text


LAUNCHERS = {"openmpi": ["-x", "LD_PRELOAD="], "mpich": ["-genv", "LD_PRELOAD", ""]}


@each_mpi
def test_a_launcher_that_is_told_otherwise(programs: Any, mpi: str) -> None:
    status, text = said(mpi, *LAUNCHERS[mpi], programs[mpi])
    assert (status, NOT_LOADED in text, NO_CALL in text) == (0, True, False)


@pytest.mark.skipif("openmpi" not in MPIS, reason="its launcher has the option")
def test_a_launcher_that_reads_a_file(programs: Any) -> None:
    """Of which the options before the file are forgotten."""
    Path("apps").write_text(f"-n 2 {programs['openmpi']}\n")
    launch = [MPIS["openmpi"]["mpiexec"], "--app", "apps"]
    done = call("run", "--explain", "--", *launch, **ANY_RANKS)
    assert done.returncode == 0
    assert NOT_LOADED in done.stderr
    assert NO_CALL not in done.stderr


@pytest.mark.parametrize("code", [3, 0])
@each_mpi
def test_nothing_is_claimed_after_an_abort(programs: Any, mpi: str, code: int) -> None:
    status, text = said(mpi, programs[mpi], str(code))
    assert code in (0, status)
    assert KILLED in text
    assert NO_CALL not in text
    assert NOT_LOADED not in text


@pytest.mark.parametrize("explain", [True, False])
@each_mpi
def test_a_program_without_such_calls(programs: Any, mpi: str, explain: bool) -> None:
    status, text = said(mpi, programs[mpi], explain=explain)
    assert status == 0
    assert (NO_CALL in text) == explain
    assert KILLED not in text
    assert NOT_LOADED not in text
