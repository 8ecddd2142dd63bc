# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate inplace, tonari simulate halo and tonari plan inplace: rows against the papers'
counts, readable forms, errors."""

from __future__ import annotations

import json

import pytest
from command_line import call, fits, printed, refused
from tonari.swaps import steps_of

SETS = "hierarchical-sets"
FIELDS = ["algorithm", "variant", "op", "bytes", "ranks", "predicted_us", "events", "every_rank"]
FIELDS += ["wall_s", "peak_mib"]


def rows(*words: str) -> list[dict]:
    return json.loads(printed(call(*words, "--json")))


def test_orders_take_the_steps_of_the_paper():
    found = rows("plan", "inplace", "--ranks", "7")
    assert list(found[0]) == ["algorithm", "ranks", "rank", "partner", "step"]
    last: dict[str, int] = {}
    for row in found:
        last[row["algorithm"]] = max(last.get(row["algorithm"], 0), row["step"])
    assert last["mpich-order"] == 13 and last["linear-shift"] == 7 and last[SETS] <= 8
    assert len(found) == 28 + 21 + 21


@pytest.mark.parametrize("ranks", [1, 2, 5, 16])
def test_each_pair_has_one_step_and_no_rank_two_at_a_time(ranks):
    for name in ("mpich-order", "linear-shift", SETS):
        for rank, row in enumerate(steps_of(name, ranks)):
            others = [step for other, step in enumerate(row) if other != rank]
            assert all(others) and len(set(others)) == len(others)


def test_steps_are_drawn_for_few_ranks():
    lines = fits(printed(call("plan", "inplace", "--ranks", "7")))
    assert lines[0] == "swaps between 7 ranks"
    assert "mpich-order, the step of ranks i (down) and j (to the right):" in lines
    assert "   1    2    3    4    5    6    7" in lines
    assert len(fits(printed(call("plan", "inplace", "--ranks", "100")))) == 6


def test_in_place_there_is_a_row_for_each_order_and_budget():
    words = ("simulate", "inplace", "--ranks", "8,32", "--total-bytes", "1MiB")
    found = rows(*words, "--memory", "0,1MiB")
    assert list(found[0]) == ["memory_bytes", *FIELDS]
    assert len(found) == 2 * (1 + 3 * 2)
    for ranks in (8, 32):
        here = {row["algorithm"]: row for row in found if row["ranks"] == ranks}
        assert {row["bytes"] for row in here.values()} == {2**20 // ranks}
        assert here["native"]["memory_bytes"] is None
        assert here[f"{SETS} with 1 MiB"]["memory_bytes"] == 2**20
        little, much = (here[f"{SETS} with {m}"]["predicted_us"] for m in ("0 B", "1 MiB"))
        assert much < little
        order = here["mpich-order with 0 B"]["predicted_us"]
        assert 1.7 < order / little < 2.1  # 2 p - 1 steps, and p - 1


def test_ghosts_travel_in_the_papers_numbers_of_messages():
    found = rows("simulate", "halo", "--size", "16,64", "--ranks", "27")
    assert list(found[0]) == ["size", *FIELDS]
    large = {row["algorithm"]: row for row in found if row["size"] == 64}
    assert {name: row["variant"] for name, row in large.items()} == {
        "pack": "26 messages",
        "basic": "98 messages",
        "layout": "42 messages",
        "memmap": "26 messages",
    }
    assert {row["bytes"] for row in large.values()} == {8 * (80**3 - 64**3)}
    times = {name: row["predicted_us"] for name, row in large.items()}
    assert times["memmap"] < times["layout"] < times["basic"] < times["pack"]


def test_larger_pages_cost_mapped_ghosts_only():
    more = ("simulate", "halo", "--size", "32", "--exchanges", "pack,memmap")
    small, large = rows(*more), rows(*more, "--page", "64KiB")
    assert small[0]["predicted_us"] == large[0]["predicted_us"]
    assert small[1]["predicted_us"] < large[1]["predicted_us"]


@pytest.mark.parametrize(
    "words",
    [
        ("inplace", "--ranks", "16", "--total-bytes", "1KiB", "--memory", "0,1KiB"),
        ("halo", "--size", "16", "--ranks", "8"),
    ],
    ids=lambda words: words[0],
)
def test_sweeps_have_every_algorithm_at_every_factor(words):
    found = rows("simulate", *words, "--sweep")
    times = [row for row in found if row["kind"] == "time"]
    names = {row["algorithm"] for row in times}
    assert len(times) == 27 * len(names) and len(names) >= 4
    once = {row["algorithm"]: row["predicted_us"] for row in times if row["factor"] == 1}
    for row in rows("simulate", *words):
        assert once[row["algorithm"]] == row["predicted_us"]


def test_readable_forms_fit():
    lines = fits(printed(call("simulate", "inplace", "--ranks", "4,8")))
    assert lines[0] == "exchange: inplace on 4 and 8 ranks"
    assert lines[2].split() == ["algorithm", "ranks", "block", "time", "events", "wall", "peak"]
    assert fits(printed(call("simulate", "halo")))[0] == "cubes: halo on 8 ranks"
    swept = fits(printed(call("simulate", "halo", "--size", "16", "--sweep")))
    assert swept[0] == "cubes: halo on 8 ranks, ghosts of 224.0 KiB"


def test_mistakes_are_one_sentence():
    inplace, halo = ("simulate", "inplace"), ("simulate", "halo")
    refused(call(*inplace, "--ranks", "64", "--total-bytes", "63"), "less than a byte for each")
    refused(call(*inplace, "--algorithms", "liner-shift"), "did you mean linear-shift")
    refused(call(*inplace, "--ranks", "0"), "must be whole numbers from 1")
    refused(call(*inplace, "--ranks", "1000000", "--total-bytes", "1g"), "GiB")
    refused(call(*halo, "--size", "60"), "no multiple of the brick")
    refused(call(*halo, "--exchanges", "datatypes"), "choose from pack, basic, layout, memmap")
    refused(call(*halo, "--page", "100"), "unit of 100 bytes")
    refused(call(*halo, "--plot", "it.png"), "give both")
    refused(call("plan", "inplace", "--algorithms", "torus"), "there is no algorithm 'torus' here")
