# SPDX-License-Identifier: BSD-3-Clause
"""`tonari advise`: a program as it is runs as without it, and the report tells what it exchanges:
where, who with, how much and how steadily."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import pytest
from advised import MPIS, Tags, each_mpi, needs_build
from built import more
from command_line import fits, refused
from conftest import Run
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2] / "tests/preload/halo.c"
BYTES = 3072


def line_of(mark: str, source: Path = SOURCE) -> str:
    """halo.c:61, the place that a comment names."""
    found = [
        number
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if re.search(rf"(/\*|!) site: {mark}\b", line)
    ]
    assert len(found) == 1
    return f"{source.name}:{found[0]}"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program as each MPI compiles it, with debug information; beside it, without symbols."""
    folder = tmp_path_factory.mktemp("halo")

    def made(mpi: str) -> Path:
        how = [built.c_compiler(MPIS[mpi]), "-g", "-std=c99"]
        subprocess.run([*how, SOURCE, "-o", folder / mpi, "-pthread"], check=True)
        return folder / mpi

    return built.OnDemand(made)


@pytest.fixture
def advise(tonari: Run, tmp_path: Path, monkeypatch: Any) -> Callable[..., Any]:
    """advise("openmpi", 3, program, "begun") -> the process, and its rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))

    def run(mpi: str, ranks: int, program: Path, *words: str, **environment: str) -> Any:
        launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks), str(program), *words]
        variables = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | environment
        done = tonari("advise", "--json", "rows.json", "--", *launch, **variables)
        return done, json.loads(Path("rows.json").read_text())

    return run


def one_exchange(done: Any, rows: list[dict[str, Any]], mark: str) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    [row] = [row for row in rows if row["kind"] == "exchange"]
    if shutil.which("addr2line"):
        assert row["site"] == line_of(mark)
    return row


@needs_build
@each_mpi
@pytest.mark.parametrize("ranks", [3, more(2), more(5), 8])
def test_a_halo_is_recognized(advise: Any, programs: dict[str, Path], mpi: str, ranks: int) -> None:
    done, rows = advise(mpi, ranks, programs[mpi], "begun", "50", "1", "periodic")
    row = one_exchange(done, rows, "begun")
    assert row["call"] == "MPI_Waitall"
    assert row["function"] == "begun"
    assert row["epochs"] == 50
    assert row["patterns"] == 1 and row["steady_percent"] == 100
    assert row["messages"] == 2
    assert row["least_bytes"] == row["most_bytes"] == BYTES
    assert row["neighbors"] == f"neighbors on a ring of {ranks} ranks"
    assert any(place.startswith("MPI_Isend at ") for place in row["places"])
    assert 0 < row["exchange_us"] < row["step_us"]
    assert row["mpi_us"] > 0 and row["tonari_us"] > 0
    assert " over " in row["tonari"]
    assert 0 < row["percent"] < 100


@needs_build
@each_mpi
def test_diagonal_neighbors_are_recognized(
    advise: Any, programs: dict[str, Path], mpi: str
) -> None:
    done, rows = advise(mpi, 6, programs[mpi], "one-by-one", "30", "2", "open", "all")
    row = one_exchange(done, rows, "one-by-one")
    assert row["neighbors"] == "Moore neighbors on an open 3x2 grid"
    assert row["messages"] == 5
    assert row["call"] == "MPI_Wait"


@needs_build
@each_mpi
@pytest.mark.parametrize(
    ("case", "call"), [("blocking", "MPI_Sendrecv"), ("persistent", "MPI_Waitall")]
)
def test_other_ways_to_exchange(
    advise: Any, programs: dict[str, Path], mpi: str, case: str, call: str
) -> None:
    done, rows = advise(mpi, 6, programs[mpi], case, "30", "2", "periodic")
    row = one_exchange(done, rows, case)
    assert row["call"] == call
    assert row["epochs"] == 30
    assert row["steady_percent"] == 100
    assert row["messages"] == 4
    assert row["neighbors"] == "von Neumann neighbors on a periodic 3x2 grid"


@needs_build
@each_mpi
def test_patterns_in_turn(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 6, programs[mpi], "in-turn", "30", "2", "periodic")
    assert done.returncode == 0, done.stderr
    [loop] = [row for row in rows if row["kind"] == "loop"]
    rows.remove(loop)
    assert [(row["patterns"], row["epochs"], row["messages"]) for row in rows] == [(2, 30, 2)] * 2
    assert {row["pattern"] for row in rows} == {1, 2}
    assert all(row["tonari_us"] for row in rows)
    assert (loop["exchanges"], loop["in_turn"], loop["together_messages"]) == (2, 2, 4)
    assert loop["together_tonari_us"] > 0 and loop["together_mpi_us"] > 0
    assert "2 in turn, as one exchange with 4 messages" in done.stderr


@needs_build
@each_mpi
def test_a_collective_of_zeros(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 5, programs[mpi], "mostly-zero", "30")
    row = one_exchange(done, rows, "mostly-zero")
    assert row["call"] == "MPI_Alltoallv"
    assert (row["messages"], row["communicator"], row["epochs"]) == (1, 5, 30)
    assert "of 5 ranks it could send to" in done.stderr


@needs_build
@each_mpi
def test_what_changes_is_not_advised(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 3, programs[mpi], "changing", "60")
    row = one_exchange(done, rows, "changing")
    assert row["steady_percent"] < 90
    assert row["neighbors"] == "changing partners"
    assert row["tonari_us"] is None and row["code"] == ""
    assert "changing partners" in done.stderr


@needs_build
@each_mpi
def test_what_ranks_do_not_expect_is_not_replayed(
    advise: Any, programs: dict[str, Path], mpi: str
) -> None:
    done, rows = advise(mpi, 3, programs[mpi], "apart", "20")
    assert done.returncode == 0, done.stderr
    assert {row["advice"] for row in rows} == {"not replayed: ranks do not expect what others send"}
    assert all(row.get("together_tonari_us") is None for row in rows)


@needs_build
@each_mpi
def test_ranks_that_wait_elsewhere_take_part(
    advise: Any, programs: dict[str, Path], mpi: str
) -> None:
    """As in LULESH: the rank at the end has one pattern less at the place where the others wait."""
    done, rows = advise(mpi, 4, programs[mpi], "two-share", "20")
    assert done.returncode == 0, done.stderr
    [loop] = [row for row in rows if row["kind"] == "loop"]
    rows.remove(loop)
    assert [(row["patterns"], row["epochs"], row["messages"]) for row in rows] == [(2, 20, 1)] * 2
    assert {row["most_bytes"] for row in rows} == {8, 16}
    assert all(row["tonari_us"] for row in rows)
    if shutil.which("addr2line"):
        assert {row["site"] for row in rows} == {line_of("shared")}


@needs_build
@each_mpi
def test_packing_is_told(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 2, programs[mpi], "packed", "20")
    assert done.returncode == 0, done.stderr
    packing = {row["call"]: row for row in rows if row["kind"] == "packing"}
    assert packing["MPI_Pack"]["calls"] == packing["MPI_Unpack"]["calls"] == 2 * 20
    assert packing["MPI_Pack"]["bytes"] == 2 * 20 * BYTES
    if shutil.which("addr2line"):
        assert packing["MPI_Pack"]["site"] == line_of("pack")


@needs_build
@each_mpi
@pytest.mark.parametrize("ranks", [more(2), 3])
def test_threads(advise: Any, programs: dict[str, Path], mpi: str, ranks: int) -> None:
    """Four at a time, five times. However ranks share the work among them, it is one exchange."""
    done, rows = advise(mpi, ranks, programs[mpi], "threads", "5")
    row = one_exchange(done, rows, "threads")
    assert row["epochs"] == 4 * 5 * 100
    assert row["steady_percent"] == 100


@needs_build
@each_mpi
def test_communicators_that_come_and_go(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    """Half of 600 live until the end, of which 256 are watched."""
    done, rows = advise(mpi, 2, programs[mpi], "many", "600")
    row = one_exchange(done, rows, "threads")
    assert 500 * 100 < row["epochs"] < 600 * 100
    assert row["steady_percent"] == 100


@needs_build
@each_mpi
def test_a_program_without_messages(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 2, programs[mpi], "nothing")
    assert done.returncode == 0 and rows == []
    assert "2 ranks ran for" in done.stderr and "no exchange" in done.stderr


@needs_build
@each_mpi
def test_a_library_that_was_never_loaded(
    advise: Any, programs: dict[str, Path], mpi: str, tmp_path: Path
) -> None:
    """The launcher's last word on LD_PRELOAD is not ours."""
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nLD_PRELOAD= exec {programs[mpi]} "$@"\n')
    bare.chmod(0o755)
    done, rows = advise(mpi, 2, bare, "begun", "3", "1", "periodic")
    assert done.returncode == 0
    assert "tonari: warning: no rank has loaded libtonari_advise.so" in done.stderr
    assert not rows


@needs_build
@each_mpi
def test_a_program_that_aborts(advise: Any, programs: dict[str, Path], mpi: str) -> None:
    done, rows = advise(mpi, 2, programs[mpi], "begun", "20", "1", "periodic", "all", "abort")
    assert done.returncode == 3
    assert "a rank has not come to MPI_Finalize: nothing was replayed" in done.stderr
    row = next(row for row in rows if row["kind"] == "exchange")
    assert row["epochs"] == 20 and row["steady_percent"] == 100
    assert row["tonari_us"] is None
    assert row["advice"] == "not replayed: the program did not come to MPI_Finalize"
    assert list(Path.cwd().glob(".tonari-advise-*")) == []


@needs_build
@each_mpi
@pytest.mark.parametrize("case", ["begun", "blocking", "persistent", "mostly-zero", "changing"])
@pytest.mark.parametrize("ranks", [more(1), more(2), more(3), more(5), 8])
def test_results_stay_as_they_are(
    advise: Any, programs: dict[str, Path], mpi: str, case: str, ranks: int
) -> None:
    """The program checks every element; 1 rank and 2 ranks are their own neighbors."""
    done, rows = advise(mpi, ranks, programs[mpi], case, "20", "3", "periodic", "all")
    assert done.returncode == 0, done.stderr
    assert rows


@needs_build
def test_without_debug_information(advise: Any, programs: dict[str, Path], tmp_path: Path) -> None:
    mpi = next(iter(MPIS))
    if not (shutil.which("strip") and shutil.which("nm")):
        pytest.skip("needs binutils")
    for option, shape in (("--strip-debug", r"begun\+0x[0-9a-f]+"), ("-s", r"-s\+0x[0-9a-f]+")):
        bare = tmp_path / option
        subprocess.run(["strip", option, programs[mpi], "-o", str(bare)], check=True)
        done, [row] = advise(mpi, 2, bare, "begun", "20", "1", "periodic")
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(shape, row["site"]), row["site"]


# ---- Fortran, in its three forms

FORTRAN = SOURCE.with_suffix(".f90")


@needs_build
@each_mpi
@pytest.mark.parametrize("binding", ["mpif", "mpi", "mpi_f08"])
def test_fortran_programs(advise: Any, tmp_path: Path, mpi: str, binding: str) -> None:
    compiler = shutil.which(built.fortran_compiler(MPIS[mpi]))
    if not compiler or not shutil.which("gfortran"):
        pytest.skip("needs gfortran and its wrapper")
    program = tmp_path / "halo"
    source = shutil.copy(FORTRAN, tmp_path / "halo.F90")
    flags = [f"-DBINDING_{binding}", "-g", "-fallow-argument-mismatch"]
    subprocess.run([compiler, *flags, source, "-o", program], check=True, cwd=tmp_path)
    done, rows = advise(mpi, 3, program)
    assert done.returncode == 0, done.stderr
    [row] = rows
    assert row["epochs"] == 30 and row["steady_percent"] == 100
    assert row["neighbors"] == "neighbors on a ring of 3 ranks"
    assert row["messages"] == 2 and row["least_bytes"] == row["most_bytes"] == BYTES
    if shutil.which("addr2line"):
        assert row["site"] == line_of("Fortran", FORTRAN).replace(".f90", ".F90")
        assert all(re.search(r"halo\.F90:\d+$", place) for place in row["places"])


# ---- the report


@needs_build
def test_the_page_needs_no_other_file(
    tonari: Run, programs: dict[str, Path], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    mpi = next(iter(MPIS))
    words = [MPIS[mpi]["mpiexec"], "-n", "4", str(programs[mpi]), "begun", "50", "2", "periodic"]
    environment = {"TONARI_BUILD": str(built.CONFIG.parent.absolute())}
    done = tonari("advise", "--html", "page.html", "--", *words, **(ANY_RANKS | environment))
    assert done.returncode == 0, done.stderr
    text = Path("page.html").read_text(encoding="utf-8")
    tags = Tags(text)
    assert not tags.open
    assert {link.removeprefix("#") for link in tags.links} <= set(tags.ids)
    assert text.count('class="bar"') == 4
    assert "von Neumann neighbors on a periodic 2x2 grid" in text


# ---- the command line


def test_errors_are_one_sentence(tonari: Run, tmp_path: Path) -> None:
    refused(tonari("advise"), "COMMAND", 2)
    refused(tonari("advise", "--", "sh"), "tonari cannot tell which MPI the program runs with")
    nowhere = str(tmp_path / "none" / "a.html")
    refused(tonari("advise", "--html", nowhere, "--", "sh"), "there is no folder")
    refused(tonari("advise", "--mpi", "none", "--", "sh"), "there is no libtonari_advise.so")


def test_help_has_an_example(tonari: Run) -> None:
    done = tonari("advise", "--help")
    assert "Example:" in done.stdout
    fits(done.stdout)
