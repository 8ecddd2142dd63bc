# SPDX-License-Identifier: BSD-3-Clause
"""`tonari advise`: a program as it is runs as without it, and the report tells what it exchanges:
where, who with, how much and how steadily."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import built
import numpy as np
import pytest
from built import more
from command_line import fits, refused
from conftest import Run
from tonari import sites
from tonari.advice.exchanges import read
from tonari.advice.page import page
from tonari.advice.rows import heading, neighbors
from tonari.advice.rows import rows as rows_of
from tonari.advice.stencil import recognize
from tonari.benchmark.launch import ANY_RANKS
from tonari.views.advise import lines_of_calls, show

SOURCE = Path(__file__).resolve().parents[2] / "tests/preload/halo.c"
LIBRARY = "../lib/libtonari_advise.so"
MPIS = {mpi: how for mpi, how in built.with_program(LIBRARY).items() if mpi != "abi"}
CASES = [mpi if number == 0 else more(mpi) for number, mpi in enumerate(MPIS)]
needs_build = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize("mpi", CASES or ["none"])
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
    for mpi, how in MPIS.items():
        command = [built.c_compiler(how), "-g", "-std=c99", SOURCE, "-o", folder / mpi, "-pthread"]
        subprocess.run(command, check=True)
    return {mpi: folder / mpi for mpi in MPIS}


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


class Tags(HTMLParser):
    """What is open, and what a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


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


def records(tonari_us: float, **more_fields: Any) -> list[dict[str, Any]]:
    """Of two ranks that exchange 1 KiB for 40 of every 100 us, a thousand times in 0.1 s."""
    rows = []
    for rank in (0, 1):
        place = {"call": "MPI_Isend", "file": "/none/a<b", "offset": 16}
        pattern = {
            "key": "1", "epochs": 1000, "seconds": 0.04, "exchange_us": 40.0, "step_us": 100.0,
            "places": [place], "messages": [[0, 1, 1 - rank, 1024], [0, 0, 1 - rank, 1024]],
            "mpi_us": 30.0, "tonari_us": tonari_us, "how": "linear over shared", "why": "",
        } | more_fields  # fmt: skip
        loop = {
            "record": "loop", "key": "0", "call": "MPI_Waitall", "file": "/none/a<b", "offset": 32,
            "ranks": 2, "epochs": 1000, "others": 0, "distinct": 1, "seconds": 0.04,
            "patterns": [pattern],
        }  # fmt: skip
        begin = {"record": "rank", "rank": rank, "ranks": 2, "seconds": 0.1}
        rows += [begin | {"finalized": True, "not_kept": 0}, loop]
    return rows


def test_what_is_saved_is_what_replays_differ_by() -> None:
    job = read(records(10.0))
    [one] = job.exchanges
    assert one.saved_us == 20.0
    assert one.share(job) == pytest.approx(0.4)
    assert one.saved_share(job) == pytest.approx(0.2)
    [hidden] = read(records(10.0, exchange_us=5.0)).exchanges
    assert hidden.saved_us == 5.0, "no more than the program spends there"


def test_an_exchange_belongs_where_most_ranks_wait() -> None:
    """Not where a rank without messages there waits long."""
    told = records(10.0)
    begin, loop = copy.deepcopy(records(10.0)[2:])
    loop |= {"key": "2", "offset": 64, "seconds": 9.0}
    loop["patterns"][0]["seconds"] = 9.0
    [one] = read([begin | {"rank": 2}, loop, *told]).exchanges
    assert one.site == "a<b+0x20" and one.patterns == 1


def test_advice_has_code_where_it_pays(capsys: Any) -> None:
    [worth], [not_worth] = rows_of(read(records(10.0))), rows_of(read(records(29.9)))
    assert "tonari_neighborhood_create_" in worth["code"]
    assert "tonari_alltoall_init(sendbuf, 1024, MPI_BYTE" in worth["code"]
    assert worth["advice"] == "tonari saves 20.0 % of the run"
    assert worth["site"] == "a<b+0x20"
    assert not_worth["code"] == "" and not_worth["advice"].startswith("leave it")
    show(read(records(10.0)))
    text = capsys.readouterr().err
    fits(text)
    assert "40.0 µs of 100.0 µs per step (40.0 % of the run)" in text
    assert "by the MPI 30.0 µs, by tonari 10.0 µs (linear over shared)" in text
    assert "tonari_start(halo);" in text
    html = page(read(records(10.0)))
    assert "a&lt;b" in html and "a<b" not in html
    assert not Tags(html).open


@pytest.mark.parametrize(
    ("halves", "busy", "sentence"),
    [
        ([[30.0, 10.0], [30.0, 40.0]], 0.0, "two replays say that tonari saves 20.0 % and -10.0 %"),
        ([[27e3, 9e3], [30.0, 10.0]], 0.0, "two replays by the MPI took 27.0 ms and 30.0 µs"),
        ([[30.0, 9.0], [31.0, 19.0]], 0.0, "two replays by tonari took 9.0 µs and 19.0 µs"),
        ([[30.0, 10.0], [30.0, 11.0]], 0.8, "other programs wanted the cores during the replay"),
    ],
)
def test_it_says_when_it_cannot_know(halves: Any, busy: float, sentence: str) -> None:
    [row] = rows_of(read(records(10.0, halves=halves, busy=busy)))
    assert row["advice"].startswith("cannot be told here: ") and sentence in row["advice"]
    assert row["code"] == ""


def test_replays_apart_do_not_matter_where_little_is_spent() -> None:
    few = {"halves": [[3.0, 0.9], [1.0, 0.9]], "seconds": 0.0005, "exchange_us": 0.5}
    [row] = rows_of(read(records(0.9, mpi_us=1.0, **few)))
    assert row["advice"].startswith("leave it")


def test_the_report_ends_with_a_paragraph_for_an_issue(capsys: Any) -> None:
    place = {"file": "/none/a<b", "offset": 16}
    lines = [{"call": call} | place for call in ("MPI_Irecv", "MPI_Isend")]
    show(read(records(10.0, places=lines)))
    text = capsys.readouterr().err
    assert "  MPI_Irecv at a<b+0x10, MPI_Isend at a<b+0x10\n" in text
    fits(text)
    assert " ".join(text.partition("for an issue of the program:")[2].split()) == (
        "On 2 ranks, exchanges take 40 % of a run of 100.0 ms. MPI_Waitall at a<b+0x20 takes "
        "40.0 %: 1 message of 1 KiB to neighbors on a line of 2 ranks. Alone, the MPI takes "
        "30.0 µs and tonari 10.0 µs for it. tonari saves 20.0 % of the run."
    )
    show(read(in_turn(25.0)))
    text = " ".join(capsys.readouterr().err.split())
    assert "takes 80.0 %: 2 exchanges, the longest one with 1 message of 1 KiB to" in text
    assert "tonari 20.0 µs for the longest one. As one exchange with 2 messages of 1 KiB to" in text
    assert "tonari takes 25.0 µs." in text
    show(read(records(10.0, seconds=0.0001)[:1]))
    assert "for an issue" not in capsys.readouterr().err


def test_why_one_of_several_was_not_replayed_is_told(capsys: Any) -> None:
    told = in_turn(25.0)
    for loop in (told[1], told[3]):
        loop["patterns"][1]["why"] = "the 10 s for replays were over"
    show(read(told))
    assert "not replayed: the 10 s for replays were over" in capsys.readouterr().err


def test_sizes_that_are_new_each_time_are_left_alone() -> None:
    """As random updates are: ranks that send now and then do not expect each other."""
    new = {"varies": True, "stretches": 900, "sizes": [8, 512]}
    [row] = rows_of(read(records(0.0, why="ranks do not expect what others send", **new)))
    assert "ranks that expect nothing (tonari/sparse.h)" in row["advice"]


def test_of_many_exchanges_at_a_place_the_rest_is_a_line(capsys: Any) -> None:
    told = records(29.9)
    for loop in (told[1], told[3]):
        first = loop["patterns"][0]
        few = {"seconds": 0.0001, "exchange_us": 0.1}
        loop["patterns"] += [copy.deepcopy(first) | few | {"key": f"more {k}"} for k in range(9)]
        loop["seconds"] += 0.0009
    show(read(told))
    text = capsys.readouterr().err
    assert "10 kinds of exchange" in text and "  6. 1,000 times" in text
    assert "  7. " not in text and "  and 4 more: 0.4 % of the run" in text


def test_one_partner_each_is_told() -> None:
    [one] = read(records(10.0)).exchanges
    one.targets, one.stencil = {rank: [rank ^ 1] for rank in range(4)}, None
    assert neighbors(one) == "one rank each"
    one.targets[0] = [1, 2]
    assert neighbors(one) == "a graph"


def test_lines_of_messages_are_told_as_ranges() -> None:
    [one] = read(records(10.0)).exchanges
    calls = [("MPI_Irecv", 110), ("MPI_Isend", 420), ("MPI_Irecv", 345), ("MPI_Irecv", 119)]
    one.places = [f"{call} at comm.cc:{line}" for call, line in calls]
    assert lines_of_calls(one) == ["MPI_Irecv at comm.cc:110 to 345", "MPI_Isend at comm.cc:420"]


def test_ranks_that_share_cores_are_told() -> None:
    told = records(10.0, halves=[[30.0, 10.0], [30.0, 11.0]], busy=0.9)
    for record in told:
        if record["record"] == "rank":
            record |= {"node_ranks": 8, "cores": 2}
    job = read(told)
    [row] = rows_of(job)
    assert row["advice"] == "tonari saves 20.0 % of the run, here where ranks share cores"
    assert heading(job)[1].startswith("8 ranks share 2 cores: ")


def test_what_is_left_out_is_a_line_with_its_share(capsys: Any) -> None:
    told = records(10.0)
    for record in told:
        if record["record"] == "loop":
            record["seconds"] += 0.003
    show(read(told))
    assert "left out: what came less than three times: 3.0 % of the run" in capsys.readouterr().err


def in_turn(together_us: float) -> list[dict[str, Any]]:
    """Of two ranks that exchange with each other twice, 40 us each time, and of both as one."""
    told = records(20.0)
    for rank, loop in ((0, told[1]), (1, told[3])):
        again = copy.deepcopy(loop["patterns"][0]) | {"key": "2"}
        loop["patterns"].append(again)
        loop |= {"epochs": 2000, "seconds": 0.08, "parts": 2}
        messages = [[0, 1, 1 - rank, 1024], [0, 0, 1 - rank, 1024]] * 2
        as_one = {"key": "3", "messages": messages, "mpi_us": 50.0, "tonari_us": together_us}
        loop["together"] = copy.deepcopy(again) | as_one
    return told


def test_exchanges_in_turn_can_become_one(capsys: Any) -> None:
    *both, loop = rows_of(read(in_turn(25.0)))
    assert [row["saved_percent"] for row in both] == [10.0, 10.0]
    assert (loop["kind"], loop["exchanges"], loop["in_turn"]) == ("loop", 2, 2)
    assert (loop["saved_percent"], loop["together_saved_percent"]) == (20.0, 35.0)
    assert loop["advice"] == (
        "as one exchange, tonari saves 35.0 % of the run, "
        "if none needs what another has brought; in turn 20.0 %"
    )
    assert loop["code"].count("tonari_start(halo);") == 1
    show(read(in_turn(25.0)))
    text = capsys.readouterr().err
    fits(text)
    assert "2 kinds of exchange, 80.0 % of the run" in text
    assert text.count("  MPI_Isend at a<b+0x10") == 1, "what both have is told once"
    assert "by the MPI 50.0 µs, by tonari 25.0 µs" in text
    assert text.count("tonari_start(halo);") == 1
    *_, slower = rows_of(read(in_turn(45.0)))
    assert slower["advice"] == "tonari saves 20.0 % of the run"
    assert "and so on, for 1 more exchange" in slower["code"]


def test_code_for_sizes_that_change() -> None:
    changing = {"varies": True, "stretches": 50, "sizes": [512, 1024], "has_room": True}
    [row] = rows_of(read(records(10.0, **changing)))
    assert (row["same_sizes"], row["least_bytes"], row["most_bytes"]) == (20, 512, 1024)
    assert "room for the largest blocks" in row["code"] and "alltoallv_init" in row["code"]
    [again] = rows_of(read(records(10.0, **changing | {"has_room": False})))
    assert "again after each change of sizes" in again["code"]


PROGRAM = """
#include <stdio.h>
#include <string.h>
#include <tonari/tonari.h>
static char sendbuf[1 << 20], recvbuf[1 << 20];
int main(void) {
  int me, from = 0, to = 0;
  static int sources_seen[64], destinations_seen[64];
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(comm, &me);
  memset(sendbuf, me + 1, sizeof(sendbuf));
#define START
%s
  tonari_neighborhood_degrees(near, &from, &to);
  tonari_neighborhood_ranks(near, destinations_seen, sources_seen);
  for (int k = 0; k < to; ++k) printf("%%d to %%d\\n", me, destinations_seen[k]);
  for (int k = 0; k < from; ++k) {
    const long place = %s, bytes = %s;
    const char* said = "right";
    for (long e = place; e < place + bytes; ++e)
      if (recvbuf[e] != sources_seen[k] + 1) said = "wrong";
    printf("%%d from %%d: %%ld bytes, %%s\\n", me, sources_seen[k], bytes, said);
  }
  tonari_request_free(&halo);
  tonari_neighborhood_free(&near);
  MPI_Finalize();
  return 0;
}
"""


def run_code(row: dict[str, Any], mpi: str, ranks: int, folder: Path) -> list[str]:
    """Compiles the lines of a row as they are, runs them, and returns what each rank says."""
    fixed = "recvdispls" not in row["code"]
    bytes_ = str(row["most_bytes"])
    placed = (f"k * {bytes_}L", bytes_) if fixed else ("recvdispls[k]", "recvcounts[k]")
    source = folder / "code.c"
    source.write_text(PROGRAM % (row["code"], *placed))
    how = MPIS[mpi]
    library = Path(how["bin"]).parent / "lib"
    headers = Path(__file__).resolve().parents[2] / "include"
    link = [f"-I{headers}", f"-L{library}", "-ltonari", f"-Wl,-rpath,{library}"]
    flags = ["-std=c99", "-Wall", "-Werror=implicit", "-o", folder / "code"]
    command = [built.c_compiler(how), *flags, source, *link]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, row["code"] + done.stderr
    launch = [how["mpiexec"], "-n", str(ranks), str(folder / "code")]
    environment = os.environ | ANY_RANKS
    done = subprocess.run(launch, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    return sorted(done.stdout.splitlines())


@needs_build
@each_mpi
@pytest.mark.parametrize(
    ("messages", "function", "ranks", "said"),
    [
        ([[0, 1, 1, 8], [0, 1, 1, 8], [0, 0, 1, 8], [0, 0, 1, 8]], "create_cart", 2, 8 * [8]),
        (
            [[0, 1, 1, 8], [0, 1, 1, 24], [0, 0, 1, 64], [0, 0, 1, 64]],
            "create_adjacent",
            2,
            4 * [0],
        ),
        ([[0, 1, 1, 8], [0, 1, 1, 24], [0, 0, -1, 64], [0, 0, -1, 64]], "create_from", 2, 4 * [0]),
    ],
)
def test_code_runs(
    messages: Any, function: str, ranks: int, said: list[int], mpi: str, tmp_path: Path
) -> None:
    told = records(10.0, messages=messages)
    back = [[place, out, 0 if peer == 1 else peer, size] for place, out, peer, size in messages]
    told[3]["patterns"][0]["messages"] = back
    [row] = rows_of(read(told))
    assert f"tonari_neighborhood_{function}" in row["code"]
    lines = run_code(row, mpi, 2, tmp_path)
    sizes = sorted(size for _, out, _, size in messages if out)
    expected = [f"{a} from {1 - a}: {size} bytes, right" for a in (0, 1) for size in sizes]
    assert sorted(line for line in lines if "from" in line) == sorted(expected)
    assert [line for line in lines if " to " in line] == 2 * ["0 to 1"] + 2 * ["1 to 0"]


@needs_build
@each_mpi
def test_code_of_a_grid_runs(mpi: str, tmp_path: Path) -> None:
    """Moore neighbors on a periodic 3x3 grid of ranks, with the rank that each offset leads to."""

    def near(rank: int) -> list[int]:
        steps = [step for step in product((-1, 0, 1), repeat=2) if any(step)]
        return [(rank // 3 + a) % 3 * 3 + (rank % 3 + b) % 3 for a, b in steps]

    first, loop = records(10.0)[:2]
    told = []
    for rank in range(9):
        copied = copy.deepcopy(loop)
        sent = [[0, 1, peer, 40] for peer in near(rank)]
        copied["patterns"][0]["messages"] = sent + [[0, 0, peer, 40] for peer in near(rank)]
        told += [first | {"rank": rank, "ranks": 9}, copied]
    [row] = rows_of(read(told))
    assert "/* from rank 4 to rank 0 */" in row["code"]
    lines = run_code(row, mpi, 9, tmp_path)
    expected = [f"{rank} from {peer}: 40 bytes, right" for rank in range(9) for peer in near(rank)]
    assert sorted(line for line in lines if "from" in line) == sorted(expected)


@needs_build
def test_code_without_tables(tmp_path: Path) -> None:
    """What hundreds of messages would fill is the program's own."""
    graph = [[0, 1, 1, 8 + k] for k in range(200)] + [[0, 0, 1, 64] for _ in range(200)]
    told = records(10.0, messages=graph)
    told[3]["patterns"][0]["messages"] = [[place, out, 0, size] for place, out, _, size in graph]
    [row] = rows_of(read(told))
    assert "the program's own numbers and lists of ranks replace these" in row["code"]
    assert len(row["code"].splitlines()) < 60


@pytest.mark.parametrize(
    ("dims", "periodic", "reach", "name"),
    [
        ((5,), (True,), 1, "neighbors on a ring of 5 ranks"),
        ((5,), (False,), 1, "neighbors on a line of 5 ranks"),
        ((3, 4), (False, False), 1, "von Neumann neighbors on an open 3x4 grid"),
        ((3, 4), (True, True), 2, "Moore neighbors on a periodic 3x4 grid"),
        ((2, 3, 4), (True, True, True), 3, "Moore neighbors on a periodic 2x3x4 grid"),
        ((3, 3, 3), (False, False, False), 2, "neighbors at faces and edges on an open 3x3x3 grid"),
        ((3, 4), (True, False), 1, "von Neumann neighbors on a partly periodic 3x4 grid"),
    ],
)
def test_stencils(dims: Any, periodic: Any, reach: int, name: str) -> None:
    ranks = np.arange(np.prod(dims)).reshape(dims)
    targets: dict[int, list[int]] = {}
    for at in product(*map(range, dims)):
        to = targets.setdefault(int(ranks[at]), [])
        for step in product((-1, 0, 1), repeat=len(dims)):
            there = np.add(at, step)
            inside = [p or 0 <= x < n for x, n, p in zip(there, dims, periodic, strict=True)]
            if 0 < np.abs(step).sum() <= reach and all(inside):
                to.append(int(ranks[tuple(there % dims)]))
    assert str(recognize(targets)) == name
    targets[0] = [*targets[0][1:], 0]
    assert recognize(targets) is None


def test_sites_of_files_that_are_not_there() -> None:
    assert sites.site("/none/app", 0x1B2C) == "app+0x1b2c"


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
