# SPDX-License-Identifier: BSD-3-Clause
"""tonari share: counts against counts by hand and the numbers in the data's README, partitions,
what is wrong with files, the readable form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import fits, printed, refused, words
from tonari.communication import (
    Communication,
    column_parallel,
    read_communication,
    read_matrix,
    read_product,
)
from tonari.graph_files import Matrix
from tonari.sharing_front import SETTINGS, Limit

from tonari import Error

FIELDS = "scheme avg_messages max_messages max_recv words max_words stages delivered".split()
DATA = Path(__file__).resolve().parents[1] / "data"
HEADER = "%%MatrixMarket matrix coordinate {} {}\n"
REAL = HEADER.format("real", "general")


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def market(size, entries, field="integer", symmetry="general"):
    lines = "".join(
        " ".join(map(str, (row + 1, column + 1, *value))) + "\n" for row, column, *value in entries
    )
    return HEADER.format(field, symmetry) + f"{size} {size} {len(entries)}\n" + lines


def pattern(ranks, seed, hubs=2):
    """Everybody writes to a few, hubs to nearly all: {(from, to): words}."""
    random = np.random.default_rng(seed)
    found = {}
    for a in range(ranks):
        for b in random.choice(ranks, size=ranks - 2 if a < hubs else 5, replace=False):
            if a != b:
                found[a, int(b)] = int(random.integers(1, 30))
    return found


def communication(file, ranks, seed):
    """The path of a matrix that is such a pattern."""
    return file("c.mtx", market(ranks, [(*pair, w) for pair, w in pattern(ranks, seed).items()]))


def share(tonari, *arguments):
    done = tonari("share", *words(*arguments), "--json")
    assert done.stderr == ""
    return json.loads(printed(done))


def as_dict(c: Communication):
    return {(int(a), int(b)): int(w) for a, b, w in zip(c.senders, c.receivers, c.words)}


# Counts


def test_direct_is_the_pattern_and_others_relieve_the_busiest(tonari, file):
    flows = pattern(40, 3)
    path = file("c.mtx", market(40, [(a, b, w) for (a, b), w in flows.items()] + [(7, 7, 100)]))
    rows = share(tonari, path, "--communication")
    assert all(set(FIELDS) <= set(row) for row in rows)
    assert [row["delivered"] for row in rows] == [1] * len(rows)
    by = {row["scheme"]: row for row in rows if not row["variant"]}
    stages = {f"store-and-forward/{n}": n for n in range(2, 6)}
    assert list(by) == ["direct", *stages, "sharing-1", "sharing-2", "balanced"]
    direct = by["direct"]
    sent, received = (np.bincount([pair[k] for pair in flows], minlength=40) for k in (0, 1))
    assert direct["avg_messages"] == pytest.approx(sent.mean())
    expected = (sent.max(), received.max(), 1)
    assert (direct["max_messages"], direct["max_recv"], direct["stages"]) == expected
    assert (direct["words"], direct["max_words"], direct["overhead_messages"]) == (1, 1, 0)
    assert {name: by[name]["stages"] for name in stages} == stages
    most = {name: row["max_messages"] for name, row in by.items()}
    assert most["store-and-forward/5"] < most["store-and-forward/2"] < most["direct"]
    assert most["sharing-2"] < most["sharing-1"] < most["direct"]
    assert most["balanced"] < most["direct"] / 2
    assert all(row["words"] > 1 for row in by.values() if row is not direct)
    assert all(row["predicted_us"] > 0 for row in rows)


def test_balanced_keeps_its_limit_of_words(tonari, file):
    path = communication(file, 48, 5)
    rows = share(tonari, path, "--communication", "--schemes", "balanced")
    assert {row["scheme"] for row in rows} == {"balanced"}
    limited = [row for row in rows if row["variant"].startswith("words<=")]
    assert len(limited) >= 3
    for row in limited:
        assert 1 <= row["words"] <= float(row["variant"].removeprefix("words<="))
    assert rows[-1]["variant"] == ""


def test_the_front_dominates_or_says_none(tonari, file):
    """Settings are what the comparison says they are, for a pattern with hubs; the readable form
    fits the terminal."""
    path = communication(file, 48, 5)
    rows = share(tonari, f"{path} --communication --schemes direct,forward-2,sharing-2 --front")
    schemes = [row for row in rows if row["scheme"] != "balanced"]
    settings = [row for row in rows if row["scheme"] == "balanced"]
    names = ["direct", "store-and-forward/2", "sharing-2"]
    assert [row["scheme"] for row in schemes] == names
    points = [*SETTINGS, *(Limit(words) for words in sorted(row["words"] for row in schemes[1:]))]
    assert [row["variant"] for row in settings] == [str(point) for point in points]
    assert all(row["delivered"] == 1 and row["planning_ms"] > 0 for row in rows)
    done = tonari(f"share {path} --communication --schemes {','.join(names)} --front")
    lines = [line.split() for line in done.stdout.splitlines()]
    lines = [line for line in lines if len(line) == 9]
    short = {setting.short(): row for setting, row in zip(points, settings)}
    for scheme in schemes[1:]:
        (shown,) = (line for line in lines if line[0] == scheme["scheme"] and line[5] in short)
        few_messages, few_words = short[shown[5]], short[shown[8]]
        within = [row["max_messages"] for row in settings if row["words"] <= scheme["words"]]
        assert few_messages["max_messages"] == min(within) == int(shown[3])
        assert min(within) <= scheme["max_messages"], "never behind"
        as_few = [row for row in settings if row["max_messages"] <= scheme["max_messages"]]
        assert few_words["words"] == min(row["words"] for row in as_few)
        assert few_words in as_few
    assert fits(done.stdout.replace(path, "c.mtx"))


def test_a_product_by_columns_equals_a_count_by_hand():
    random = np.random.default_rng(4)
    cells = random.random((30, 30)) < 0.2
    owners = random.integers(0, 6, 30)
    owners[0] = 5
    expected = {}
    for i in range(30):
        for rank in {int(owners[j]) for j in range(30) if cells[i, j]} - {int(owners[i])}:
            key = (rank, int(owners[i]))
            expected[key] = expected.get(key, 0) + 1
    rows, columns = np.nonzero(cells)
    senders, receivers, words = column_parallel(Matrix((30, 30), rows, columns, None), owners)
    assert {(int(a), int(b)): int(w) for a, b, w in zip(senders, receivers, words)} == expected


def test_partition_from_a_file(tonari, file):
    # y_0 needs columns 0 to 3, y_2 needs column 0: rank 1 sends two words' worth as one, rank 0
    # one.
    path = file("m.mtx", market(4, [(0, 0), (0, 1), (0, 2), (0, 3), (2, 0)], field="pattern"))
    parts = file("m.part", "0\n0\n1\n1\n")
    assert as_dict(read_product(path, None, parts)) == {(1, 0): 1, (0, 1): 1}
    assert as_dict(read_product(path, 3, parts)) == as_dict(read_product(path, 2, parts))
    assert read_product(path, 3, parts).ranks == 3
    (direct,) = share(tonari, path, "--partition", parts, "--schemes", "direct")
    assert (direct["avg_messages"], direct["max_messages"], direct["ranks"]) == (1, 1, 2)


def test_fields_symmetries_and_packing_are_read(file):
    full = [(1, 0), (0, 1), (2, 1), (1, 2)]
    forms = {
        "general": market(3, [(a, b, 2) for a, b in full]),
        "symmetric": market(3, [(1, 0, 2.0), (2, 1, "2e0")], "real", "symmetric"),
        "pattern": market(3, [(1, 0), (2, 1)], "pattern", "symmetric"),
        "skew": market(3, [(1, 0, -2), (2, 1, 2)], "integer", "skew-symmetric"),
    }
    for name, text in forms.items():
        packed = file(f"{name}.mtx.gz", gzip.compress(text.encode()))
        for path in (file(f"{name}.mtx", text), packed):
            matrix = read_matrix(path)
            assert sorted(zip(matrix.rows.tolist(), matrix.columns.tolist())) == sorted(full)
    assert as_dict(read_communication(file("c.mtx", forms["pattern"]))) == dict.fromkeys(full, 1)
    graph = read_matrix(file("g.graph", "3 2\n2\n1 3\n2\n"))
    assert sorted(zip(graph.rows.tolist(), graph.columns.tolist())) == sorted(full)


@pytest.mark.parametrize("entries", [[], [(0, 0, 5)]])
def test_nothing_to_send(tonari, file, entries):
    rows = share(tonari, file("c.mtx", market(3, entries)), "--communication")
    assert {(row["max_messages"], row["words"], row["delivered"]) for row in rows} == {(0, 1, 1)}


def test_a_partitioner_keeps_neighbors_together(file):
    pytest.importorskip("mtkahypar")
    side = 24
    cell = np.arange(side * side).reshape(side, side)
    edges = [*zip(cell[1:].flat, cell[:-1].flat), *zip(cell[:, 1:].flat, cell[:, :-1].flat)]
    path = file("grid.mtx", market(side * side, edges, "pattern", "symmetric"))
    pattern = read_product(path, 4)
    assert pattern.ranks == 4
    assert 2 * side <= pattern.words.sum() <= 6 * side  # four squares: about 4 sides
    assert read_product(path, 1).words.sum() == 0
    for parts in (4, 144):  # both ways of asking for them
        assert as_dict(read_product(path, parts)) == as_dict(read_product(path, parts))


@pytest.mark.parametrize(
    ("name", "average", "most"), [("sparsine", 65.3, 183), ("fe_pwt", 6.2, 12)]
)
def test_numbers_of_the_data_set(tonari, name, average, most):
    path = DATA / f"comm512/{name}.mtx.gz"
    rows = share(tonari, f"{path} --communication --schemes direct,sharing-1,sharing-2")
    by = {row["scheme"]: row for row in rows if not row["variant"]}
    assert round(by["direct"]["avg_messages"], 1) == average
    assert by["direct"]["max_messages"] == most
    assert by["sharing-2"]["max_messages"] < by["sharing-1"]["max_messages"] < most
    assert {row["delivered"] for row in rows} == {1}


# Errors

GOOD = market(4, [(0, 1, 2), (1, 2, 3), (3, 0, 1)])
OUTSIDE = "there is no such row or column"


def expect_refusal(path, read):
    """The sentence, which begins with the path."""
    with pytest.raises(Error) as error:
        read()
    assert str(error.value).startswith(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            market(3, [(0, 1, 1, 0)], "complex"),
            "line 1: complex matrices are not taken here; expected real, integer or pattern",
        ),
        (REAL + "3 4 1\n1 2 1\n", "is a matrix of 3 x 4; expected a square one"),
        (REAL + "0 0 0\n", "without rows"),
        (market(3, [(0, 1, "nan")], "real"), "line 3: an entry must be finite"),
        (REAL + "3 3 2\n1 2 1\n", "should have 2 entries by its size, but has 1"),
        (REAL + "3 3 1\n1 2 1\n2 3 1\n", "should have 1 entries by its size, but has 2"),
        (REAL + "3 3 2\n1 2 1\n2 3 2e", "line 4: '2e' is no number"),
        (market(3, [(0, 1, 1), (3, 1, 1)]), f"line 4: {OUTSIDE} in a matrix of 3 x 3"),
        (market(3, [(-1, 1, 1)]), f"line 3: {OUTSIDE}"),
        ("3 3 1\n1 2 1\n", "line 1: a Matrix Market file begins with"),
        ("", "line 1: a Matrix Market file begins with"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-12], "it is no whole gzip file"),
    ],
)
def test_what_is_wrong_with_a_matrix_is_told(file, text, sentence):
    path = file("m.mtx", text)
    assert sentence in expect_refusal(path, lambda: read_matrix(path))


@pytest.mark.parametrize("value", ["-3", "1.5", "1e17"])
def test_words_are_whole_numbers(file, value):
    path = file("m.mtx", market(3, [(0, 1, 1), (1, 2, value)], "real"))
    sentence = "line 4: an entry is a number of words, whole and from 0 to 2^53, not "
    assert sentence in expect_refusal(path, lambda: read_communication(path))


@pytest.mark.parametrize(
    ("text", "parts", "sentence"),
    [
        ("0\n1\n1\n", None, "has 3 part numbers, but the matrix has 4 columns"),
        ("0\n1\n1\n0\n0\n", None, "has 5 part numbers, but the matrix has 4 columns"),
        ("0\n1\n2\n0\n", 2, "line 3: part 2 is none of 0 to 1"),
        ("0\n-1\n2\n0\n", None, "line 2: part -1 is none of 0 to"),
        ("0\n\n1\nx\n0\n", None, "line 4: 'x' is no whole number"),
        ("0 1 1 0\n", None, "line 1: a line is one part number, not 4"),
        ("0\n1\n6\n0\n", None, "names 7 parts"),
        ("", None, "has 0 part numbers"),
    ],
)
def test_what_is_wrong_with_a_partition_is_told(file, text, parts, sentence):
    path, matrix = file("m.part", text), file("m.mtx", GOOD)
    assert sentence in expect_refusal(path, lambda: read_product(matrix, parts, path))


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ("", 1, "say how many ranks there are: --parts P"),
        ("--parts 5", 1, "has 4 columns, which are too few for --parts 5"),
        ("--parts 0", 2, "--parts"),
        (
            "--communication --parts 3",
            1,
            "is a communication matrix of 4 ranks; --parts 3 does not go with it",
        ),
        ("--communication --partition x", 2, "--partition"),
        (
            "--communication --schemes best",
            1,
            "there is no scheme 'best' here; choose from direct, store-and-forward/2, sharing-1",
        ),
        ("--communication --plot x.txt", 1, "x.txt is none of them"),
        ("--partition /nowhere/m.part", 1, "/nowhere/m.part cannot be read: no such file"),
    ],
)
def test_errors_are_one_sentence(tonari, file, arguments, status, sentence):
    refused(tonari(f"share {file('m.mtx', GOOD)} {arguments}"), sentence, status)


def test_a_partitioner_that_is_missing_is_named(file, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mtkahypar", None)
    with pytest.raises(Error, match="pip install mtkahypar.*--partition FILE"):
        read_product(file("m.mtx", GOOD), 2)


# The readable form


def test_a_table_a_plot_and_a_file(tonari, file, tmp_path):
    path = communication(file, 40, 3)
    plot, out = tmp_path / "messages.svg", tmp_path / "rows.json"
    text = printed(tonari(f"share {path} --communication --plot {plot} --output {out}"))
    assert fits(text.replace(path, "c.mtx"))
    assert "…" not in text and "All blocks are delivered by every scheme." in text
    rows = json.loads(out.read_text())
    lines = [line.split() for line in text.splitlines()]
    for name in ("direct", "sharing-2"):
        (row,) = (row for row in rows if row["scheme"] == name)
        (words,) = (line for line in lines if line[:1] == [name])
        assert words[2:4] == [str(row["max_messages"]), str(row["max_recv"])]
    drawn, words = plot.read_text(), ("messages sent", "messages received", "direct", "sharing-2")
    assert all(f"<!-- {text} -->" in drawn for text in (*words, "balanced"))


def test_help_has_an_example(tonari):
    assert "Example:  tonari share matrix.mtx.gz --parts 512" in tonari("share", "--help").stdout
