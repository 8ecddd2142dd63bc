# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan --graph: what is read from files of each kind, what is counted, what is chosen, and
what mistakes are told."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from command_line import fits, printed, refused

from tonari import Error
from tonari.graphs import read_graph

FIELDS = set(
    """
    algorithm variant rounds messages volume_blocks bytes predicted_us crossover_bytes max_messages
    max_recv total_messages stages colors bound chosen proof
""".split()
)
COORDINATE = "%%MatrixMarket matrix coordinate"
KINDS = ("integer", "pattern", "real")
INTEGERS, PATTERN, REALS = (f"{COORDINATE} {kind} general\n" for kind in KINDS)
SYMMETRIC, ARRAY = f"{COORDINATE} real symmetric\n", "%%MatrixMarket matrix array real general\n"
OUTSIDE, NO_HEADER = "there is no such row or column", "a Matrix Market file begins with"
DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def file(tmp_path):
    """file("pairs.txt", "0 1\n") -> the path of a new file; gzipped if the name says so."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return str(path)

    return write


def edges(graph):
    return list(zip(graph.senders.tolist(), graph.receivers.tolist(), strict=True))


def edge_list(pairs):
    return "".join(f"{a} {b}\n" for a, b in pairs)


def random_pairs(ranks, degree, seed):
    """`degree` targets for every rank; repeats and the rank itself among them."""
    random = np.random.default_rng(seed)
    targets = random.integers(ranks, size=ranks * degree).tolist()
    return list(zip(np.repeat(np.arange(ranks), degree).tolist(), targets, strict=True))


# Readers


@pytest.mark.parametrize("name", ["pairs.txt", "pairs.txt.gz", "pairs"])
def test_an_edge_list(file, name):
    graph = read_graph(file(name, "# ranks\n% more\n\n0 1\n 2\t0  # last\n0 1\r\n1 1"))
    assert graph.ranks == 3
    assert edges(graph) == [(0, 1), (2, 0), (0, 1), (1, 1)]
    assert graph.weights is None


def test_an_edge_list_with_weights_and_more_ranks_than_edges_name(file):
    graph = read_graph(file("pairs.txt", "0 1 80\n1 0 0\n"), 5)
    assert graph.ranks == 5
    assert graph.weights.tolist() == [80, 0]


def test_an_edge_list_is_partitioned_along_its_edges(file):
    """Seven vertices to three ranks: 0-2, 3-4, 5-6."""
    graph = read_graph(file("pairs.txt", "0 3 1\n2 4 2\n0 1 4\n6 2 8\n3 6 16\n"), 3)
    assert edges(graph) == [(0, 1), (1, 2), (2, 0)]
    assert graph.weights.tolist() == [3, 16, 8]


def test_a_metis_graph(file):
    text = "% a path and a lone vertex\n4 2\n2\n% between\n1 3\n2\n\n"
    graph = read_graph(file("mesh.graph", text))
    assert graph.ranks == 4
    assert edges(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.weights is None


def test_the_weights_of_a_metis_graph(file):
    """fmt 111, two weights per vertex: size, weights, then neighbors with weights."""
    graph = read_graph(file("mesh.graph.gz", "3 2 111 2\n9 1 1 2 5\n9 1 1 1 5 3 7\n9 1 1 2 7\n"))
    assert edges(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.weights.tolist() == [5, 5, 7, 7]


def test_a_communication_matrix(file):
    """Entry (i, j): rank i sends to rank j. A stored zero sends nothing."""
    text = INTEGERS + "% words\n3 3 4\n1 2 5\n3 1 7\n2 2 1\n1 3 0\n"
    for name in ("words.mtx", "words.mtx.gz", "words"):
        graph = read_graph(file(name, text))
        assert edges(graph) == [(0, 1), (1, 1), (2, 0)]
        assert graph.weights.tolist() == [5, 1, 7]
    assert edges(read_graph(file("words.mtx", text), 3)) == edges(graph)


def test_a_symmetric_matrix_is_expanded_and_a_dense_one_read(file):
    def matrix(text):
        return read_graph(file("a.mtx", f"%%MatrixMarket matrix {text}"))

    symmetric = matrix("coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n")
    assert edges(symmetric) == [(0, 1), (1, 0), (2, 2)]
    assert edges(matrix("array real general\n2 2\n0\n0\n1.5\n0\n")) == [(0, 1)]
    skew = matrix("array real skew-symmetric\n3 3\n-1\n0\n2e1\n")
    assert edges(skew) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert skew.weights.tolist() == [1, 1, 20, 20]
    hermitian = matrix("coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 3 4\n")
    assert hermitian.weights.tolist() == [4, 5, 5]
    doubled = matrix("coordinate integer general\n2 2 2\n1 2 3\n1 2 4\n")
    assert doubled.weights.tolist() == [7]


def test_rows_of_a_matrix_are_partitioned(file):
    """Rows 0, 1 | 2, 3 | 4. Row 0 needs columns 2 and 3 of rank 1, row 1 needs 2 again, row 4 needs
    0; row 2 has only its own."""
    text = PATTERN + "5 5 6\n1 3\n1 4\n2 3\n5 1\n3 4\n5 5\n"
    graph = read_graph(file("a.mtx", text), 3)
    assert edges(graph) == [(0, 2), (1, 0)]
    assert graph.weights.tolist() == [8, 16]


def test_a_matrix_by_rows_equals_a_count_by_hand(file):
    """Whoever has a row needs every column with a nonzero in it, once; blocks differ by at most one
    row, longer ones first."""
    random = np.random.default_rng(3)
    n, ranks = 101, 7
    entries = {(int(i), int(j)) for i, j in random.integers(n, size=(600, 2))}
    text = PATTERN + f"{n} {n} {len(entries)}\n" + "".join(f"{i + 1} {j + 1}\n" for i, j in entries)
    owner = {int(i): r for r, rows in enumerate(np.array_split(np.arange(n), ranks)) for i in rows}
    words = Counter((owner[j], r) for r, j in {(owner[i], j) for i, j in entries} if owner[j] != r)
    graph = read_graph(file("a.mtx", text), ranks)
    counted = {pair: 8 * count for pair, count in words.items()}
    assert dict(zip(edges(graph), graph.weights.tolist(), strict=True)) == counted


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.txt", "0 1\n0 x\n", "line 2: 'x' is no whole number"),
        ("p.txt", "# c\n\n0 1.5\n", "line 3: '1.5' is no whole number"),
        ("p.txt", "0 1\n0\n", "line 2: an edge is two numbers"),
        ("p.txt", "0 1 2 3\n", "line 1: an edge is two numbers"),
        ("p.txt", "0 1\n1 0 8\n", "line 2: an edge is two numbers"),
        ("p.txt", "0 1\n\n-1 0\n", "line 3: a rank must not be negative"),
        ("p.txt", "0 1 -8\n", "line 1: a weight must not be negative"),
        ("p.txt", "0 99999999999999999999\n", "line 1: '99999999999999999999' is no whole number"),
        ("p.txt", "0 5000000\n", "5,000,001 ranks; 1,000,000 are the most"),
        ("p.txt", "# nothing\n", "has no edges"),
        ("p.txt.gz", "", "has no edges"),
        ("m.graph", "", "is empty"),
        ("m.graph", "x 2\n", "line 1: a METIS graph begins with the numbers of vertices and edges"),
        ("m.graph", "2 1 2\n2\n1\n", "line 1: fmt must be three digits 0 or 1, not 2"),
        ("m.graph", "3 1\n2\n1\n", "ends after 2 of the 3 vertices"),
        ("m.graph", "2 1\n2\n1\n1\n", "line 4: there is more than the 2 vertices"),
        ("m.graph", "2 2\n2\n1\n", "names 2 edges in its first line, but lists 1"),
        ("m.graph", "% c\n2 1\n3\n1\n", "line 3: neighbor 3 is none of the vertices 1 to 2"),
        ("m.graph", "2 1\n0\n1\n", "line 2: neighbor 0 is none of the vertices"),
        ("m.graph", "2 1\n2\n\n", "line 2: vertex 1 names neighbor 2, which does not name it"),
        ("m.graph", "2 1\n1\n\n", "line 2: vertex 1 is its own neighbor"),
        ("m.graph", "2 2\n2 2\n1 1\n", "line 2: vertex 1 names neighbor 2 twice"),
        ("m.graph", "2 1\n2\nx\n", "line 3: 'x' is no whole number"),
        ("m.graph", "2 1 1\n2 5\n1\n", "line 3: a vertex has pairs of a neighbor and a weight"),
        ("m.graph", "2 1 1\n2 5\n1 6\n", "is not the one that"),
        ("m.graph", "2 1 1\n2 0\n1 0\n", "line 2: the weight of the edge to 2 must be positive"),
        ("m.graph", "2 1 10\n-1 2\n1 1\n", "line 2: a vertex weight must not be negative"),
        ("a.mtx", INTEGERS + "3 3 2\n1 2 5\n4 1 5\n", f"line 4: {OUTSIDE} in a matrix of 3 x 3"),
        ("a.mtx", INTEGERS + "3 3 2\n1 2 5\n", "should have 2 entries by its size, but has 1"),
        ("a.mtx", INTEGERS + "3 3 1\n1 2 y\n", "line 3: 'y' is no number"),
        ("a.mtx", INTEGERS + "2 3 1\n1 2 5\n", "a matrix must be square"),
        ("a.mtx", INTEGERS + "9000000000 9000000000 1\n1 2 5\n", "too much for this command"),
        ("a.mtx", INTEGERS + "0 0 0\n", "no ranks"),
        ("a.mtx", INTEGERS + "% ä\n3 3 1\n1 2 5 6", "line 4: an entry is 3 numbers here, not 4"),
        ("a.mtx", INTEGERS + "3 3 1\n1 2 5\0\n", "line 3: "),
        ("a.mtx", f"{COORDINATE} integer\n3 3 1\n1 2 5\n", f"line 1: {NO_HEADER}"),
        (
            "a.mtx",
            f"{COORDINATE} int general\n3 3 1\n1 2 5\n",
            "line 1: 'int' should be one of real, ",
        ),
        ("a.mtx", REALS + "3 3\n1 2 5\n", "line 2: here should be rows, columns and entries"),
        ("a.mtx", REALS + "3 3 1\n1 2 nan\n", "line 3: an entry must be finite"),
        ("a.mtx", REALS + "3 3 1\n1 1.5 1\n", f"line 3: {OUTSIDE}"),
        ("a.mtx", SYMMETRIC + "3 2 1\n2 1 5\n", "a matrix of 3 x 2 is symmetric"),
        ("a.mtx", ARRAY + "20000 20000\n1\n", "should have 400,000,000 entries"),
        ("a.mtx", "3 3 1\n1 2 5\n", f"line 1: {NO_HEADER}"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(file, name, text, words):
    path = file(name, text)
    with pytest.raises(Error) as caught:
        read_graph(path)
    assert words.lower() in str(caught.value).lower()
    assert path in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_cannot_be_unpacked(tmp_path):
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(edge_list(random_pairs(50, 9, 1)).encode())[:200])
    noise = tmp_path / "noise.gz"
    noise.write_bytes(b"\x1f\x8b" + bytes(range(100)))
    nothing = tmp_path / "none.mtx"
    files = {
        cut: "no whole gzip file",
        noise: "gzip",
        nothing: "no such file",
        tmp_path: "directory",
    }
    for path, words in files.items():
        with pytest.raises(Error, match=words):
            read_graph(str(path))


@pytest.mark.parametrize("mistake", [["--ranks", "0"], ["--ranks", "4"]])
def test_ranks_that_do_not_go_with_the_matrix(tonari, file, mistake):
    path = file("a.mtx", PATTERN + "3 3 1\n1 2\n")
    done = tonari("plan", "--graph", path, *mistake)
    assert done.returncode != 0
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


# Rows


@pytest.mark.parametrize("op", ["alltoall", "allgather"])
def test_every_row_has_the_promised_fields_and_is_flat(rows, file, op):
    path = file("p.txt", edge_list(random_pairs(40, 5, 2)))
    found = rows(f"--graph {path} --op {op} --bytes 96 --node-ranks 4")
    assert "linear" in found
    for row in found.values():
        assert row.keys() >= FIELDS
        assert not any(isinstance(value, (list, dict)) for value in row.values())
        assert row["bytes"] == 96 * row["volume_blocks"]
        assert row["messages"] == row["max_messages"] <= row["total_messages"]
        assert row["predicted_us"] > 0
        assert row["proof"] == "proven"
        assert (row["ranks"], row["nodes"], row["edges"], row["op"]) == (40, 10, 200, op)
    by_time = sorted(found.values(), key=lambda row: row["predicted_us"])
    assert [row["chosen"] for row in by_time] == [True] + [False] * (len(found) - 1)


@pytest.mark.parametrize("op", ["alltoall", "allgather"])
def test_linear_is_what_the_edges_ask_for(rows, file, op):
    pairs = sorted(set(random_pairs(60, 7, 4)))
    path = file("p.txt", edge_list(pairs))
    row = rows(f"--graph {path} --op {op} --algorithm linear")["linear"]
    away = [(a, b) for a, b in pairs if a != b]
    sends, receives = Counter(a for a, _ in away), Counter(b for _, b in away)
    assert row["max_messages"] == max(sends.values())
    assert row["max_recv"] == max(receives.values())
    assert row["total_messages"] == len(away)
    assert row["volume_blocks"] == max(sends.values())
    assert row["rounds"] == max(row["max_messages"], row["max_recv"])
    assert row["crossover_bytes"] == 0


@pytest.mark.parametrize(("op", "blocks", "total"), [("alltoall", 4, 5), ("allgather", 2, 3)])
def test_repeated_edges_are_blocks_of_one_message(tonari, file, op, blocks, total):
    path = file("p.txt", "0 1\n0 2\n0 1\n0 1\n2 2\n1 0\n")
    plan = f"plan --graph {path} --op {op} --algorithm linear --variants --json"
    row = next(row for row in json.loads(printed(tonari(plan))) if row["variant"] == "")
    assert (row["max_messages"], row["max_recv"], row["total_messages"]) == (2, 1, 3)
    assert (row["volume_blocks"], row["total_blocks"]) == (blocks, total)


def test_colors_and_their_bound(rows, tonari, file):
    pairs = random_pairs(100, 8, 5)
    path = file("p.txt", edge_list(pairs))
    row = rows("--graph", path, "--algorithm", "coloring")["coloring"]
    distinct = {(a, b) for a, b in pairs if a != b}
    bound = max(max(Counter(pair[k] for pair in distinct).values()) for k in (0, 1))
    assert row["bound"] == bound
    assert bound <= row["colors"] <= 2 * bound - 1
    assert row["total_messages"] == len(distinct)
    assert f"Coloring: {row['colors']} colors" in tonari("plan", "--graph", path).stdout


def test_a_hot_spot_gets_a_tree_for_small_blocks_only(rows, file):
    path = file("hot.txt", edge_list((0, r) for r in range(1, 257)))
    small, large = (rows("--graph", path, "--bytes", size) for size in ("8", "1000000"))
    assert small["tree"]["chosen"]
    assert small["tree"]["max_messages"] < 256 == small["linear"]["max_messages"]
    assert not any(row["chosen"] for name, row in large.items() if name == "tree")
    least = min(row["predicted_us"] for row in large.values())
    assert large["linear"]["predicted_us"] <= least * 1.001
    assert 8 < small["tree"]["crossover_bytes"] < 1000000


def test_nodes_save_messages(rows, file):
    """All of 16 ranks send to all others, from 4 nodes of 4: 240 messages straight."""
    path = file("p.txt", edge_list((a, b) for a in range(16) for b in range(16) if a != b))
    found = rows("--graph", path, "--node-ranks", "4")
    assert found["linear"]["nodes"] == 4
    assert found["node-aware"]["total_messages"] < found["linear"]["total_messages"] == 240
    assert "node-aware" not in rows("--graph", path)


def test_variants_are_shown_on_request(tonari, file):
    path = file("p.txt", edge_list(random_pairs(30, 6, 1)))
    best, all_of_them = (
        [(row["algorithm"], row["predicted_us"]) for row in json.loads(printed(tonari(plan)))]
        for plan in (f"plan --graph {path} --json", f"plan --graph {path} --json --variants")
    )
    assert len(dict(best)) == len(best) <= len(all_of_them)
    fastest = dict(sorted(all_of_them, key=lambda row: row[1], reverse=True))
    assert dict(best) == fastest


def test_a_machine_file_changes_the_prediction(rows, file):
    import _tonari_core

    machine = _tonari_core.LogGP()
    machine.L = 1e-3
    path, slow = file("p.txt", "0 1\n"), file("machine.txt", machine.to_text())
    slowly, usually = rows("--graph", path, "--machine", slow), rows("--graph", path)
    assert slowly["linear"]["predicted_us"] > 1000 > usually["linear"]["predicted_us"]


def test_a_graph_without_edges(tonari, rows, file):
    path = file("none.txt", "# nobody\n")
    assert rows("--graph", path, "--ranks", "3")["linear"]["total_messages"] == 0
    assert "nothing to send" in tonari("plan", "--graph", path, "--ranks", "3").stdout


def test_twenty_thousand_ranks_are_priced(rows, file):
    n = 20_000
    pairs = ((a, (a + 7 * k * k) % n) for a in range(n) for k in range(1, 21))
    path = file("large.txt.gz", edge_list(pairs))
    row = rows("--graph", path, "--algorithm", "linear")["linear"]
    assert row["proof"] == "too large to prove"
    assert row["crossover_bytes"] == 0
    assert (row["max_messages"], row["total_messages"]) == (20, 400_000)


def test_a_matrix_of_the_papers(rows):
    """sparsine: 65.3 messages on average, 183 at most (512 ranks)."""
    found = rows("--graph", str(DATA / "comm512/sparsine.mtx.gz"), "--algorithm", "linear")
    row = found["linear"]
    assert (row["ranks"], row["total_messages"], row["max_messages"]) == (512, 33410, 183)


def test_large_files_are_read(file):
    rows, columns = 152, 240
    grid = np.pad(np.arange(1, rows * columns + 1).reshape(rows, columns), 1)
    beside = np.stack([grid[:-2, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:], grid[2:, 1:-1]], axis=2)
    lists = [" ".join(str(v) for v in near if v) for near in beside.reshape(-1, 4)]
    edges = rows * (columns - 1) + (rows - 1) * columns
    mesh = read_graph(file("mesh.graph.gz", "\n".join([f"{len(lists)} {edges}", *lists, ""])))
    assert (mesh.ranks, len(mesh.senders)) == (len(lists), 2 * edges)
    partitioned = read_graph(str(DATA / "comm512/sparsine.mtx.gz"), 64)
    assert partitioned.ranks == 64 and not (partitioned.senders == partitioned.receivers).any()


# For people


def test_the_readable_form(tonari, file):
    path = file("p.txt", "0 1 8\n0 2 8\n0 1 16\n1 1 8\n4 0 8\n")
    text = printed(tonari("plan", "--graph", path))
    assert "5 on 5 nodes" in text
    assert "5; 1 from a rank to itself; 1 repeated; 1 ranks isolated" in text
    for words in ("0 to 2 other ranks", "It would choose", "linear: proven", "on rank 0"):
        assert words in text
    assert "recv from 4" in text and fits(text)


def test_larger_graphs_are_drawn_on_request(tonari, file):
    path = file("p.txt", edge_list(random_pairs(40, 5, 2)))
    assert "round 1" not in tonari("plan", "--graph", path).stdout
    drawn = tonari(f"plan --graph {path} --rank 39 --algorithm linear --full").stdout
    assert "linear on rank 39" in drawn and "send to   " in drawn and fits(drawn)


def test_large_graphs_are_proven_on_request(tonari, file):
    path = file("p.txt", edge_list((a, (a + k) % 2500) for a in range(2500) for k in (1, 7)))
    plan = f"plan --graph {path} --algorithm linear"
    assert "linear: too large to prove" in tonari(plan).stdout
    assert "linear: proven" in tonari(f"{plan} --prove").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--graph {p} --algorithm torus", "no algorithm 'torus' for graphs; choose one of linear"),
        (
            "--graph {p} --algorithm store-and-forward",
            "store-and-forward cannot be used here: fewer than 4",
        ),
        ("--graph {p} --rank 9", "no rank 9"),
        ("--graph {p} --dims 3x3", "not with --graph"),
        ("--graph {p} --bytes 9223372036854775807", "bytes"),
        ("moore:2:1 --graph {p}", "either a pattern or --graph"),
        ("moore:2:1 --ranks 4", "go with --graph"),
        ("--graph {p} --machine {p}", "{p}"),
        ("", "either a pattern or --graph"),
    ],
)
def test_mistakes_get_one_sentence(tonari, file, arguments, words):
    path = file("p.txt", "0 1\n0 1\n0 1\n")
    refused(tonari(f"plan {arguments.format(p=path)}"), words.format(p=path))


def test_an_algorithm_that_is_named_is_planned_where_it_does_not_pay(tonari, file):
    path = file("star.txt", edge_list((0, r) for r in range(1, 16)))
    plan = f"plan --graph {path} --bytes 1MiB"
    assert "not here: tree" in printed(tonari(plan))
    forced = printed(tonari(f"{plan} --algorithm tree"))
    assert "not expected to pay: tree: blocks are so large" in forced
    (row,) = json.loads(tonari(f"{plan} --algorithm tree --json").stdout)
    assert row["max_messages"] < 15 and row["stages"] > 1 and row["proof"] == "proven"


def test_weights_are_the_sizes_of_blocks(tonari, file):
    edges = [(0, r, 1) for r in range(1, 15)] + [(0, 15, 10**6)]
    path = file("star.txt", "".join(f"{a} {b} {w}\n" for a, b, w in edges))
    plan = f"plan --graph {path} --bytes 8 --json --algorithm linear"
    (plain,), (weighted,) = (
        json.loads(tonari(command).stdout) for command in (plan, f"{plan} --weights")
    )
    assert plain["bytes"] == 15 * 8
    assert weighted["bytes"] == 14 * 8 + 8 * 10**6
    assert weighted["predicted_us"] > 10 * plain["predicted_us"]
    assert weighted["crossover_bytes"] is None or weighted["crossover_bytes"] == 0
    assert "times --bytes is the size" in printed(tonari(f"plan --graph {path} --weights"))
    unweighted = file("plain.txt", "0 1\n1 0\n")
    refused(tonari(f"plan --graph {unweighted} --weights"), "--weights needs weights")
