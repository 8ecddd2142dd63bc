# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari advise` says of what was recorded: shares, names, and when it cannot know."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import numpy as np
import pytest
from advised import Tags, records
from command_line import fits
from tonari import sites
from tonari.advice.exchanges import _steady, read
from tonari.advice.page import page
from tonari.advice.rows import heading, neighbors
from tonari.advice.rows import rows as rows_of
from tonari.advice.stencil import recognize
from tonari.views.advise import lines_of_calls, show


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


def test_all_epochs_that_come_again_are_all_of_the_time() -> None:
    """Times are rounded."""

    def loop(epochs: int, seconds: float, of_seconds: float) -> dict[str, Any]:
        again = {"key": "a", "epochs": epochs, "seconds": seconds}
        return {"epochs": 50, "seconds": of_seconds, "patterns": [again, {"epochs": 50 - epochs}]}

    assert _steady([loop(50, 0.0499, 0.05), loop(50, 0.03, 0.03)]) == 1
    assert _steady([loop(49, 0.04, 0.05), loop(50, 0.03, 0.03)]) == pytest.approx(7 / 8)
    assert _steady([loop(49, 0, 0)]) == pytest.approx(0.98)
