"""tonari layout: the numbers of the paper's Table 1, orders counted anew from their text, the
readable form, errors."""

from __future__ import annotations

import json
from itertools import product

import pytest
from command_line import refused

FIELDS = [
    "dims",
    "messages",
    "basic",
    "neighbors",
    "neighbours",  # its earlier name
    "bound",
    "order",
]
TABLE_1 = [
    (1, 2, 2, 2),
    (2, 8, 9, 16),
    (3, 26, 42, 98),
    (4, 80, 209, 544),
    (5, 242, 1042, 2882),
]  # dimensions, neighbors, Eq. 1, basic


def layout(tonari, *arguments):
    done = tonari("layout", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (row,) = json.loads(done.stdout)
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
    assert sorted(row["order"]) == sorted(
        "".join(s) for s in product("-0+", repeat=dims) if set(s) != {"0"}
    )


def test_the_order_is_listed_and_drawn(tonari):
    done = tonari("layout", "2")
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    order = layout(tonari, "2")["order"]
    assert words[-8:] == order
    upper, middle, lower = (line.split() for line in done.stdout.splitlines()[-6:-3])
    places = {
        sign: place
        for signs, row in (("-+ 0+ ++", upper), ("-0 00 +0", middle), ("-- 0- +-", lower))
        for sign, place in zip(signs.split(), row)
    }
    assert places.pop("00") == "·"
    assert {sign: int(place) for sign, place in places.items()} == {
        sign: i for i, sign in enumerate(order)
    }


@pytest.mark.parametrize("dims", ["1", "2", "3", "4", "5"])
def test_neighbors_are_summed_up(tonari, dims):
    done = tonari("layout", dims)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    rows = [
        line.replace(",", "").split()
        for line in done.stdout.splitlines()
        if line[2:7] == "sign " or line[2:7] == "signs"
    ]
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
        sent = [
            place for first, count in order.runs(neighbor) for place in range(first, first + count)
        ]
        assert sent == [i for i, region in enumerate(order.texts) if needed(neighbor, region)]
    for wrong in ("+0", "000", "+0x", ""):
        with pytest.raises(Error):
            order.runs(wrong)
