# SPDX-License-Identifier: BSD-3-Clause
"""libtonari_preload and bad luck of single ranks: no memory, a rank that dies, wrong lengths. All
ranks hear of it, and none waits in vain."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import built
import pytest
from command_line import PATIENCE
from test_peers import GO_ON
from test_preload import LIBRARY, MPIS, compiled, path_of
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

# Ends well whatever its program does, so that the launcher hears of no death. MPICH's would kill.
IN_SHELL = ("sh", "-c", "trap '' USR1; \"$@\" || true", "sh")
# Intel MPI ends the job at any error. Where MPI's own functions are replaced, the program stands
# in front of one MPI only.
CASES = [mpi for mpi in MPIS if not mpi.startswith("abi")]
pytestmark = pytest.mark.skipif(not CASES, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize(
    "mpi", [built.more(mpi) if number else mpi for number, mpi in enumerate(CASES)]
)
Job = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("luck")
    flags = ("-rdynamic", "-ldl")
    return built.OnDemand(lambda mpi: compiled(mpi, folder / mpi, "luck.c", flags=flags))


@pytest.fixture
def job(programs: dict[str, Path], tmp_path: Path) -> Job:
    """job("mpich", 3, "attribute") -> the process; its records are in tmp_path."""

    def run(
        mpi: str, ranks: int, what: str, launcher: tuple[str, ...] = (), shell: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        program = [*shell, str(programs[mpi]), what]
        launch = [MPIS[mpi]["mpiexec"], *launcher, "-n", str(ranks), *program]
        variables = {
            "LD_PRELOAD": preload.before((Path(MPIS[mpi]["bin"]) / LIBRARY).resolve()),
            "TONARI_PRELOAD": "tonari",
            "TONARI_RUN_REPORT": str(tmp_path),
            "TONARI_TIMEOUT": "1",
        }
        return subprocess.run(
            preload.with_variables(launch, preload.kind_of(launch), variables),
            capture_output=True,
            check=False,
            text=True,
            timeout=PATIENCE,
            cwd=tmp_path,
            env=os.environ | ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | path_of(mpi),
        )

    return run


@pytest.mark.parametrize("ranks", [1, 2])  # of three, one would hear of it in a later call
@each_mpi
def test_absolute_addresses_are_no_fault(job: Job, mpi: str, ranks: int) -> None:
    """The buffer is MPI_BOTTOM, and displacements are 0: the types say where blocks lie."""
    done = job(mpi, ranks, "absolute")
    assert done.returncode == 0, done.stderr
    assert "luck: done" in done.stdout


@each_mpi
def test_nobody_waits_for_a_rank_that_died(job: Job, tmp_path: Path, mpi: str) -> None:
    done = job(mpi, 3, "dies", GO_ON[mpi], IN_SHELL)
    heard = sorted(file.name for file in tmp_path.glob("heard-*"))
    assert heard == ["heard-0", "heard-1"], done.stderr


@each_mpi
def test_one_rank_has_no_memory_for_an_attribute(job: Job, tmp_path: Path, mpi: str) -> None:
    """All ranks leave the calls to the MPI, whatever calls on other communicators come between."""
    done = job(mpi, 3, "attribute")
    assert done.returncode == 0, done.stderr
    rows = list(preload.rows(preload.read_records(tmp_path)))
    assert {row["call"] for row in rows} == {"MPI_Neighbor_alltoall", "MPI_Alltoall"}
    assert {row["why"] for row in rows} == {"no memory for an attribute"}
    assert not any(row["through_tonari"] for row in rows)


@pytest.mark.parametrize("mpi", [mpi for mpi in CASES if mpi == "openmpi"])
def test_one_rank_has_no_memory_for_a_persistent_request(job: Job, mpi: str) -> None:
    """It gets the MPI's code, and the next one is whole. MPICH keeps these requests."""
    done = job(mpi, 3, "tokens")
    assert done.returncode == 0, done.stderr
    assert "luck: done" in done.stdout


@each_mpi
def test_a_sentence_comes_before_any_handler_may_abort(job: Job, mpi: str) -> None:
    done = job(mpi, 3, "aborts")  # of two, MPICH 4 delivers other blocks, and keeps the calls
    assert done.returncode != 0
    assert "tonari: error: " in done.stderr
    assert "luck: rested" in done.stderr, "launchers lose what they have not read"
