# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench inplace: rows, memory, table and plot. No assertion about time."""

from __future__ import annotations

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, fits, printed, refused, shown, words

from tonari.benchmark import inplace_plot
from tonari.views import bench_inplace as view

BUILT, needs_build, each_mpi = built.marks("tonari_bench_inplace")
FIELDS = set(
    """
    algorithm budget_bytes median_us peak_extra_bytes verified exchange channel requested_channel
    q1_us q3_us peak_method peak_heap_bytes peak_hwm_bytes of_copy of_floor ranks mpi total_bytes
    moved_bytes ratio_native rounds
""".split()
)
ORDERS = ("mpich-order", "linear-shift", "hierarchical-sets")
OURS = {*ORDERS, "auto", "general"}
WORD = 8
FEW_PAGES = 64 * 1024  # beside the budget: what a request and MPI need for their own lists
# Of MPI's own, in memory that its ranks share; pages count from the first message that takes one.
QUEUES = 1 << 20


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return call("bench", *words(*arguments))


def rows(*arguments: str) -> list[dict[str, Any]]:
    options = words("--rounds 4 --max-time 2 --json")
    return json.loads(printed(run("inplace", *words(*arguments), *options)))


def bytes_that_move(job: str) -> int:
    (moved,) = {row["moved_bytes"] for row in rows(job)}
    return moved


@each_mpi
@pytest.mark.parametrize("ranks", [built.more("1"), "2", built.more("3"), built.more("4")])
def test_every_algorithm_and_budget_delivers(mpi: str, ranks: str) -> None:
    """Wrong data of MPI's own collective in place is a row, too; everything else must be right."""
    job = f"--total-bytes 40000 --ranks {ranks} --mpi {mpi} --memory 4096,65536"
    found = rows(f"{job} --channel auto,p2p-packed")
    of_mpi = ("native-out-of-place", "native-inplace", "sendrecv-replace")
    natives = product(of_mpi, ["mpi"], [None])
    ours = product(ORDERS, ("auto", "p2p-packed"), (4096, 65536))
    asked = [(row["algorithm"], row["requested_channel"], row["budget_bytes"]) for row in found]
    assert asked == [*natives, *ours]
    for row in found:
        assert FIELDS <= row.keys()
        assert not any(isinstance(value, (dict, list)) for value in row.values())
        assert row["mpi"] in built.names_in_rows(mpi)
        expected = ("symmetric", int(ranks), 40000)
        assert (row["exchange"], row["ranks"], row["total_bytes"]) == expected
        assert 0 < row["q1_us"] <= row["median_us"] <= row["q3_us"]
        assert row["verified"] is True or row["algorithm"] == "native-inplace", row
        assert (row["of_copy"] is None) == (row["of_floor"] is None) == (ranks == "1")
        assert row["floor_us"] > 0 or ranks == "1"


@each_mpi
@pytest.mark.parametrize("ranks", [built.more("1"), built.more("2"), "3"])
def test_a_redistribution_delivers(mpi: str, ranks: str) -> None:
    job = f"--total-bytes 40000 --ranks {ranks} --mpi {mpi} --memory 2048,65536"
    found = rows(f"{job} --algorithms auto --general")
    general = [row for row in found if row["exchange"] == "general"]
    expected = [("native-out-of-place", None), ("general", 2048), ("general", 65536)]
    assert [(row["algorithm"], row["budget_bytes"]) for row in general] == expected
    assert all(row["verified"] for row in found)


@pytest.mark.more
@each_mpi
def test_memory_stays_within_the_budget(mpi: str) -> None:
    """The comparators show that the ruler sees what is there: a second buffer, and a copy of the
    largest block."""
    total = 6 << 20
    job = f"--total-bytes {total} --sizes equal --ranks 3 --mpi {mpi} --memory 65536,1048576"
    for row in rows(f"{job} --channel auto,p2p-packed --general"):
        extra, heap, budget = row["peak_extra_bytes"], row["peak_heap_bytes"], row["budget_bytes"]
        if row["algorithm"] in OURS:
            # How many pages of its queues MPICH touches depends on how long ranks wait.
            queues = QUEUES if mpi == "mpich" or row["channel"] == "p2p-packed" else 0
            assert extra <= budget + FEW_PAGES + queues, row
            assert heap is None or heap <= budget + FEW_PAGES, row
        if row["algorithm"] == "native-out-of-place":
            assert extra >= 0.95 * total
        if row["algorithm"] == "sendrecv-replace":
            assert 0.95 * total / 3 <= extra <= 1.5 * total


@pytest.mark.more
@each_mpi
def test_sizes(mpi: str) -> None:
    """Equal: two of three blocks come from others. Random: the seed decides, and nothing else
    does."""
    job = f"--total-bytes {3000 * WORD} --ranks 3 --mpi {mpi} --algorithms sendrecv-replace"
    equal = bytes_that_move(f"{job} --sizes equal")
    assert equal == pytest.approx(2000 * WORD, abs=2 * WORD)
    one, again, other = (bytes_that_move(f"{job} --seed {seed}") for seed in (7, 7, 8))
    assert one == again != other
    assert 0 < one <= 3000 * WORD


@needs_build
def test_sizes_smaller_than_an_integer_and_than_the_ranks() -> None:
    job = "--ranks 4 --algorithms sendrecv-replace,hierarchical-sets --memory 0,1"
    for total in (1, 8, 24):
        assert all(row["verified"] for row in rows(f"--total-bytes {total} {job}"))


@pytest.mark.more
@needs_build
def test_table_file_and_plot(tmp_path: Path) -> None:
    file, plot = tmp_path / "rows.json", tmp_path / "plot.svg"
    job = f"inplace --total-bytes 20000 --ranks 1,3 --general --rounds 4 --output {file}"
    text = printed(run(f"{job} --plot {plot}"))
    assert ", 1 rank, 19.5 KiB per rank" in text and ", 3 ranks, 19.5 KiB per rank" in text
    assert "symmetric: " in text and "general: " in text and fits(text)
    ranks = [row["ranks"] for row in json.loads(file.read_text())]
    assert ranks == sorted(ranks)
    assert all(part in plot.read_text() for part in ("<svg", "</svg>"))


@needs_build
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--ranks", "2,two"], "--ranks is '2,two'"),
        (["--ranks", "0"], "--ranks is '0'"),
        (["--memory", "64KiB,1MB"], "--memory is '1MB'; it must be a number of bytes, such as"),
        (["--memory", "-1"], "--memory is '-1'"),
        (["--algorithms", "linear"], "unknown algorithm 'linear'"),
        (["--channel", "onesided"], "unknown channel 'onesided'"),
        (["--sizes", "odd"], "--sizes is 'odd'"),
        (["--total-bytes", "99999999999999"], "--total-bytes is '99999999999999'"),
        (["--plot", "picture.txt"], ".png"),
        (["--mpi", "other"], "the build has no other"),
    ],
)
def test_mistakes_get_one_sentence(arguments: list[str], sentence: str) -> None:
    refused(run("inplace", *arguments), sentence)


def test_two_words_are_a_command_and_in_another_order_a_hint() -> None:
    text = printed(run("inplace", "--help"))
    assert "tonari bench inplace" in text and "--total-bytes" in text
    done = run("--ranks", "2", "inplace")
    assert done.returncode == 2 and "tonari bench inplace" in done.stderr


def made_up(
    algorithm: str, ranks: int = 2, budget: int | None = None, **fields: Any
) -> dict[str, Any]:
    row = {
        "exchange": "symmetric", "algorithm": algorithm, "budget_bytes": budget, "channel": "mpi" if
        budget is None else "p2p-packed",
        "requested_channel": "mpi" if budget is None else "auto", "ranks": ranks, "mpi": "openmpi",
        "mpi_version": "4.1.4", "total_bytes": 67108864,
        "moved_bytes": 60000000, "sizes": "random", "median_us": 12345.6, "q1_us": 11111.1, "q3_us":
        22222.2, "rounds": 200, "verified": True,
        "ratio_native": 1.25, "of_copy": 0.51, "of_floor": 0.62, "peak_extra_bytes": 67108864,
        "peak_method": "as measured", "disturbed": False,
    }  # fmt: skip
    return row | fields


def test_the_table_fits_and_says_what_is_wrong() -> None:
    found = [made_up("native-out-of-place"), made_up("hierarchical-sets", budget=8388608)]
    found.insert(1, made_up("native-inplace", verified=False, median_us=1.0))
    lines = shown(view.show, found)
    table = {line.split()[0]: line for line in lines if line.split()}
    assert "WRONG" in table["native-inplace"] and "1.25 x" not in table["native-inplace"]
    assert table["hierarchical-sets"].split()[1:3] == ["8.0", "MiB"]
    assert table["hierarchical-sets"].split()[-2:] == ["64.0", "MiB"]
    assert any("Wrong data from native-inplace" in line for line in lines)


def test_the_plot_has_a_line_per_algorithm_and_budget() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    time, memory = figure.subplots(1, 2)
    found = [
        made_up("linear-shift", n, budget, median_us=1000.0 * n, peak_extra_bytes=budget)
        for n, budget in product((8, 2), (0, 65536))
    ]
    found += [made_up("native-inplace", 2), made_up("native-inplace", 8, verified=False)]
    inplace_plot._draw_kind(time, memory, "symmetric", found)
    for axis, values in (
        (time, {"linear-shift, 64 KiB": [2, 8]}),
        (memory, {"linear-shift, 0 B": [0, 0], "linear-shift, 64 KiB": [65536, 65536]}),
    ):
        lines = {line.get_label(): line for line in axis.get_lines()}
        assert set(lines) == {"linear-shift, 0 B", "linear-shift, 64 KiB", "native-inplace"}
        for name, expected in values.items():
            assert list(lines[name].get_xdata()) == [2, 8]
            assert list(lines[name].get_ydata()) == expected
        assert list(lines["native-inplace"].get_xdata()) == [2]  # the wrong result is no point
    none, some = lines["linear-shift, 0 B"], lines["linear-shift, 64 KiB"]
    assert none.get_color() == some.get_color()
    assert none.get_linestyle() != some.get_linestyle()
