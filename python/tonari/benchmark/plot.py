# SPDX-License-Identifier: BSD-3-Clause
"""Time over block size: one picture per pattern and operation, one line per algorithm, with its
quartiles as a band."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark import style
from tonari.benchmark.summary import FLOOR, OTHER_WORK, mpi_of, overtaken, panels, series
from tonari.benchmark.verdicts import NATIVE
from tonari.errors import ARGUMENT, Error

SUFFIXES = {".png", ".svg", ".pdf"}


def check_file(file: Path) -> None:
    """Before anything is measured."""
    if file.suffix not in SUFFIXES:
        raise Error(
            f"--plot writes {', '.join(sorted(SUFFIXES))} files; {file.name} is none of them",
            ARGUMENT,
        )


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    style.save(make(rows), file)


def make(rows: list[dict[str, Any]]) -> Any:
    """The figure."""
    found = panels(rows)
    columns = len(found) if len(found) < 4 else 2 if len(found) == 4 else 3
    figure, axes = style.make_figure(-(-len(found) // columns), columns, 7.0, 4.6)
    missing: list[str] = []
    for axis, (title, members) in zip(axes.flat, found.items()):
        missing += _panel(axis, title, members)
    for axis in list(axes.flat)[len(found) :]:
        axis.set_visible(False)
    caption = style.left_out(missing, "--algorithms", len(found))
    if sizes := sorted({size for _, size, _ in overtaken(rows)}):
        caption += f" The floor is not drawn at {', '.join(map(output.size, sizes))}: "
        caption += "it took longer than an exchange."
    return style.finish(figure, _where(rows[0]), caption.strip())


def _where(row: dict[str, Any]) -> str:
    hosts = f" on {row['hosts']} hosts" if row["hosts"] else ""
    return f"{mpi_of(row)}, {row['ranks']} ranks{hosts}; median and quartiles of the slowest rank"


def _panel(axis: Any, title: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Draws the lines; the names of those that are left out."""
    found = series(rows)
    times = {
        name: [(point["bytes"], point["median_us"]) for point in points]
        for name, points in found.items()
    }
    of_mpi = sum((style.fastest(times, names) for names in (NATIVE[:3], NATIVE[3:])), [])
    other = [name for name in times if name.split("/")[-1] in OTHER_WORK]
    drawn, missing = style.choose(times, ["auto", *of_mpi, FLOOR], [*NATIVE, *other])
    too_high = {size for _, size, _ in overtaken(rows)}
    for name, look in style.looks(drawn).items():
        shown = [p for p in times[name] if name != FLOOR or p[0] not in too_high]
        if not shown:
            continue
        sizes = [size for size, _ in shown]
        called = f"{FLOOR}, a flag and a copy" if name == FLOOR else name
        axis.plot(sizes, [us for _, us in shown], label=called, **look.of_line())
        if name != FLOOR:  # a line to compare with, not an algorithm
            axis.fill_between(
                sizes,
                [p["q1_us"] for p in found[name]],
                [p["q3_us"] for p in found[name]],
                alpha=0.2,
                color=look.color,
                linewidth=0,
            )
    axis.set(yscale="log", xlabel="size of a block", ylabel="µs", title=title)
    style.mark(axis, (size for points in times.values() for size, _ in points), output.short_size)
    return missing
