# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench halo: rows, messages, padding, table and plot. No assertion about time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, fits, printed, refused, shown, words

from tonari.benchmark import halo_plot
from tonari.benchmark.halo_summary import add_ratio_spread, computing, label, series, typical
from tonari.views import bench_halo as view

BUILT, needs_build, each_mpi = built.marks("tonari_bench_halo")
FIELDS = set(
    """
    storage exchange size median_us compute_us messages bytes padding_percent verified mpi ranks
    stencil ghost brick q1_us q3_us min_us avg_us max_us pack_us call_us wait_us step_us
    steps_per_exchange description roofline_percent kernel_us kernel_plain_us kernel_tiled_us
    copy_us of_network of_network_remote ratio_pack ratio_datatypes repeat ratio_spread
""".split()
)
EXCHANGES = """
    array/pack array/datatypes network network-remote array/tonari-pack array/tonari-datatypes
    array/shift array/plan array/auto array/faces array/reverse array/fortran array/blocks
    array/blocks-reverse array/start-with array/two-requests array/group array/requests
    brick/basic brick/layout brick/plan brick/auto
    mapped/layout mapped/memmap mapped/shift mapped/plan mapped/auto mapped/zero-byte
""".split()
# Of section 3: 26 neighbors, 42 contiguous pieces, 98 regions; dimension by dimension 6; from page
# to page none.
MESSAGES = {
    "array/pack": 26, "array/datatypes": 26, "network": 26, "network-remote": 26,
    "array/tonari-pack": 26, "array/tonari-datatypes": 26, "mapped/memmap": 26,
    "brick/layout": 42, "mapped/layout": 42, "brick/basic": 98,
    "array/shift": 6, "mapped/shift": 6, "mapped/zero-byte": 0,
}  # fmt: skip
# They fill no ghosts for a stencil, or on no array that the kernels take.
NOT_COMPUTED = {
    *("array/faces", "array/reverse", "array/fortran", "array/blocks-reverse"),
    *("array/start-with", "array/two-requests", "array/group", "array/requests"),
}
# No cell lies between the two surfaces: there are regions without cells.
FEWER_AT_16 = {"brick/layout": 39, "mapped/layout": 39, "brick/basic": 56}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return call("bench", "halo", *words(*arguments), OMPI_MCA_mpi_yield_when_idle="1")


def rows(*arguments: str) -> list[dict[str, Any]]:
    return json.loads(printed(run(*words(*arguments), *words("--rounds 2 --max-time 0.2 --json"))))


@each_mpi
def test_every_exchange_delivers_with_as_many_messages_as_the_paper_says(mpi: str) -> None:
    sizes = (16, 24) if mpi == next(iter(BUILT)) else (16,)
    found = rows("--size", ",".join(map(str, sizes)), "--ghost", "8", "--ranks", "2", "--mpi", mpi)
    assert [(row["size"], label(row)) for row in found] == [
        (size, name) for size in sizes for name in EXCHANGES
    ]
    for row in found:
        assert FIELDS <= row.keys()
        assert not any(isinstance(value, (dict, list)) for value in row.values())
        assert row["mpi"] in built.names_in_rows(mpi)
        expected = (8, 2, "2x1x1", "7")
        assert (row["ghost"], row["ranks"], row["dims"], row["stencil"]) == expected
        assert row["verified"] is True, row
        assert 0 < row["min_us"] <= row["q1_us"] <= row["median_us"]
        assert row["median_us"] <= row["q3_us"] <= row["max_us"]
        assert row["call_us"] > 0 and row["wait_us"] >= 0
        ours = ("halo of copy", "reverse halo of copy", "forward exchange", "reverse exchange")
        ours += ("group of 4 calls",)
        assert (row["pack_us"] is None) == row["description"].startswith(ours)
        computes = row["storage"] != "buffers" and label(row) not in NOT_COMPUTED
        assert (row["step_us"] is not None) == computes
        if computes:
            assert row["steps_per_exchange"] == (1 if row["exchange"] == "zero-byte" else 8)
            assert 0 < row["kernel_us"] and 0 < row["compute_us"] and 0 < row["step_us"]
    for size in sizes:
        members = {label(row): row for row in found if row["size"] == size}
        messages = {name: members[name]["messages"] for name in MESSAGES}
        assert messages == MESSAGES | (FEWER_AT_16 if size == 16 else {})
        cells = ((size + 16) ** 3 - size**3) * 8
        for counted, names in (
            # 8 of 26 neighbors are the rank itself.
            ((26, 18, cells), ("array/pack", "array/datatypes", "network")),
            # A brick is as large as a page: no padding.
            ((18, 18, cells), ("mapped/memmap", "network-remote")),
            ((2, 2, cells), ("mapped/shift", "array/shift")),
            ((0, 0, 0), ("mapped/zero-byte",)),
        ):
            for row in (members[name] for name in names):
                assert (row["messages_mpi"], row["messages_remote"], row["bytes"]) == counted


@pytest.mark.more
@needs_build
def test_padding_is_that_of_table_2() -> None:
    """Pages of 64 KiB, as in the paper: 652 % at 32, 176.9 % at 64. What travels is less: padding
    at the ends of messages stays."""
    found = rows("--size 32,64 --page 65536 --stencil none --exchanges memmap,brick/layout,network")
    assert [(row["size"], label(row)) for row in found] == [
        (size, name) for size in (32, 64) for name in ("network", "brick/layout", "mapped/memmap")
    ]
    by_name = {(row["size"], label(row)): row for row in found}
    for size, paper in ((32, 652.0), (64, 176.9)):
        names = ("mapped/memmap", "brick/layout", "network")
        memmap, layout, floor = (by_name[size, name] for name in names)
        assert memmap["padding_percent"] == memmap["padding_percent_65536"] <= paper + 0.1
        assert layout["padding_percent"] == 0
        assert layout["bytes"] == ((size + 16) ** 3 - size**3) * 8
        most = layout["bytes"] * (1 + memmap["padding_percent"] / 100)
        assert layout["bytes"] < memmap["bytes"] == floor["bytes"] <= most
        assert (memmap["page"], memmap["step_us"], memmap["compute_us"]) == (65536, None, None)


@needs_build
def test_other_stencils_bricks_and_ranks() -> None:
    grid = "--size 16 --ghost 4 --brick 4 --stencil 125 --ranks 1"
    found = rows(f"{grid} --exchanges datatypes,layout,zero-byte --repeat 2")
    assert len(found) == 2 * 4
    assert {row["steps_per_exchange"] for row in found} == {1, 2}
    for row in found:
        assert row["verified"] and row["dims"] == "1x1x1" and row["messages_remote"] == 0
        assert row["ratio_spread"] is not None
    assert {row["repeat"] for row in found} == {0, 1}


@pytest.mark.more
@needs_build
def test_table_file_and_plot(tmp_path: Path) -> None:
    file, plot = tmp_path / "rows.json", tmp_path / "plot.svg"
    options = """
        --size 16,24 --exchanges pack,datatypes,network,network-remote,layout,memmap,zero-byte
        --rounds 2 --max-time 0.2
    """.split()
    text = printed(run(*options, "--output", str(file), "--plot", str(plot)))
    assert "16³ cells per rank" in text and "24³ cells per rank" in text
    assert "7 points, per step" in text and "own cells once" in text
    assert "padding of memmap's messages" in text and fits(text)
    assert {row["size"] for row in json.loads(file.read_text())} == {16, 24}
    assert all(part in plot.read_text() for part in ("<svg", "</svg>"))


@needs_build
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--size", "20"], "--size 20 is no multiple of bricks of 8 cells; take 24"),
        (["--ghost", "4"], "--ghost 4 is no multiple of bricks of 8 cells; take 8"),
        (["--size", "8"], "--size 8 is less than two halos of 8 cells; make it at least 16"),
        (["--stencil", "9"], "--stencil is '9'"),
        (["--exchanges", "brick/memmap"], "unknown exchange 'brick/memmap'"),
        (["--plot", "picture.txt"], ".png"),
        (["--mpi", "other"], "the build has no other"),
    ],
)
def test_mistakes_get_one_sentence(arguments: list[str], sentence: str) -> None:
    refused(run(*arguments), sentence)


def made_up(name: str, size: int = 64, **fields: Any) -> dict[str, Any]:
    storage, _, exchange = name.rpartition("/")
    row = {
        "storage": storage or "buffers", "exchange": exchange, "size": size, "ghost": 8, "brick": 8,
        "page": 4096, "stencil": "7", "ranks": 2, "dims": "2x1x1",
        "mpi": "openmpi", "mpi_version": "4.1.4", "median_us": 12345.6, "q1_us": 11111.1, "q3_us":
        22222.2, "messages": 26, "ratio_datatypes": 10.25, "ratio_pack": 1.5,
        "of_network": 1.05, "of_network_remote": 1.25, "compute_us": 2345.6, "step_us": 3456.7,
        "step_q1_us": 3333.3, "step_q3_us": 4444.4, "steps_per_exchange": 8,
        "kernel_us": 1000.0, "kernel_plain_us": 1100.0, "kernel_tiled_us": 1050.0, "copy_us": 800.0,
        "roofline_percent": 80.0, "roofline_of": "memory", "rounds": 200,
        "chosen": "", "verified": True, "disturbed": False, "repeat": 0, "ratio_spread": None,
        **{f"padding_percent_{page}": 0.0 for page in (4096, 16384)},
        "padding_percent_65536": 176.94, "padding_percent_2097152": 8888.8,
    }  # fmt: skip
    return row | fields


NO_STEPS = dict.fromkeys(
    """
        compute_us step_us step_q1_us step_q3_us steps_per_exchange kernel_us roofline_percent
    """.split()
)


def test_the_table_fits_and_says_what_is_wrong() -> None:
    found = [
        made_up("array/pack"),
        made_up("array/tonari-datatypes", verified=False, median_us=1.0, step_us=1.0),
        made_up("network", **NO_STEPS),
        made_up("mapped/zero-byte", steps_per_exchange=1),
        made_up("brick/auto", chosen="layout", disturbed=True),
    ]
    said = shown(view.show, found)
    lines = [line.split() for line in said if line.split()]
    first = {words[0]: words for words in reversed(lines)}
    assert first["array/tonari-datatypes"][-1] == "WRONG"
    assert [words[0] for words in lines].count("array/tonari-datatypes") == 1  # no step of it
    assert first["array/pack"][-6:] == ["10.25", "x", "1.50", "x", "1.05", "1.25"]
    assert ["mapped/zero-byte", "step"] in [[words[0], words[-1]] for words in lines]
    text = "\n".join(said)
    assert "Wrong data from array/tonari-datatypes" in text and "Disturbed" in text
    assert "brick/auto: layout" in text and "176.9" in text and "array 80 %" in text


def test_repeats_and_series() -> None:
    found = [
        made_up("mapped/memmap", repeat=i, median_us=us, of_network=ratio)
        for i, (us, ratio) in enumerate([(30.0, 1.2), (10.0, 1.0), (20.0, 1.1)])
    ]
    found += [made_up("mapped/memmap", 16, median_us=5.0)]
    found += [made_up("array/pack", 16, verified=False), made_up("network", 16, **NO_STEPS)]
    add_ratio_spread(found)
    spread = pytest.approx(0.1818, abs=1e-4)
    assert [row["ratio_spread"] for row in found] == [spread] * 3 + [None] * 3
    assert [row["median_us"] for row in typical(found[:3])] == [20.0]
    times = {"mapped/memmap": [(16, 5.0), (64, 20.0)], "network": [(16, 12345.6)]}
    assert series(found, "median_us") == times
    assert series(found, "step_us") == {"mapped/memmap": [(16, 3456.7), (64, 3456.7)]}
    ghosts = made_up("mapped/zero-byte", kernel_us=7.0)
    assert computing([*found, ghosts])["mapped ghosts"] == [(64, 7.0)]


def test_the_plot_has_a_line_per_exchange() -> None:
    from matplotlib.figure import Figure

    axis = Figure().subplots()
    found = [made_up("brick/layout", size, median_us=float(size)) for size in (64, 16)]
    found += [made_up("mapped/layout", 16), made_up("array/pack", verified=False)]
    halo_plot._draw_exchanges(axis, found, "median_us", "")
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert set(lines) == {"brick/layout", "mapped/layout"}  # the wrong result is none
    brick, mapped = lines["brick/layout"], lines["mapped/layout"]
    assert list(brick.get_xdata()) == list(brick.get_ydata()) == [16, 64]
    assert brick.get_color() == mapped.get_color()
    assert brick.get_linestyle() != mapped.get_linestyle()
