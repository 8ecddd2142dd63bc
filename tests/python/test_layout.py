# SPDX-License-Identifier: BSD-3-Clause
"""tonari layout: the numbers of the paper's Table 1, orders counted anew from their text, the
readable form, errors."""

from __future__ import annotations

import json
from itertools import product

import pytest
from command_line import fits, printed, refused

FIELDS = ["dims", "messages", "basic", "neighbors", "neighbours"]  # its earlier name
FIELDS += ["bound", "order"]
# Dimensions, neighbors, Eq. 1, basic.
TABLE_1 = [(1, 2, 2, 2), (2, 8, 9, 16), (3, 26, 42, 98), (4, 80, 209, 544), (5, 242, 1042, 2882)]


def layout(tonari, *arguments):
    done = tonari("layout", *arguments, "--json")
    assert done.stderr == ""
    (row,) = json.loads(printed(done))
    return row


def needed(neighbor, region):
    return all(v in ("0", r) for v, r in zip(neighbor, region, strict=True))


def count_messages(order):
    """To every neighbor one for each place where what it needs begins."""
    directions = ["".join(signs) for signs in product("-0+", repeat=len(order[0]))]
    return sum(
        needed(neighbor, region) and (i == 0 or not needed(neighbor, order[i - 1]))
        for neighbor in directions
        if neighbor.strip("0")
        for i, region in enumerate(order)
    )


@pytest.mark.parametrize("search", [[], ["--search", "20"]])
@pytest.mark.parametrize(("dims", "neighbors", "bound", "basic"), TABLE_1)
def test_orders_reach_the_bound(tonari, dims, neighbors, bound, basic, search):
    row = layout(tonari, str(dims), *search)
    assert list(row) == FIELDS
    expected = (dims, neighbors, bound, basic)
    assert (row["dims"], row["neighbors"], row["bound"], row["basic"]) == expected
    assert row["messages"] == bound == count_messages(row["order"])
    regions = {"".join(s) for s in product("-0+", repeat=dims) if set(s) != {"0"}}
    assert sorted(row["order"]) == sorted(regions)


def test_the_order_is_listed_and_drawn(tonari):
    text = printed(tonari("layout", "2"))
    order = layout(tonari, "2")["order"]
    assert text.split()[-8:] == order
    drawn = " ".join(text.splitlines()[-6:-3]).split()
    places = dict(zip("-+ 0+ ++ -0 00 +0 -- 0- +-".split(), drawn, strict=True))
    assert places.pop("00") == "·"
    assert {int(place): sign for sign, place in places.items()} == dict(enumerate(order))


@pytest.mark.parametrize("dims", ["1", "2", "3", "4", "5"])
def test_neighbors_are_summed_up(tonari, dims):
    lines = fits(printed(tonari("layout", dims)))
    rows = [line.replace(",", "").split() for line in lines if line[2:7] in ("sign ", "signs")]
    assert len(rows) == int(dims)
    _, neighbors, bound, _ = TABLE_1[int(dims) - 1]
    assert sum(int(row[2]) for row in rows) == neighbors
    assert sum(int(row[-1]) for row in rows) == bound


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["0"], 1, "a grid has 1 to 5 dimensions, not 0"),
        (["6"], 1, "a grid has 1 to 5 dimensions, not 6"),
        (["6", "--search", "1", "--json"], 1, "a grid has 1 to 5 dimensions, not 6"),
        (["three"], 2, "integer"),
        ([], 2, "Missing argument"),
        (["3", "--search", "-1"], 2, "--search"),
    ],
)
def test_errors_are_one_sentence(tonari, arguments, status, sentence):
    refused(tonari("layout", *arguments), sentence, status)


def test_help_has_an_example(tonari):
    assert "Example:  tonari layout 3" in tonari("layout", "--help").stdout


def test_runs_are_the_messages_to_a_neighbor():
    from _tonari_core import surface_order

    from tonari import Error

    order = surface_order(3)
    for neighbor in ("+00", "0-+", "---"):
        runs = order.runs(neighbor)
        sent = [place for first, count in runs for place in range(first, first + count)]
        assert sent == [i for i, region in enumerate(order.texts) if needed(neighbor, region)]
    for wrong in ("+0", "000", "+0x", ""):
        with pytest.raises(Error):
            order.runs(wrong)
