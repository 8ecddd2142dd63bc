# SPDX-License-Identifier: BSD-3-Clause
"""libtonari_preload and `tonari run`: programs as they are deliver what they delivered, and rows
tell that the library was in the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import built
import pytest
from built import more
from command_line import PATIENCE, fits, refused
from conftest import Run
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

FOLDER = Path(__file__).resolve().parents[1] / "preload"
PARTS = ("unmodified.c", "forms.c", "requests.c", "topologies.c", "in_place.c", "finalize.c")
LIBRARY = "../lib/libtonari_preload.so"
# By the name of the MPI that runs: a library for the standard ABI runs with several.
MPIS = {
    run: how | launch
    for how in built.with_program(LIBRARY).values()
    for run, launch in how["runs"].items()
}
# Intel MPI cannot be told to take turns, and is there for what it does not let through tonari.
CASES = [mpi if number == 0 else more(mpi) for number, mpi in enumerate(MPIS) if mpi != "abi-intel"]
pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize("mpi", CASES or ["none"])
each_size = pytest.mark.parametrize("ranks", [more(1), 2, 3, more(5), more(8)])
FORMS = {f"MPI_Neighbor_{form}" for form in (
    "alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"
)}  # fmt: skip


def compiled(mpi: str, program: Path, *sources: str, flags: tuple[str, ...] = ()) -> Path:
    how = [built.c_compiler(MPIS[mpi]), "-g", "-std=c99", *flags, "-pthread", "-o", program]
    subprocess.run([*how, *(FOLDER / source for source in sources)], check=True)
    return program


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program as each MPI compiles it."""
    folder = tmp_path_factory.mktemp("unmodified")
    return built.OnDemand(lambda mpi: compiled(mpi, folder / mpi, *PARTS))


def path_of(mpi: str) -> dict[str, str]:
    """Where its library is found, if not by itself."""
    return {"LD_LIBRARY_PATH": MPIS[mpi]["libraries"]} if MPIS[mpi]["libraries"] else {}


def drives(mpi: str, program: Path) -> bool:
    """Whether this MPI lets exchanges of others proceed: Open MPI does, and MPICH over UCX."""
    said = subprocess.run(["ldd", program], capture_output=True, env=os.environ | path_of(mpi))
    [library] = re.findall(rb"=> (\S*libmpi(?:ch|_abi)?\.so\S*)", said.stdout)
    return mpi == "openmpi" or b"ucp_worker_progress" in Path(os.fsdecode(library)).read_bytes()


@pytest.fixture
def job(tonari: Run, programs: dict[str, Path], tmp_path: Path, monkeypatch: Any) -> Any:
    """job("mpich", 3, "exchanges", TONARI_PRELOAD="tonari") -> the process, and its rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_BUILD", str(built.CONFIG.parent.absolute()))

    def run(mpi: str, ranks: int, *words: str, **environment: str) -> Any:
        launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks), str(programs[mpi]), *words]
        options = ["--explain", "--json", "rows.json"]
        variables = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | path_of(mpi) | environment
        done = tonari("run", *options, "--", *launch, **variables)
        return done, json.loads((tmp_path / "rows.json").read_text())

    return run


def topologies(mpi: str) -> str:
    """What MPICH 4 and its relatives get right: the program would find what they do not."""
    return "all" if mpi in ("openmpi", "abi") else "distinct"


@each_size
@each_mpi
def test_all_calls_go_through_tonari(job: Any, mpi: str, ranks: int) -> None:
    done, rows = job(mpi, ranks, "exchanges", topologies(mpi), TONARI_PRELOAD="tonari")
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in rows} == FORMS
    for row in rows:
        assert row["through_tonari"] == row["calls"] > 0
        assert row["why"] == "TONARI_PRELOAD"
        assert row["native_us"] is None


@each_size
@each_mpi
def test_calls_try_both_ways(job: Any, mpi: str, ranks: int) -> None:
    done, rows = job(mpi, ranks, "exchanges", topologies(mpi))
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in rows} == FORMS
    tried = sum(row["through_tonari"] for row in rows)
    assert 0 < tried < sum(row["calls"] for row in rows)
    assert any(row["us"] and row["native_us"] for row in rows)
    assert all(row["us"] or row["native_us"] for row in rows)


IN_PLACE = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"}


@each_size
@each_mpi
def test_exchanges_in_place(job: Any, mpi: str, ranks: int) -> None:
    done, rows = job(mpi, ranks, "in-place", TONARI_PRELOAD="tonari")
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in rows} == IN_PLACE
    for row in rows:
        assert row["through_tonari"] == row["calls"] == 2 * 14 * ranks
        assert row["why"] == "TONARI_PRELOAD"


@pytest.mark.parametrize(("way", "least"), [("auto", 1), ("native", 0)])
@each_mpi
def test_exchanges_in_place_may_stay_with_the_mpi(job: Any, mpi: str, way: str, least: int) -> None:
    done, rows = job(mpi, 3, "in-place", TONARI_PRELOAD=way)
    assert done.returncode == 0, done.stderr
    assert {row["why"] for row in rows} <= {"TONARI_PRELOAD", "measured", "trial"}
    ours = sum(row["through_tonari"] for row in rows)
    assert least <= ours < sum(row["calls"] for row in rows)
    assert ours == 0 or least


@each_mpi
def test_all_calls_may_stay_with_the_mpi(job: Any, mpi: str) -> None:
    done, rows = job(mpi, 3, "exchanges", topologies(mpi), TONARI_PRELOAD="native")
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in rows} == FORMS
    assert not any(row["through_tonari"] for row in rows)


@each_mpi
def test_rows_tell_where_and_how_much(job: Any, mpi: str) -> None:
    done, rows = job(mpi, 3, "calls", "50", TONARI_PRELOAD="tonari")
    assert done.returncode == 0, done.stderr
    [row] = sorted(rows, key=lambda row: row["site"])[:1]
    lines = (FOLDER / PARTS[0]).read_text().splitlines()
    [loop] = [n for n, line in enumerate(lines, 1) if "k < 100;" in line]
    if shutil.which("addr2line"):
        assert row["site"] == f"{PARTS[0]}:{loop + 1}"
    assert sum(row["calls"] for row in rows) == 3 * 150
    assert sum(row["bytes"] for row in rows) == 3 * 150 * 2 * 8
    table = [line for line in done.stderr.splitlines() if "Neighbor_alltoall" in line]
    assert len(table) == len(rows) == 2
    fits(done.stderr)


# ---- exchanges that begin

openmpi = pytest.mark.parametrize("mpi", [mpi for mpi in MPIS if mpi == "openmpi"])
QUICK = {("openmpi", 2), ("openmpi", 3), ("mpich", 2), ("abi", 2)}
WITH_RANKS = [
    (mpi, ranks) if (mpi, ranks) in QUICK else more(mpi, ranks)
    for mpi in MPIS
    if mpi != "abi-intel"
    for ranks in ((2, 3) if mpi == "abi" else (1, 2, 3, 5, 8))
]
OF_INTEL = [more(mpi, 2) for mpi in MPIS if mpi == "abi-intel"]
with_ranks = pytest.mark.parametrize(("mpi", "ranks"), WITH_RANKS)
with_ranks_of_all = pytest.mark.parametrize(("mpi", "ranks"), WITH_RANKS + OF_INTEL)
BEGUN = {form.replace("_N", "_In") for form in FORMS}


@with_ranks_of_all
def test_every_call_that_completes_takes_our_requests(
    job: Any, programs: dict[str, Path], mpi: str, ranks: int
) -> None:
    done, rows = job(mpi, ranks, "begun", "distinct")
    assert done.returncode == 0, done.stderr
    ours = [row for row in rows if row["call"] in BEGUN]
    assert {row["call"] for row in ours} == BEGUN
    through = sum(row["through_tonari"] for row in ours)
    if drives(mpi, programs[mpi]):
        assert all(
            row["through_tonari"] == row["calls"] for row in ours if row["why"] == "one node"
        )
        assert through > 100 * ranks
    else:
        assert through == 0


INIT = re.compile("MPIX?_Neighbor_.*_init")


@with_ranks
def test_persistent_requests_are_started_again_and_again(
    job: Any, programs: dict[str, Path], mpi: str, ranks: int
) -> None:
    if not drives(mpi, programs[mpi]):
        pytest.skip("this MPI keeps its requests, and MPICH 4 itself waits for ever here")
    done, rows = job(mpi, ranks, "persistent", "distinct")
    assert done.returncode == 0, done.stderr
    made = [row for row in rows if INIT.fullmatch(row["call"])]
    started = [row for row in rows if row["call"] == "MPI_Start"]
    assert len(made) == len(FORMS)
    assert sum(row["calls"] for row in started) >= 45 * sum(row["through_tonari"] for row in made)
    assert sum(row["through_tonari"] for row in made) >= len(FORMS) * ranks


@openmpi
def test_repair_is_for_persistent_requests_too(job: Any, mpi: str) -> None:
    done, rows = job(mpi, 3, "persistent", "all", TONARI_REPAIR="1")
    assert done.returncode == 0, done.stderr
    made = [row for row in rows if INIT.fullmatch(row["call"])]
    assert len(made) == len(FORMS)
    assert all(row["through_tonari"] == row["calls"] > 0 for row in made)


@openmpi
def test_persistent_requests_of_the_mpi_stay_as_they_are(job: Any, mpi: str) -> None:
    """MPICH 4.0.2 itself waits for ever in this program."""
    done, rows = job(mpi, 2, "persistent", "distinct", TONARI_PRELOAD="native")
    assert done.returncode == 0, done.stderr
    made = [row for row in rows if INIT.fullmatch(row["call"])]
    assert len(made) == len(FORMS)
    assert not any(row["through_tonari"] for row in rows)


@with_ranks
def test_exchanges_proceed_while_ranks_wait_for_others(
    job: Any, programs: dict[str, Path], mpi: str, ranks: int
) -> None:
    if not drives(mpi, programs[mpi]):
        pytest.skip("this MPI keeps its calls")
    done, rows = job(mpi, ranks, "progress", TONARI_REPAIR="1")
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in rows} == {"MPI_Ineighbor_alltoall"}
    assert all(row["through_tonari"] == row["calls"] > 0 for row in rows)


@openmpi
def test_threads_that_may_call_at_once_are_named_as_the_reason(job: Any, mpi: str) -> None:
    """mpi4py asks for MPI_THREAD_MULTIPLE, unless mpi4py.rc.thread_level says otherwise."""
    done, rows = job(mpi, 2, "begun", "distinct", "multiple")
    assert done.returncode == 0, done.stderr
    begun = [row for row in rows if row["call"] in BEGUN]
    assert {row["call"] for row in begun} == BEGUN
    assert not any(row["through_tonari"] for row in begun)
    [why] = {row["why"] for row in begun}
    assert "MPI_THREAD_MULTIPLE" in why
    assert "ask for MPI_THREAD_SERIALIZED" in why
    assert "mpi4py.rc.thread_level" in why


@openmpi
def test_repair_is_for_exchanges_that_begin_too(job: Any, mpi: str) -> None:
    """Open MPI swaps the halos of closed dimensions of one and two ranks."""
    wrong, rows = job(mpi, 2, "begun", "all")
    assert wrong.returncode != 0
    done, rows = job(mpi, 2, "begun", "all", TONARI_REPAIR="1")
    assert done.returncode == 0, done.stderr
    ours = [row for row in rows if row["call"] in BEGUN]
    assert {row["call"] for row in ours} == BEGUN
    assert all(row["through_tonari"] == row["calls"] > 0 for row in ours)


@openmpi
@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("TONARI_NODES", "1", "several nodes"),
        ("TONARI_CHANNEL", "p2p-packed", "a setting of tonari"),
        ("TONARI_PRELOAD", "native", "TONARI_PRELOAD"),
    ],
)
def test_some_stay_with_the_mpi(job: Any, mpi: str, variable: str, value: str, why: str) -> None:
    done, rows = job(mpi, 2, "begun", "distinct", **{variable: value})
    assert done.returncode == 0, done.stderr
    ours = [row for row in rows if row["call"] in BEGUN]
    assert {row["call"] for row in ours} == BEGUN
    assert not any(row["through_tonari"] for row in ours)
    assert why in {row["why"] for row in ours}


@each_mpi
@pytest.mark.parametrize("calls", ["exchanges", more("begun"), more("in-place")])
def test_wrong_values_are_told(job: Any, mpi: str, calls: str, capfd: Any) -> None:
    """All three ranks have them. They count as if nothing were set. The first rank of a
    communicator says so once: in place that is another process in each half."""
    done, rows = job(mpi, 3, calls, "distinct", TONARI_PRELOAD="tonary", TONARI_REPAIR="yes")
    assert done.returncode == 0, done.stderr
    said = [line for line in capfd.readouterr().err.splitlines() if "TONARI_" in line]
    assert said[:2] == [
        "tonari: warning: TONARI_PRELOAD is 'tonary'; it must be auto, tonari or native; did you "
        "mean tonari? (Here it counts as auto.)",
        "tonari: warning: TONARI_REPAIR is 'yes'; it must be 0 or 1 (Here it counts as 0.)",
    ]
    assert said == said[:2] * (2 if calls == "in-place" else 1)
    assert "TONARI_PRELOAD" not in {row["why"] for row in rows}


@openmpi
def test_a_rank_alone_tells_of_its_wrong_values(
    tonari: Run, programs: dict[str, Path], capfd: Any, mpi: str
) -> None:
    program = [str(programs[mpi]), "exchanges", "distinct"]
    wrong = ["-n", "1", "env", "TONARI_PRELOAD=1", *program]
    launch = [MPIS[mpi]["mpiexec"], "-n", "2", *program, ":", *wrong]
    variables = ANY_RANKS | {"TONARI_BUILD": str(built.CONFIG.parent.absolute())} | path_of(mpi)
    done = tonari("run", "--", *launch, **variables)
    assert done.returncode == 0, done.stderr
    said = capfd.readouterr().err
    assert said.count("tonari: warning: TONARI_PRELOAD is '1'; it must be auto,") == 1, said


@pytest.mark.parametrize("mpi", [more(mpi) for mpi in MPIS if mpi == "mpich"])
def test_repair_gives_right_blocks(job: Any, mpi: str) -> None:
    """MPICH 4.0.2 reverses the blocks of ranks that are neighbors twice: so the program finds."""
    wrong, _ = job(mpi, 3, "exchanges", "all", TONARI_PRELOAD="tonari")
    if wrong.returncode == 0:
        pytest.skip("this MPICH is right")
    done, rows = job(mpi, 3, "exchanges", "all", TONARI_REPAIR="1")
    assert done.returncode == 0, done.stderr
    assert "TONARI_REPAIR" in {row["why"] for row in rows}


@pytest.mark.parametrize(("ranks", "count"), [(2, 1000), more(2, 10_000), more(8, 500)])
@each_mpi
def test_communicators_that_come_and_go(job: Any, mpi: str, ranks: int, count: int) -> None:
    count = count if mpi == "openmpi" else min(count, 500)
    done, rows = job(mpi, ranks, "many", str(count))
    assert done.returncode == 0, done.stderr
    assert sum(row["through_tonari"] for row in rows) >= ranks * count // 10
    assert not left_behind()


@each_mpi
def test_communicators_that_nobody_frees(job: Any, mpi: str) -> None:
    done, rows = job(mpi, 3, "leak", TONARI_PRELOAD="tonari")
    assert done.returncode == 0, done.stderr
    [row] = rows
    assert row["calls"] == 3 * 70
    assert row["through_tonari"] == 3 * 64, "neighborhoods are bounded"
    assert row["why"] == "too many communicators"
    assert not left_behind()


def left_behind() -> list[str]:
    return [str(file) for file in Path("/dev/shm").glob("*tonari*")]


# Each takes a second of processor time. Ranks of "odd" set their callbacks in different orders.
AT_END = [("openmpi", 1, "before"), ("openmpi", 3, "before"), ("openmpi", 2, "odd")]
AT_END += [("openmpi", 3, "only"), ("mpich", 1, "before"), ("mpich", 2, "odd")]


@pytest.mark.parametrize(
    ("mpi", "ranks", "when", "way"),
    [
        case if case[:3] in AT_END and case[3] == "tonari" else more(*case)
        for mpi in MPIS
        for ranks in {"abi-intel": (2,), "abi": (2, 3)}.get(mpi, (1, 2, 3, 5))
        for when in ("before", "after", "odd", "only")
        for way in (("tonari", "auto", "native") if ranks == 3 else ("tonari",))
        for case in ((mpi, ranks, when, way),)
    ],
)
def test_callbacks_in_mpi_finalize_exchange_once_more(
    job: Any, programs: dict[str, Path], mpi: str, ranks: int, when: str, way: str
) -> None:
    """Persistent requests that were made before, too; MPICH 4 itself would wait for ever there."""
    persistent = drives(mpi, programs[mpi]) and (mpi == "openmpi" or way == "tonari")
    words = ["finalize", when, *["persistent"] * persistent]
    done, rows = job(mpi, ranks, *words, TONARI_PRELOAD=way)
    assert done.returncode == 0, done.stderr
    through = sum(row["through_tonari"] for row in rows)
    assert (through > 0) == (way != "native" and when != "only")
    assert "MPI_Finalize" in {row["why"] for row in rows} or way == "native"
    assert not left_behind()


@each_mpi
def test_threads_have_communicators_of_their_own(job: Any, mpi: str) -> None:
    done, rows = job(mpi, 3, "threads", TONARI_PRELOAD="tonari")
    assert done.returncode == 0, done.stderr
    assert sum(row["through_tonari"] for row in rows) in (0, 3 * 3 * 200)


@each_mpi
def test_a_program_that_aborts_ends_as_before(job: Any, mpi: str) -> None:
    done, _ = job(mpi, 3, "abort", TONARI_PRELOAD="tonari")
    assert done.returncode == 3


@each_mpi
def test_wrong_sizes_end_with_a_sentence(job: Any, mpi: str) -> None:
    done, _ = job(mpi, 3, "wrong", TONARI_PRELOAD="tonari")
    assert done.returncode != 0


@pytest.mark.parametrize("way", ["tonari", "auto", "native"])
@each_mpi
def test_errors_are_returned(job: Any, mpi: str, way: str) -> None:
    done, _ = job(mpi, 3, "errors", TONARI_PRELOAD=way)
    assert done.returncode == 0, done.stderr


# ---- a wrong MPI


@pytest.mark.skipif(len(MPIS) < 2, reason="needs a build for two MPIs")
@pytest.mark.parametrize(("running", "loaded"), [("openmpi", "mpich"), ("mpich", "openmpi")])
def test_a_wrong_mpi_steps_aside(
    programs: dict[str, Path], tmp_path: Path, running: str, loaded: str
) -> None:
    library = Path(MPIS[loaded]["bin"]) / LIBRARY
    launch = [MPIS[running]["mpiexec"], "-n", "2", programs[running], "exchanges", "distinct"]
    kind = preload.kind_of(list(map(str, launch)))
    variables = {"LD_PRELOAD": preload.before(library.resolve()), "TONARI_PRELOAD": "tonari"}
    variables["TONARI_RUN_REPORT"] = str(tmp_path)
    done = subprocess.run(
        preload.with_variables(list(map(str, launch)), kind, variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "unmodified: done" in done.stdout
    [told] = re.findall("this libtonari_preload was built for .*", done.stderr)
    assert "it steps aside; run the program with the `tonari` that was built for that MPI" in told
    assert not preload.read_records(tmp_path)


# ---- launchers


def test_ranks_get_variables_and_launchers_do_not() -> None:
    two = {"A": "1", "B": "2"}
    many = ["mpiexec", "-n", "1", "a", ":", "-n", "2", "b"]
    assert preload.with_variables(many, "openmpi", two) == (
        "mpiexec -x A=1 -x B=2 -n 1 a : -x A=1 -x B=2 -n 2 b".split()
    )
    assert preload.with_variables(many, "mpich", two) == (
        "mpiexec -genv A 1 -genv B 2 -n 1 a : -n 2 b".split()
    )
    assert preload.with_variables(["srun", "a"], "slurm", two) == [
        "srun",
        "--export=ALL,A=1,B=2",
        "a",
    ]
    assert preload.with_variables(["./a", "x"], "", two) == ["env", "A=1", "B=2", "./a", "x"]


def test_the_launcher_stays_as_it_is(job: Any, tmp_path: Path) -> None:
    """A launcher that loads the library itself would start as an MPI program."""
    mpi = next(iter(MPIS))
    seen = tmp_path / "seen"
    fake = tmp_path / "mpiexec"
    fake.write_text(f'#!/bin/sh\necho "$LD_PRELOAD" >> {seen}\nexec {MPIS[mpi]["mpiexec"]} "$@"\n')
    fake.chmod(0o755)
    with mock.patch.dict(MPIS[mpi], mpiexec=str(fake)):
        done, rows = job(mpi, 2, "calls", "10", TONARI_PRELOAD="tonari", LD_PRELOAD="")
    assert done.returncode == 0, done.stderr
    assert rows
    assert all(row["through_tonari"] for row in rows)
    assert set(seen.read_text().split()) == set()


def test_a_program_without_a_launcher(
    tonari: Run, programs: dict[str, Path], tmp_path: Path
) -> None:
    mpi = next(iter(MPIS))
    rows = tmp_path / "rows.json"
    environment = {"TONARI_BUILD": str(built.CONFIG.parent.absolute()), "TONARI_PRELOAD": "tonari"}
    words = ["--json", str(rows), "--", str(programs[mpi]), "calls", "10"]
    done = tonari("run", *words, **(ANY_RANKS | environment))
    assert done.returncode == 0, done.stderr
    told = json.loads(rows.read_text())
    assert told
    assert all(row["through_tonari"] == row["calls"] for row in told)


def test_errors_are_one_sentence(tonari: Run, tmp_path: Path) -> None:
    unknown = tmp_path / "mpiexec"
    unknown.write_text("#!/bin/sh\necho 1.0\n")
    unknown.chmod(0o755)
    refused(tonari("run", "--", str(unknown), "a"), "is a launcher that tonari does not know")
    refused(tonari("run", "--", "sh"), "tonari cannot tell which MPI the program runs with")
    refused(tonari("run", "--mpi", "none", "--", "sh"), "there is no libtonari_preload.so for none")
    refused(tonari("run", "--", str(tmp_path / "no/mpiexec")), "cannot be started")
    refused(tonari("run"), "COMMAND", 2)


def test_help_has_an_example(tonari: Run) -> None:
    done = tonari("run", "--help")
    assert "Example:" in done.stdout
    for mpi in ("Open MPI", "MPICH"):
        assert f"under {mpi}" in " ".join(done.stdout.split()), "where calls that begin go"
    fits(done.stdout)
