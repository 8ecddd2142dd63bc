# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges, steps, computing and padding over the size of the subdomain, as in Zhao et al.
(2021)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark import style
from tonari.benchmark.halo_summary import FLOORS, PAGES, computing, series
from tonari.benchmark.summary import mpi_of
from tonari.benchmark.verdicts import OTHER_HALOS

Row = dict[str, Any]
# Plain MPI, what the network allows, and what a program gets that leaves its arrays as they are.
FIRST = ("array/pack", "array/datatypes", *FLOORS, "array/auto")


def draw(rows: list[Row], file: Path) -> None:
    style.save(make(rows), file)


def make(rows: list[Row]) -> Any:
    """The figure."""
    figure, axes = style.make_figure(2, 2, 8.0, 5.0)
    (exchange, step), (compute, padding) = axes
    missing = _draw_exchanges(exchange, rows, "median_us", "one exchange")
    missing += _draw_exchanges(step, rows, "step_us", "one step, its part of an exchange included")
    _draw_computing(compute, rows)
    _draw_padding(padding, rows)
    for axis in axes.flat:
        axis.set_xlabel("own cells along each dimension")
        style.mark(axis, (row["size"] for row in rows))
    return style.finish(figure, _title(rows[0]), style.left_out(missing, "--exchanges", 2))


def _title(first: Row) -> str:
    points = "" if first["stencil"] == "none" else f", {first['stencil']} points"
    return (
        f"{mpi_of(first)}, {first['ranks']} ranks as {first['dims']}, "
        f"ghosts of {first['ghost']} cells{points}; median of the slowest rank"
    )


def _draw_exchanges(axis: Any, rows: list[Row], key: str, title: str) -> list[str]:
    """Draws the lines; the names of those that are left out."""
    found = series(rows, key)
    other = [name for name in found if name.split("/")[-1] in OTHER_HALOS]
    drawn, missing = style.choose(found, FIRST, other)
    for name, look in style.looks(drawn).items():
        axis.plot(*zip(*found[name]), label=name, **look.of_line())
    axis.set(ylabel="µs", yscale="log", title=title)
    return missing


def _draw_computing(axis: Any, rows: list[Row]) -> None:
    found = computing(rows)
    for name, look in style.looks(found).items():
        axis.plot(*zip(*found[name]), label=name, **look.of_line())
    axis.set(ylabel="µs", yscale="log", title="own cells computed once")


def _draw_padding(axis: Any, rows: list[Row]) -> None:
    for page, color, marker in zip(PAGES, style.PALETTE, style.MARKERS):
        points = sorted({row["size"]: row[f"padding_percent_{page}"] for row in rows}.items())
        label = f"pages of {output.short_size(page)}"
        axis.plot(*zip(*points), label=label, color=color, marker=marker, markersize=3.5)
    axis.set_yscale("symlog", linthresh=1)  # none at all is a result, too
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.10g}")
    axis.set(ylabel="%", title="what padding adds to memmap's messages")
