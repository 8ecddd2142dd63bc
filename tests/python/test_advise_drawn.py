# SPDX-License-Identifier: BSD-3-Clause
"""`tonari advise` on programs that draw partners, sizes and periods: it reports what was drawn. And
what starts a job is no rank of it, and a signal ends all of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import pytest
from advised import CASES, MPIS, needs_build
from built import more
from command_line import PATIENCE, fits
from conftest import Run
from test_advise import line_of
from tonari import jobs, sites
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2] / "tests/preload/drawn.c"
each_mpi = pytest.mark.parametrize("mpi", CASES or ["none"])
SEEDS = [1, more(2), *map(built.long, (3, 4))]
# 0: the number of ranks is drawn, too
STEPS = 120


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("drawn")

    def made(mpi: str) -> Path:
        how = [built.c_compiler(MPIS[mpi]), "-g", "-std=c99", "-D_POSIX_C_SOURCE=200809L"]
        subprocess.run([*how, SOURCE, "-o", folder / mpi], check=True)
        return folder / mpi

    return built.OnDemand(made)


Drawn = Callable[..., tuple[Any, list[dict[str, Any]], dict[str, Any]]]


@pytest.fixture
def drawn(
    tonari: Run, programs: dict[str, Path], tmp_path: Path, monkeypatch: Any, capfd: Any
) -> Drawn:
    """drawn("openmpi", 3, "sizes", 7) -> the process, the rows, and what the program drew."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))

    def run(mpi: str, ranks: int, kind: str, seed: int, steps: int = STEPS) -> Any:
        program = [str(programs[mpi]), kind, str(seed), str(steps)]
        launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks), *program]
        variables = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"}
        done = tonari("advise", "--json", "rows.json", "--", *launch, **variables)
        assert done.returncode == 0, done.stderr
        said = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("{"))
        return done, json.loads(Path("rows.json").read_text()), json.loads(said)

    return run


def exchanges(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == "exchange"]


@needs_build
@each_mpi
@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_that_change_keep_their_partners(drawn: Drawn, mpi: str, seed: int) -> None:
    done, rows, told = drawn(mpi, 2 + seed % 4, "sizes", seed)
    [row] = exchanges(rows)
    assert (row["messages"], row["epochs"], row["steady_percent"]) == (told["messages"], STEPS, 100)
    assert row["same_sizes"] == pytest.approx(told["period"], abs=told["period"] / 3 + 0.5)
    assert told["least"] <= row["least_bytes"] < row["most_bytes"] <= told["most"]
    assert row["tonari_us"] > 0
    assert "partners are fixed, sizes change every" in done.stderr


@needs_build
@each_mpi
@pytest.mark.parametrize("seed", SEEDS)
def test_swaps_of_a_step_keep_their_sizes_apart(drawn: Drawn, mpi: str, seed: int) -> None:
    """Two swaps with the same partner take turns, and each has sizes of its own."""
    _, rows, told = drawn(mpi, 2 + seed % 4, "swaps", seed)
    found = exchanges(rows)
    assert [(row["messages"], row["epochs"]) for row in found] == [(1, STEPS)] * told["messages"]
    for row in found:
        assert row["same_sizes"] == pytest.approx(told["period"], abs=told["period"] / 3 + 0.5)
        assert 0 < row["exchange_us"] < row["step_us"]
    [loop] = [row for row in rows if row["kind"] == "loop"]
    assert loop["in_turn"] == loop["together_messages"] == told["messages"]
    assert loop["together_tonari_us"] > 0


@needs_build
@each_mpi
def test_sizes_that_never_come_back_have_times(drawn: Drawn, mpi: str) -> None:
    """Each came once: the median is that of all of them."""
    _, rows, _ = drawn(mpi, 2, "each", 3, 9)
    [row] = exchanges(rows)
    assert row["same_sizes"] == 1 and row["epochs"] == 9
    assert 0 < row["exchange_us"] < row["step_us"]


@needs_build
@each_mpi
@pytest.mark.parametrize("seed", SEEDS)
def test_a_setup_is_told_apart_from_the_loop(drawn: Drawn, mpi: str, seed: int) -> None:
    """As in OpenFOAM: what comes once each before the loop does not make its sizes change."""
    _, rows, told = drawn(mpi, 2 + seed % 3, "setup", seed, 40)
    [row] = [row for row in exchanges(rows) if row["pattern"]]  # else the setup as a whole
    assert (row["epochs"], row["messages"]) == (40, told["messages"])
    assert row["same_sizes"] == 0 and row["least_bytes"] == row["most_bytes"] == 5000


@needs_build
@each_mpi
@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_seldom_is_told(drawn: Drawn, mpi: str, seed: int) -> None:
    """The large exchange takes a part of the time that its number does not tell."""
    _, rows, told = drawn(mpi, 2 + seed % 3, "seldom", seed, 200)
    by_size = {row["most_bytes"]: row for row in exchanges(rows)}
    large = 200 // told["period"]
    assert len(by_size) == 2
    assert by_size[8]["epochs"] == 200 - large
    assert by_size[max(by_size)]["epochs"] == large
    assert all(row["tonari_us"] for row in by_size.values())


@needs_build
@each_mpi
@pytest.mark.parametrize("seed", SEEDS)
def test_levels_at_one_place_are_told_apart(drawn: Drawn, mpi: str, seed: int) -> None:
    _, rows, told = drawn(mpi, 2 + seed % 3, "levels", seed, 40)
    found = exchanges(rows)
    assert len(found) == 12
    assert {(row["epochs"], row["messages"]) for row in found} == {(40, told["messages"])}
    sizes = [row["most_bytes"] for row in found]
    assert (min(sizes), max(sizes)) == (told["least"], told["most"])
    assert all(row["steady_percent"] == 100 for row in found)


@needs_build
@each_mpi
def test_the_callers_of_a_library_are_named(drawn: Drawn, mpi: str) -> None:
    done, rows, _ = drawn(mpi, 3, "callers", 5)
    found = exchanges(rows)
    assert len(found) == 2
    if not shutil.which("addr2line"):
        return
    assert {row["site"] for row in found} == {line_of("drawn", SOURCE)}
    above = {caller for row in found for caller in row["callers"]}
    for mark in ("first caller", "second caller"):
        assert f"{line_of(mark, SOURCE)} in called_from" in above
    places = {place for row in found for place in row["places"]}
    assert {place.split(" at ")[0] for place in places} == {"MPI_Irecv", "MPI_Isend"}
    assert "called from drawn.c:" in done.stderr


@needs_build
@each_mpi
def test_neighborhood_collectives_need_no_advice(drawn: Drawn, mpi: str) -> None:
    done, rows, _ = drawn(mpi, 3, "neighborhood", 1, 20)
    calls = {row["call"]: row for row in rows if row["kind"] == "neighborhood"}
    assert calls["MPI_Neighbor_alltoall"]["calls"] == 3 * 20
    assert calls["MPI_Ineighbor_alltoall"]["calls"] == 3 * 20
    assert "`tonari run` speeds these up, in the program as it is" in done.stderr


@needs_build
@each_mpi
def test_a_communicator_used_once_is_the_mpis(
    tonari: Run, programs: dict[str, Path], tmp_path: Path, monkeypatch: Any, mpi: str
) -> None:
    """But for the four that are connected to find out whether that is worth it."""
    monkeypatch.chdir(tmp_path)
    launch = [MPIS[mpi]["mpiexec"], "-n", "3", str(programs[mpi]), "once", "1", "40"]
    done = tonari("run", "--explain", "--json", "rows.json", "--", *launch, **ANY_RANKS)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(Path("rows.json").read_text())
    assert (row["calls"], row["bytes"], row["why"]) == (3 * 40, 3 * 40 * 100, "came once")
    assert row["through_tonari"] <= 3 * 4
    fits(done.stderr)
    if shutil.which("addr2line"):
        assert row["site"] == line_of("once", SOURCE) and row["function"] == "used_once"
        assert f"{row['site']} in used_once" in done.stderr


@needs_build
def test_what_starts_a_rank_is_none(
    tonari: Run, programs: dict[str, Path], tmp_path: Path, monkeypatch: Any
) -> None:
    """A script per rank, a shell in it, and a helper: all of them load the library."""
    monkeypatch.chdir(tmp_path)
    mpi = next(iter(MPIS))
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/bash\nls / >/dev/null\nbash -c '{programs[mpi]} sizes 1 30; true'\n")
    script.chmod(0o755)
    launch = ["bash", "-c", f"{MPIS[mpi]['mpiexec']} -n 2 {script}; exit $?"]
    done = tonari("advise", "--mpi", mpi, "--", *launch, **ANY_RANKS)
    assert done.returncode == 0, done.stderr
    assert "2 ranks ran for" in done.stderr
    assert "have written nothing" not in done.stderr


@needs_build
@each_mpi
@pytest.mark.parametrize("command", ["run", more("advise")])
@pytest.mark.parametrize("number", [signal.SIGTERM, more(signal.SIGHUP)], ids=lambda n: n.name)
def test_a_signal_ends_the_job(
    programs: dict[str, Path], tmp_path: Path, mpi: str, command: str, number: signal.Signals
) -> None:
    launch = [MPIS[mpi]["mpiexec"], "-n", "2", str(programs[mpi]), "sleep", "1", "600"]
    words = [sys.executable, "-m", "tonari", command, "--mpi", mpi, "--", "bash", "-c"]
    words.append(" ".join(launch) + "; true")
    environment = os.environ | ANY_RANKS | {"TONARI_BUILD": str(built.CONFIG.parent.absolute())}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) as started:
        end = time.monotonic() + PATIENCE
        while len(ranks := asleep(programs[mpi], started.pid)) < 2:
            assert time.monotonic() < end and started.poll() is None
            time.sleep(0.05)
        started.send_signal(number)
        started.communicate(timeout=PATIENCE)
    assert started.returncode == 128 + number
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".tonari")]
    end = time.monotonic() + PATIENCE
    while any(jobs._begin(rank) == begin for rank, begin in ranks.items()):
        assert time.monotonic() < end, "a rank goes on"
        time.sleep(0.05)


def asleep(program: Path, above: int) -> dict[int, str]:
    """Ranks of the job that have come to their program."""
    found = {}
    for process, begin in jobs._below(above).items():
        try:
            if os.readlink(f"/proc/{process}/exe") == str(program):
                found[process] = begin
        except OSError:
            continue
    return found


def test_a_symbol_that_does_not_have_the_place_is_not_named(tmp_path: Path) -> None:
    """Between functions there is nobody's code."""
    if not all(map(shutil.which, ("gcc", "nm", "strip"))):
        pytest.skip("needs gcc and binutils")
    source = tmp_path / "two.c"
    source.write_text("int one(void) { return 1; }\nint two(void) { return 2; }\n")
    library = tmp_path / "two.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    symbols = {name: (start, size) for start, size, name in sites._functions(str(library))}
    start, size = symbols["one"]
    assert sites.site(str(library), start) == "one+0x0"
    assert sites.site(str(library), start + size) != f"one+{size:#x}"
    end = max(start + size for start, size in symbols.values())
    assert sites.function(str(library), start + size - 1) == "one"
    bare = tmp_path / "bare.so"
    subprocess.run(["strip", "-s", library, "-o", bare], check=True)
    assert sites.site(str(bare), start) == f"bare.so+{start:#x}"
    assert sites.function(str(bare), start) == "one", "an exported function has a name"
    assert sites.function(str(bare), end + 0x1000) == "", "the nearest one has not"
    assert sites.site(str(library), end + 0x1000) == f"two.so+{end + 0x1000:#x}"
