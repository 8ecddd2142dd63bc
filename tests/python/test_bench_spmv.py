# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench spmv: rows of exchanges and products, predicted ones, tables and plot. No assertion
about time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import built
import numpy as np
import pytest
from command_line import PATIENCE, call, fits, printed, refused, shown, words
from tonari.benchmark import spmv_plot
from tonari.benchmark.launch import ANY_RANKS
from tonari.benchmark.spmv_matrix import MANY, made_up
from tonari.benchmark.spmv_summary import add_ratio_spread, complete, series, typical
from tonari.partitioned import equal_blocks, permuted, read, read_for_products, write
from tonari.views import bench_spmv as view

BUILT, needs_build, _ = built.marks("tonari_bench_spmv")
FIELDS = set(
    """
    kind candidate chosen ranks mpi mpi_version matrix dealt_out rows nonzeros words most_ghosts
    avg_targets most_targets messages bytes pingpong_us median_us q1_us q3_us min_us init_us rounds
    batch ratio_native ratio_best verified disturbed repeat ratio_spread predicted_us avg_messages
    words_of_direct stages machine
""".split()
)
PLAIN = ["irecv", "irecv-persistent", "native", "native-nonblocking", "native-persistent"]
SIZE = 60
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}
# MPICH's ranks take long to measure on more than the cores: for these there is a test of its own.
COUNTS = [("openmpi", (1, 3)), built.more("openmpi", (5,))]
COUNTS += [built.more("mpich", (1, 2)) if "openmpi" in BUILT else ("mpich", (1, 2))]


def run(*arguments: str, command: str = "bench spmv") -> subprocess.CompletedProcess[str]:
    return call(*command.split(), *words(*arguments), **YIELD)


def rows(*arguments: str) -> list[dict[str, Any]]:
    return json.loads(printed(run(*words(*arguments), *words("--rounds 2 --max-time 0.2 --json"))))


def program(mpi: str, ranks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    started = [BUILT[mpi]["mpiexec"], "-n", str(ranks)]
    job = [*started, str(Path(BUILT[mpi]["bin"]) / "tonari_bench_spmv"), *arguments]
    settings = os.environ | ANY_RANKS | YIELD
    return subprocess.run(job, capture_output=True, text=True, timeout=PATIENCE, env=settings)


@pytest.fixture
def matrix(tmp_path: Path) -> str:
    """Unsymmetric and with an empty row; rows 0 and 59 need nearly everything, and column 1 is
    needed by nearly all."""
    random = np.random.default_rng(6)
    places = {(0, j) for j in range(1, SIZE, 2)} | {(SIZE - 1, j) for j in range(0, SIZE, 3)}
    places |= {(i, 1) for i in range(0, SIZE, 2)}
    places |= {(int(a), int(b)) for a, b in random.integers(0, SIZE, (2 * SIZE, 2)) if a != 31}
    lines = "".join(f"{a + 1} {b + 1} {random.normal():.3f}\n" for a, b in sorted(places))
    path, header = tmp_path / "a.mtx", "%%MatrixMarket matrix coordinate real general\n"
    path.write_text(f"{header}{SIZE} {SIZE} {len(places)}\n{lines}")
    return str(path)


def needed(path: str, ranks: int) -> dict[tuple[int, int], set[int]]:
    """By owner and needing rank: entries of x, read from the file by hand, in equal blocks."""
    found: dict[tuple[int, int], set[int]] = {}
    owners = equal_blocks(SIZE, ranks)
    for line in Path(path).read_text().splitlines()[2:]:
        row, column = (int(word) - 1 for word in line.split()[:2])
        if owners[row] != owners[column]:
            found.setdefault((int(owners[column]), int(owners[row])), set()).add(column)
    return found


@pytest.mark.parametrize(("mpi", "counts"), COUNTS)
def test_every_candidate_delivers(mpi: str, counts: tuple[int, ...], matrix: str) -> None:
    if mpi not in BUILT:
        pytest.skip(f"there is no build with {mpi} (TONARI_BUILD)")
    ranks_of_rows = ",".join(map(str, counts))
    found = rows(
        f"{matrix} --blocks --ranks {ranks_of_rows} --mpi {mpi} --simulate 12 --tune model"
    )
    measured = [row for row in found if row["kind"] != "simulated"]
    for row in found:
        assert FIELDS == row.keys() and row["verified"] is True, row
        assert not any(isinstance(value, (dict, list)) for value in row.values())
    for row in measured:
        assert 0 < row["min_us"] <= row["q1_us"] <= row["median_us"] <= row["q3_us"]
    for ranks in counts:
        pairs = needed(matrix, ranks)
        for kind in ("forward", "fields", "reverse", "rows", "columns"):
            of_kind = [row for row in measured if (row["ranks"], row["kind"]) == (ranks, kind)]
            members = {row["candidate"]: row for row in of_kind}
            names = list(members)
            forward = ["vector/store-and-forward/2"] if ranks > 3 else []
            planned = ["vector/balanced", "vector/message-sharing"]
            routes = ["vector/direct", *forward, *planned, "vector/node", "vector/auto"]
            assert [name for name in names if name in PLAIN] == PLAIN
            assert names[-len(routes) :] == routes
            assert "auto" in names and ("linear" in names) == (
                kind in ("forward", "fields", "reverse")
            )
            assert ("group" in names, "requests" in names) == 2 * (kind == "fields",)
            in_turn = 2 * (kind in ("forward", "reverse"),)
            assert ("start-with" in names, "two-requests" in names) == in_turn
            back = kind in ("reverse", "columns")
            sent, bytes_sent = [0] * ranks, [0] * ranks
            for pair, entries in pairs.items():
                sent[pair[back]] += 1
                bytes_sent[pair[back]] += (32 if kind == "fields" else 8) * len(entries)
            for row in members.values():
                assert row["words"] == sum(map(len, pairs.values()))
                assert row["most_targets"] == max(sent)
                assert row["avg_targets"] == pytest.approx(sum(sent) / ranks)
                assert row["mpi"] in built.names_in_rows(mpi)
                expected = (SIZE, "blocks", None)
                assert (row["rows"], row["dealt_out"], row["predicted_us"]) == expected
            for row in (members["irecv"], members["irecv-persistent"]):
                assert (row["messages"], row["bytes"]) == (max(sent), max(bytes_sent))
            assert members["native"]["messages"] is None and members["native"]["ratio_native"] == 1
            assert max(row["ratio_best"] for row in members.values()) == 1


@pytest.mark.more
@pytest.mark.skipif("mpich" not in BUILT, reason="there is no build with MPICH (TONARI_BUILD)")
def test_more_ranks_than_mpich_likes(matrix: str, tmp_path: Path) -> None:
    """Nothing is timed."""
    for ranks, kinds, candidates in (
        (3, "forward,columns", "irecv,auto,vector/node"),
        (3, "fields", "irecv,requests,group,vector/direct"),
        (3, "forward,reverse", "start-with,two-requests"),
        (5, "reverse,rows", "vector/direct,vector/store-and-forward/2"),
    ):
        parts = tmp_path / "parts"
        write(permuted(read_for_products(matrix), equal_blocks(SIZE, ranks), ranks), parts)
        options = f"--matrix {parts} --kinds {kinds} --candidates {candidates} --tuning off --count"
        found = json.loads(printed(program("mpich", ranks, *words(options))))
        wanted = [(kind, name, True) for kind in kinds.split(",") for name in candidates.split(",")]
        assert [(row["kind"], row["candidate"], row["verified"]) for row in found] == wanted


def test_predictions_need_no_mpi(matrix: str, tmp_path: Path) -> None:
    file, plot = tmp_path / "rows.json", tmp_path / "plot.svg"
    text = printed(run(f"{matrix} --blocks --simulate 6,20 --output {file} --plot {plot}"))
    assert fits(text) and "simulated: forward exchange on 20 ranks" in text
    assert "balanced" in plot.read_text() and "</svg>" in plot.read_text()
    found = json.loads(file.read_text())
    for ranks in (6, 20):
        pairs = needed(matrix, ranks)
        sent = [sum(a == rank for a, _ in pairs) for rank in range(ranks)]
        by = {row["candidate"]: row for row in found if row["ranks"] == ranks}
        assert {"direct", "store-and-forward/2", "sharing-1", "sharing-2", "balanced"} <= by.keys()
        assert "balanced, 3 stages" in by
        direct = by["direct"]
        expected = (max(sent), sum(map(len, pairs.values())), max(sent))
        assert (direct["messages"], direct["words"], direct["most_targets"]) == expected
        assert direct["avg_messages"] == pytest.approx(sum(sent) / ranks)
        for row in by.values():
            assert row["predicted_us"] > 0 and row["verified"] and row["kind"] == "simulated"
    (few,) = rows(matrix, "--blocks", "--simulate", "6", "--schemes", "direct")
    assert few == [row for row in found if (row["ranks"], row["candidate"]) == (6, "direct")][0]


@needs_build
def test_folders_are_taken_as_they_are(matrix: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    printed(run(f"{matrix} --parts 2 --blocks --output {folder}", command="partition"))
    names = ("irecv", "vector/direct")
    chosen = f"--kinds rows --candidates {','.join(names)}"
    found = rows(f"{folder} --ranks 2 {chosen} --repeat 2 --tune off")
    seen = [(row["candidate"], row["repeat"], row["dealt_out"], row["verified"]) for row in found]
    assert seen == [(name, repeat, "files", True) for repeat in (0, 1) for name in names]
    assert all(row["ratio_spread"] is not None for row in found)
    done = run(str(folder), "--ranks", "3")
    assert done.returncode == 1 and "is a matrix for 2 ranks, not 3" in done.stderr
    assert read(folder).parts == 2


@needs_build
def test_mistakes_get_one_sentence(matrix: str) -> None:
    for arguments, sentence in (
        (["--ranks", "two"], "--ranks is 'two'"),
        (["--simulate", "0"], "--simulate is '0'"),
        (
            ["--kinds", "row"],
            "unknown kind 'row'; there are forward, fields, reverse, rows, columns",
        ),
        (["--candidates", "irecv,torus"], "unknown candidate 'torus'"),
        (["--simulate", "4", "--schemes", "best"], "there is no scheme 'best' here"),
        (["--ranks", "61"], "has 60 rows, which are too few for 61 parts"),
        (["--plot", "picture.txt"], ".png"),
        (["--mpi", "other"], "the build has no other"),
    ):
        refused(run(matrix, "--blocks", *arguments), sentence)


@needs_build
def test_the_program_says_which_file_is_wrong(matrix: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    printed(run(f"{matrix} --parts 1 --blocks --output {folder}", command="partition"))
    columns, ranges, values = (folder / f"{name}.npy" for name in ("columns", "ranges", "values"))
    good = {path: path.read_bytes() for path in (columns, ranges, values)}

    def complaint() -> str:
        done = program(next(iter(BUILT)), 1, "--matrix", str(folder), "--count")
        assert done.returncode != 0
        return done.stderr + done.stdout

    for path, text, sentence in (
        (columns, good[values], "columns.npy should hold a list of numbers '<i8'"),
        (columns, good[columns][:-8], "columns.npy is shorter than it says"),
        (columns, b"NUMPY", "columns.npy is no NumPy file of version 1.0"),
        (columns, good[ranges], "columns.npy has 2 numbers; expected at least"),
        (ranges, good[columns], "but there are 1; start as many, or run `tonari partition` again"),
    ):
        path.write_bytes(text)
        assert sentence in complaint()
        path.write_bytes(good[path])
    columns.unlink()
    said = complaint()
    assert "cannot read" in said and "columns.npy; `tonari partition` makes such files" in said


def test_the_made_up_matrix_is_irregular_and_always_the_same() -> None:
    a, b = made_up(40), made_up(40)
    for name in ("rows", "columns", "values"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    dense = np.zeros(a.shape)
    dense[a.rows, a.columns] = a.values
    assert np.array_equal(dense, dense.T) and np.allclose(dense.sum(axis=1), 1)
    assert (np.diag(dense) > 0).all()
    degrees = np.bincount(made_up().rows) - 1
    assert degrees.min() >= 2 and np.median(degrees) <= 8 and degrees.max() >= 400
    assert 100 < (degrees > 2 * MANY).sum() < len(degrees) / 50


# Tables and plots of rows that are made up


def row(candidate: str, ranks: int = 2, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "forward", "candidate": candidate, "chosen": "linear/shared", "ranks": ranks, "mpi":
        "openmpi", "mpi_version": "4.1.4", "matrix": "a.mtx", "dealt_out": "Mt-KaHyPar",
        "rows": 25600, "nonzeros": 201022, "words": 123456, "most_ghosts": 1234, "avg_targets":
        12.25, "most_targets": 15, "messages": 15, "bytes": 12345, "median_us": 12345.6,
        "q1_us": 11111.1, "q3_us": 22222.2, "init_us": 123456.7, "rounds": 200, "ratio_native":
        10.25, "ratio_best": 0.75, "verified": True, "disturbed": False, "repeat": 0,
        "ratio_spread": None,
    } | fields  # fmt: skip


def test_the_table_fits_and_says_what_is_wrong() -> None:
    found = [
        row("native", messages=None),
        row("vector/store-and-forward/2", verified=False, median_us=1.0),
        row("common-neighborhood", disturbed=True),
        row("vector/auto"),
    ]
    said = shown(view.show, complete(found))
    lines = {line.split()[0]: line.split() for line in reversed(said) if line}
    assert lines["vector/store-and-forward/2"][-1] == "WRONG"
    assert lines["common-neighborhood"][-3:] == ["10.25", "x", "0.75"]
    text = "\n".join(said)
    assert "Wrong data from vector/store-and-forward/2" in text
    assert "Disturbed" in text and "vector/auto: linear/shared" in text


def test_repeats_series_and_plot() -> None:
    from matplotlib.figure import Figure

    found = [
        row("auto", repeat=i, median_us=us, ratio_native=ratio)
        for i, (us, ratio) in enumerate([(30.0, 1.2), (10.0, 1.0), (20.0, 1.1)])
    ]
    found += [row("auto", 8, median_us=50.0), row("irecv", verified=False)]
    add_ratio_spread(found)
    spread = pytest.approx(0.1818, abs=1e-4)
    assert [each["ratio_spread"] for each in found] == [spread] * 3 + [None] * 2
    assert series(typical(found)) == {"auto": [(2, 20.0), (8, 50.0)]}
    axis = Figure().subplots()
    spmv_plot._panel(axis, "", typical(found))
    (line,) = axis.get_lines()
    expected = ("auto", [2, 8], [20.0, 50.0])
    assert (line.get_label(), list(line.get_xdata()), list(line.get_ydata())) == expected
    bars = Figure().subplots()
    times = ((64, "direct", 9.0), (64, "balanced", 3.0), (512, "direct", 70.0))
    predicted = [
        {"candidate": name, "ranks": ranks, "predicted_us": us} for ranks, name, us in times
    ]
    spmv_plot._predictions(bars, predicted)
    assert sorted(bar.get_width() for bar in bars.patches) == [3.0, 9.0, 70.0]
    assert [text.get_text() for text in bars.get_yticklabels()] == ["direct", "balanced"]
