# SPDX-License-Identifier: BSD-3-Clause
"""All plots: how many lines they have, which colors, and names that can be read. The rows are made
up."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.text import Text
from test_bench import made_up as bench_row
from test_bench_halo import EXCHANGES
from test_bench_halo import made_up as halo_row
from test_bench_inplace import made_up as in_place_row
from test_bench_spmv import row as spmv_row
from tonari import Error, sharing_plot
from tonari.benchmark import halo_plot, inplace_plot, overlap, plot, spmv_plot, style
from tonari.benchmark.summary import mpi_of

OTHERS = ("native-nonblocking", "native-persistent", "irecv", "irecv-persistent", "linear", "torus")
MANY = ("auto", "native", *OTHERS, "torus-direct", "additive-basis", "auto/group", "floor")
ORDERS = ("mpich-order", "linear-shift", "hierarchical-sets")
PAGES = dict.fromkeys((f"padding_percent_{page}" for page in (4096, 16384)), 3.0)
ROUTES = ("vector/direct", "vector/store-and-forward/2", "vector/node", "vector/auto")


@cache  # drawing takes a second
def bench() -> Any:
    """The names in `MANY`, the later the slower but for the floor; two patterns."""
    rows = [
        bench_row(name, (1 + k / 9) * size / 8, bytes=size, pattern=pattern)
        for pattern in ("moore:2:1", "moore:3:1")
        for k, name in enumerate((MANY[-1], *MANY[:-1]))
        for size in (8, 512, 4096)
    ]
    return plot.make(rows)


@cache
def halo() -> Any:
    """All that the benchmark has, most of it at nearly the same speed."""
    rows = [
        halo_row(name, size, median_us=(3 + k % 7 / 70) * size, step_us=(9 + k % 5) * size, **PAGES)
        for k, name in enumerate(EXCHANGES)
        for size in (16, 32, 64)
    ]
    return halo_plot.make(rows)


@cache
def in_place() -> Any:
    natives = ("native-out-of-place", "native-inplace", "sendrecv-replace")
    rows = [
        in_place_row(name, ranks, median_us=1e4 * ranks, exchange=kind)
        for kind in ("symmetric", "general")
        for ranks in (2, 4, 8)
        for name in natives
    ]
    rows += [
        in_place_row(name, ranks, budget, median_us=1e3 * ranks * (k + 1), peak_extra_bytes=budget)
        for ranks in (2, 4, 8)
        for budget in (65536, 1 << 20, 8 << 20)
        for k, name in enumerate(ORDERS)
    ]
    return inplace_plot.make(rows)


@cache
def spmv() -> Any:
    names = ["native", *OTHERS[:4], "auto", "linear", "tree", "balanced", *ROUTES, "start-with"]
    rows = [
        spmv_row(name, ranks, median_us=ranks * (10.0 + k), kind=kind)
        for kind in ("forward", "reverse", "rows")
        for ranks in (2, 4, 8)
        for k, name in enumerate(names)
    ]
    rows += [
        spmv_row(name, 512, kind="simulated", predicted_us=10.0 + k)
        for k, name in enumerate(("direct", "store-and-forward/2", "balanced"))
    ]
    return spmv_plot.make(rows)


@cache
def share() -> Any:
    names = ("direct", *(f"store-and-forward/{n}" for n in (2, 3, 4)), "sharing-1", "sharing-2")
    answers = [
        SimpleNamespace(scheme=name, variant="", sent=[40 - 5 * k] * 8, received=[9, 8, 7, k] * 2)
        for k, name in enumerate((*names, "balanced"))
    ]
    return sharing_plot.make(answers, "matrix.mtx")


PLOTS: dict[str, Callable[[], Any]] = {
    "bench": bench, "halo": halo, "in place": in_place, "spmv": spmv, "share": share,
}  # fmt: skip
every_plot = pytest.mark.parametrize("make", PLOTS.values(), ids=PLOTS.keys())


@cache  # takes a second, too
def drawn(make: Callable[[], Any]) -> Any:
    figure = make()
    figure.draw_without_rendering()
    return figure


def shown_axes(figure: Any) -> list[Any]:
    return [axis for axis in figure.axes if axis.get_visible()]


@every_plot
def test_at_most_eight_lines_that_differ_and_have_safe_colors(make: Callable[[], Any]) -> None:
    axes = [axis for axis in shown_axes(make()) if axis.get_lines()]
    assert axes
    for axis in axes:
        lines = axis.get_lines()
        assert 1 < len(lines) <= style.MOST
        drawn = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
        assert len(drawn) == len(lines)
        assert {line.get_color() for line in lines} <= {*style.PALETTE, style.GRAY}


@every_plot
def test_a_candidate_has_one_color(make: Callable[[], Any]) -> None:
    for axis in shown_axes(make()):
        for line in axis.get_lines():
            if not line.get_label().startswith("pages"):
                assert line.get_color() == style.color_of(line.get_label())


@every_plot
def test_names_overlap_neither_each_other_nor_the_edge(make: Callable[[], Any]) -> None:
    figure = drawn(make)
    whole = figure.bbox.padded(1)
    for axis in shown_axes(figure):
        texts = [text for text in axis.texts if text.get_text()]
        boxes = [Text.get_window_extent(text) for text in texts]
        if axis.get_lines() and not axis.get_legend():
            assert sorted(text.get_text() for text in texts) == sorted(
                line.get_label() for line in axis.get_lines()
            )
        for a, b in combinations(boxes, 2):
            assert not a.overlaps(b)
        inner = axis.get_window_extent()
        for box in [*boxes, axis.title.get_window_extent()]:
            assert whole.containsx(box.x0) and whole.containsx(box.x1)
            assert whole.containsy(box.y0) and whole.containsy(box.y1)
        assert all(box.x0 >= inner.x1 for box in boxes)  # beside the lines, not on them
        for other in shown_axes(figure):
            if other is not axis:
                assert not any(box.overlaps(other.get_window_extent()) for box in boxes)


@every_plot
def test_titles_and_captions_are_not_cut(make: Callable[[], Any]) -> None:
    figure = drawn(make)
    for text in filter(None, (figure._suptitle, figure._supxlabel)):
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_halos_show_what_matters_and_say_what_is_missing() -> None:
    figure = halo()
    first = figure.axes[0]
    drawn = [line.get_label() for line in first.get_lines()]
    assert len(drawn) == style.MOST and set(halo_plot.FIRST) <= set(drawn)
    assert not {"array/faces", "array/group", "array/requests"} & set(drawn)
    caption = " ".join(figure._supxlabel.get_text().split())
    assert caption.endswith("--exchanges chooses which.") and "array/faces" in caption
    count = len(
        {*EXCHANGES} - {*drawn} | {*EXCHANGES} - {n.get_label() for n in figure.axes[1].lines}
    )
    assert caption.startswith(f"{count} candidates are not drawn everywhere (")
    few = halo_plot.make([halo_row(name, size) for name in EXCHANGES[:4] for size in (16, 64)])
    assert few._supxlabel is None
    assert [line.get_label() for line in few.axes[0].get_lines()] == EXCHANGES[:4]


def test_benchmarks_draw_auto_the_best_of_mpi_and_the_floor() -> None:
    figure = bench()
    drawn = [line.get_label() for line in figure.axes[0].get_lines()]
    assert {"auto", "native", "irecv", "floor, a flag and a copy"} <= set(drawn)
    assert "auto/group" not in drawn
    assert "auto/group" in figure._supxlabel.get_text()


def drawn_points(figure: Any) -> dict[str, list[tuple[float, float]]]:
    """By name, of the first panel."""
    return {
        line.get_label().partition(",")[0]: [(float(x), float(y)) for x, y in line.get_xydata()]
        for line in figure.axes[0].get_lines()
    }


def disturbed_floor() -> list[dict[str, Any]]:
    """Above `auto` at 512 B, and below `linear/shared/view`, which leaves out the copy."""
    times = {"auto": (1.0, 2.0), "linear/shared/view": (0.1, 0.1), "floor": (0.5, 3.0)}
    return [
        bench_row(name, us, bytes=size)
        for name, both in times.items()
        for size, us in zip((8, 512), both, strict=True)
    ]


def test_the_floor_is_never_above_what_delivers_all_blocks() -> None:
    figure = plot.make(disturbed_floor())
    assert drawn_points(figure)["floor"] == [(8, 0.5)]
    said = " ".join(figure._supxlabel.get_text().split())
    assert said == "The floor is not drawn at 512 B: it took longer than an exchange."
    calm = [row for row in disturbed_floor() if row["bytes"] == 8]
    assert plot.make(calm)._supxlabel is None
    rows = [row for row in disturbed_floor() if row["bytes"] == 512]
    assert "floor" not in drawn_points(plot.make(rows))
    wrong = [row | {"verified": row["requested"] != "auto"} for row in disturbed_floor()]
    assert drawn_points(plot.make(wrong))["floor"] == [(8, 0.5), (512, 3.0)]


def test_lines_that_lie_on_each_other_are_told_apart() -> None:
    """The lower is the wider, by at least a point on both sides; the others are as always."""
    names = ("auto", "linear/shared", "torus/shared", "native")
    times = {"auto": 1.0, "linear/shared": 1.01, "torus/shared": 0.995, "native": 9.0}
    rows = [bench_row(name, times[name] * size, bytes=size) for name in names for size in (8, 512)]
    lines = {line.get_label(): line for line in plot.make(rows).axes[0].get_lines()}
    pile = sorted((lines[name] for name in names[:3]), key=lambda line: line.get_zorder())
    widths = [line.get_linewidth() for line in pile]
    assert all(lower - upper >= 1 for lower, upper in pairwise(widths))
    assert all(a.get_markersize() > b.get_markersize() for a, b in pairwise(pile))
    assert (
        lines["native"].get_linewidth() == style.looks(["native"])["native"].of_line()["linewidth"]
    )


def test_a_pile_has_all_that_lie_on_each_other() -> None:
    line = {1.0: 10.0, 2.0: 20.0, 3.0: 30.0}
    crossing = {1.0: 30.0, 2.0: 20.0, 3.0: 10.0}
    above = {x: y + 2 for x, y in line.items()}
    further = {x: y + 4 for x, y in line.items()}
    assert overlap.piles([line, crossing]) == []
    assert overlap.piles([line, crossing, further]) == []
    assert overlap.piles([line, crossing, further, above]) == [[0, 2, 3]]
    assert overlap.piles([{1.0: 5.0}, {1.0: 6.0}, {2.0: 5.0}, {}]) == [[0, 1]]


def test_a_title_names_the_mpi_with_or_without_a_version() -> None:
    named = {"mpi": "mpich", "mpi_version": ""}
    assert mpi_of(named) == "MPICH"
    assert mpi_of(named | {"mpi_version": "4.0.2"}) == "MPICH 4.0.2"
    figure = plot.make([row | named for row in disturbed_floor()])
    assert figure._suptitle.get_text().startswith("MPICH, 2 ranks; median")


def test_in_place_every_budget_is_drawn() -> None:
    figure = in_place()
    drawn = {line.get_label() for line in figure.axes[0].get_lines()}
    assert {f"mpich-order, {size}" for size in ("64 KiB", "1 MiB", "8 MiB")} <= drawn
    assert len(drawn) == style.MOST


# The parts


def test_the_fastest_are_chosen_behind_those_that_must_be() -> None:
    series = {f"n{k:02}": [(1, float(k)), (2, float(k))] for k in range(1, 13)}
    drawn, missing = style.choose(series, ["n12", "n11", "none"], ["n01"])
    assert drawn == ["n02", "n03", "n04", "n05", "n06", "n07", "n11", "n12"]
    assert missing == ["n01", "n08", "n09", "n10"]
    assert style.choose(dict(list(series.items())[:8])) == (list(series)[:8], [])
    assert style.slowness({"a": [(1, 1.0), (2, 4.0)], "b": [(1, 4.0), (2, 1.0)]}) == {
        "a": pytest.approx(2), "b": pytest.approx(2),
    }  # fmt: skip


def test_a_color_stays_whatever_else_is_drawn() -> None:
    one, two = style.looks(["linear/shared"]), style.looks(["linear", "linear/shared"])
    assert one["linear/shared"].color == two["linear/shared"].color == style.BLUE
    assert two["linear"].line != two["linear/shared"].line
    for name, color in (
        ("mapped/layout", style.BLUE), ("vector/store-and-forward/2", style.SKY),
        ("auto/group", style.SKY), ("hierarchical-sets, 64 KiB, shared", style.GREEN),
    ):  # fmt: skip
        assert style.color_of(name) == color
    assert style.color_of("something new") == style.color_of("something new") in style.PALETTE


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([0.2, 0.8], [0.2, 0.8]),
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.5, 0.5, 0.5], [0.4, 0.5, 0.6]),
        ([0.52, 0.5, 0.9], [0.56, 0.46, 0.9]),
        ([0.99, 0.98], [0.95, 0.85]),
        ([0.0, 0.01], [0.05, 0.15]),
        ([2.0, -1.0], [0.95, 0.05]),
        ([], []),
    ],
)
def test_places_are_a_gap_apart_and_as_near_as_can_be(
    wanted: list[float], expected: list[float]
) -> None:
    assert style.spread(wanted, 0.1, 0.05, 0.95) == pytest.approx(expected)


def test_names_that_do_not_fit_become_a_legend() -> None:
    figure, axes = style.make_figure(1, 1, 5.0, 1.2)
    for k in range(8):
        axes[0, 0].plot([1, 2], [k, k], label=f"line {k}")
    style.finish(figure, "narrow")
    assert len(axes[0, 0].get_legend().get_texts()) == 8 and not axes[0, 0].texts


def test_marks_are_as_many_as_fit_and_numbers_are_plain() -> None:
    figure, axes = style.make_figure(1, 1, 5.0, 4.0)
    axis = axes[0, 0]
    axis.plot([8, 9, 4096], [20.0, 30.0, 900.0], label="one")
    axis.set_yscale("log")
    style.mark(axis, (8, 9, 64, 4096), lambda size: f"{size} B")
    style.finish(figure, "")
    assert [text.get_text() for text in axis.get_xticklabels()] == ["8 B", "64 B", "4096 B"]
    figure.draw_without_rendering()
    labels = [*axis.yaxis.get_ticklabels(), *axis.yaxis.get_ticklabels(minor=True)]
    shown = [text.get_text() for text in labels if text.get_text()]
    assert {"100", "20"} <= set(shown)
    axis.texts[0].remove()  # its name stands where the line ended before
    axis.lines[0].set_ydata([0.2, 0.3, 9.0])
    axis.relim(), axis.autoscale_view()
    figure.draw_without_rendering()
    shown += [text.get_text() for text in axis.yaxis.get_ticklabels(minor=True)]
    assert "0.2" in shown and not any("e" in text or "^" in text for text in shown)
    style.mark(axis, [16])
    assert [text.get_text() for text in axis.get_xticklabels()] == ["16"]


def test_what_is_left_out_is_said() -> None:
    assert style.left_out([], "--algorithms") == ""
    one = style.left_out(["a"], "--algorithms")
    assert one == "One candidate is not drawn (a): --algorithms chooses which."
    two = style.left_out(["a", "b", "a"], "--kinds", 2)
    assert two == "2 candidates are not drawn everywhere (a; b): --kinds chooses which."


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_written(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"plot.{kind}"
    style.save(share(), file)
    assert file.stat().st_size > 1000
    with pytest.raises(Error, match="cannot write"):
        style.save(share(), tmp_path / "no-folder" / file.name)
