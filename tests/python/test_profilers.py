# SPDX-License-Identifier: BSD-3-Clause
"""Profiling tools by MPI's standard count what they count without tonari: all calls of the program
but those that tonari carries out before they reach the tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import built
import pytest
from built import PATIENT, more
from command_line import PATIENCE
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

FOLDER = Path(__file__).resolve().parents[1] / "preload"
LIBRARY = "../lib/libtonari_preload.so"
MPIS = {mpi: how for mpi, how in built.with_program(LIBRARY).items() if mpi != "abi"}
RANKS = 3  # MPICH 4 delivers other blocks where two ranks are neighbors on both sides
ROUNDS = 12  # of counted.c
Counts = dict[str, int]
pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize(
    "mpi", [more(mpi) if number else mpi for number, mpi in enumerate(MPIS)] or ["none"]
)
# Where the tool is: loaded before tonari's library or behind it, linked as a library, or a part of
# the program itself.
each_place = pytest.mark.parametrize("place", ["before", "behind", more("linked"), "inside"])


class Program:
    """A program as one MPI compiles it, and a tool that counts its calls."""

    def __init__(self, folder: Path, mpi: str, compiler: str, source: Path, *flags: str) -> None:
        self.mpi, self.folder, self.tool = mpi, folder, folder / "tool.so"
        in_c = [built.c_compiler(MPIS[mpi]), "-w", *(f for f in flags if f == "-DFORTRAN")]
        self._run(*in_c, "-c", "-fPIC", FOLDER / "tool.c", "-o", "tool.o")
        self._run(*in_c, "-shared", "tool.o", "-o", self.tool)
        linked = (self.tool, f"-Wl,-rpath,{folder}")
        for name, parts in ("plain", ()), ("linked", linked), ("inside", ("tool.o",)):
            self._run(compiler, "-w", "-g", *flags, source, *parts, "-o", name)

    def _run(self, *words: object) -> None:
        subprocess.run(list(map(str, words)), check=True, cwd=self.folder)

    def command(self, place: str, library: Path | None) -> list[str]:
        """What a rank starts; library: tonari's, or none."""
        tool = str(self.tool)
        ours = [str(library)] if library else []
        ours += filter(None, [PATIENT["LD_PRELOAD"]])
        libraries = {"before": [tool, *ours], "behind": [*ours, tool]}.get(place, ours)
        program = self.folder / (place if place in ("linked", "inside") else "plain")
        words = ["persistent"] if self.mpi == "openmpi" else []  # MPICH 4 waits for ever there
        return ["env", f"LD_PRELOAD={':'.join(libraries)}", str(program), *words]

    def counts(self, place: str, library: Path | None = None, **variables: str) -> Counts:
        """What the tool has counted, by MPI's names, of all ranks together."""
        launch = [MPIS[self.mpi]["mpiexec"], "-n", str(RANKS), *self.command(place, library)]
        variables = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | variables
        Path("counts").unlink(missing_ok=True)
        done = subprocess.run(
            launch, env=os.environ | variables, timeout=PATIENCE, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        lines = Path("counts").read_text().splitlines()
        assert lines, "the tool has seen the program"
        return {name: int(count) for name, count in map(str.split, lines)}

    def bare(self, folder: Path) -> Counts:
        """Without tonari: wherever the tool is, it counts the same then."""
        before = Path.cwd()
        os.chdir(folder)
        try:
            return self.counts("behind")
        finally:
            os.chdir(before)


@pytest.fixture(scope="session")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Program, Counts]]:
    """By MPI: the program, and what the tool counts without tonari."""

    def made(mpi: str) -> tuple[Program, Counts]:
        folder = tmp_path_factory.mktemp("counted")
        source, compiler = FOLDER / "counted.c", built.c_compiler(MPIS[mpi])
        program = Program(folder, mpi, compiler, source, "-std=c99")
        return program, program.bare(folder)

    return built.OnDemand(made)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))
    return tmp_path


def watched(program: Program, place: str, folder: Path) -> tuple[Counts, Counter[str]]:
    """What the tool counts under `tonari advise`, and the exchanges that were noted."""
    library = preload.library_for(program.mpi, preload.WATCHING)
    counts = program.counts(place, library, TONARI_ADVISE_REPORT=str(folder))
    noted: Counter[str] = Counter()
    for row in preload.read_records(folder):
        if row["record"] == "loop":
            noted[row["call"]] += row["epochs"]
    return counts, noted


@each_place
@each_mpi
def test_a_tool_counts_all_calls_that_stay_with_the_mpi(
    in_c: Any, there: Path, mpi: str, place: str
) -> None:
    program, bare = in_c[mpi]
    assert program.counts(place, preload.library_for(mpi), TONARI_PRELOAD="native") == bare


@each_place
@each_mpi
def test_a_tool_counts_what_tonari_leaves_to_the_mpi(
    in_c: Any, there: Path, mpi: str, place: str
) -> None:
    """A tool in front of tonari counts all, and one behind it what goes on to the MPI. Of tonari's
    own calls neither counts any."""
    program, bare = in_c[mpi]
    variables = {"TONARI_PRELOAD": "tonari", "TONARI_RUN_REPORT": str(there)}
    counts = program.counts(place, preload.library_for(mpi), **variables)
    told = {row["call"]: row for row in preload.rows(preload.read_records(there))}
    told.pop("MPI_Start", None)  # the MPI starts these requests, too
    assert {call: row["calls"] for call, row in told.items()} == {
        call: bare[call] for call in told
    }, "each call once"
    ours = Counter({call: row["through_tonari"] for call, row in told.items()})
    assert ours["MPI_Neighbor_alltoall"] == ours["MPI_Alltoall"] == RANKS * ROUNDS
    left = Counter(bare) - ours if place in ("behind", "linked") else bare
    assert counts == left


@pytest.mark.parametrize("place", [more("before"), "behind", more("linked"), more("inside")])
@each_mpi
def test_a_tool_counts_all_calls_that_are_watched(
    in_c: Any, there: Path, mpi: str, place: str
) -> None:
    program, bare = in_c[mpi]
    counts, noted = watched(program, place, there)
    assert counts == bare
    assert noted["MPI_Waitany"] == noted["MPI_Alltoallv"] == RANKS * ROUNDS, "each call once"


# ---- Fortran


@pytest.fixture(scope="session")
def in_fortran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """in_fortran("mpich", "halo", "mpi"): the same in a form of MPI for Fortran. Under Open MPI its
    calls never come to C's MPI_X, so the tool there has Fortran's names, too."""
    known: dict[tuple[str, ...], tuple[Program, Counts]] = {}

    def made(mpi: str, name: str, binding: str) -> tuple[Program, Counts]:
        compiler = shutil.which(built.fortran_compiler(MPIS[mpi]))
        if not compiler or not shutil.which("gfortran"):
            pytest.skip("needs gfortran and its wrapper")
        if (mpi, name, binding) not in known:
            folder = tmp_path_factory.mktemp(name)
            source = Path(shutil.copy(FOLDER / f"{name}.f90", folder / f"{name}.F90"))
            flags = (f"-DBINDING_{binding}", "-fallow-argument-mismatch", "-DFORTRAN")
            program = Program(folder, mpi, compiler, source, *flags)
            known[mpi, name, binding] = program, program.bare(folder)
        return known[mpi, name, binding]

    return made


@pytest.mark.parametrize("place", [more("before"), "behind", more("linked"), more("inside")])
@pytest.mark.parametrize("binding", ["mpi", more("mpif")])  # mpi_f08 has names of its own
@each_mpi
def test_a_tool_counts_calls_of_fortran(
    in_fortran: Any, there: Path, mpi: str, binding: str, place: str
) -> None:
    program, bare = in_fortran(mpi, "unmodified", binding)
    assert program.counts(place, preload.library_for(mpi), TONARI_PRELOAD="native") == bare
    program, bare = in_fortran(mpi, "halo", binding)
    counts, noted = watched(program, place, there)
    assert counts == bare
    assert noted["MPI_Waitall"] == RANKS * 30, "each call once"


# ---- who leaves a call by longjmp

LEAVES = """
#include <mpi.h>
#include <setjmp.h>
static jmp_buf back;
static void leave(MPI_Comm* comm, int* code, ...) { longjmp(back, 1); }
int main(int argc, char** argv) {
  MPI_Comm ring;
  MPI_Errhandler leaves;
  int ranks, periods = 1, out[2] = {0}, in[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periods, 0, &ring);
  MPI_Comm_create_errhandler(leave, &leaves);
  MPI_Comm_set_errhandler(ring, leaves);
  if (!setjmp(back)) MPI_Neighbor_alltoall(out, -1, MPI_INT, in, -1, MPI_INT, ring);
  for (int k = 0; k < 5; ++k) MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Finalize();
  return 0;
}
"""


@each_mpi
def test_calls_after_an_error_handler_has_left_one(there: Path, mpi: str) -> None:
    """They do not come back from a tool, though the call that was left has not ended."""
    Path("leaves.c").write_text(LEAVES)
    subprocess.run([built.c_compiler(MPIS[mpi]), "leaves.c", "-o", "leaves"], check=True)
    library = preload.before(preload.library_for(mpi))
    launch = [MPIS[mpi]["mpiexec"], "-n", "2", "env", f"LD_PRELOAD={library}"]
    variables = ANY_RANKS | {"TONARI_PRELOAD": "native", "TONARI_RUN_REPORT": str(there)}
    subprocess.run([*launch, "./leaves"], check=True, timeout=PATIENCE, env=os.environ | variables)
    calls = Counter[str]()
    for row in preload.rows(preload.read_records(there)):
        calls[row["call"]] += row["calls"]
    assert calls["MPI_Neighbor_alltoall"] == 2 * 5
