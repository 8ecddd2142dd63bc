# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari predict`, made for 80 columns, and its picture: a map of the fastest
algorithms over ranks and sizes of blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from tonari import machines, output
from tonari.benchmark import style
from tonari.prediction import Point

GENERIC = "the generic machine"
WIDTH = 79


def show(title: str, points: Sequence[Point]) -> None:
    """A table for each machine, and where its values come from."""
    console = output.console()
    console.print(f"[bold]{escape(title)}[/]: {points[0].op}, the fastest algorithm\n")
    for machine in dict.fromkeys(point.machine for point in points):
        some = [point for point in points if point.machine == machine]
        console.print(f"[bold]{escape(machines.name_of(machine) or GENERIC)}[/]")
        console.print(_table(some))
        console.print("\n".join(map(escape, origin(machine))) + "\n")
    console.print(
        "The number behind a name: how many times as long a message per block takes, as\n"
        "MPI libraries send it."
    )


def _table(points: Sequence[Point]) -> Any:
    counts = list(dict.fromkeys(point.ranks for point in points))
    table = output.table("block", *(f"{ranks:,} ranks" for ranks in counts))
    for size in dict.fromkeys(point.bytes for point in points):
        row = {point.ranks: point for point in points if point.bytes == size}
        table.add_row(
            output.short_size(size),
            *(escape(cell(row[ranks])) if ranks in row else "" for ranks in counts),
        )
    return table


def cell(point: Point) -> str:
    """torus 2.4"""
    ratio = point.speedup
    return point.fastest.algorithm + ("" if ratio is None else f" {ratio:.1f}")


def origin(machine: str) -> list[str]:
    """Which of its values a file gives, and which are those of the generic machine."""
    if not machine:
        return []
    file = machines.read(machine)
    given = [value.name for value in file.values if value.name != machines.OTHERWISE]
    sourced = any(value.source for value in file.values)
    where = "Published, with their sources in the file" if sourced else "From the file"
    text = f"{where}: {', '.join(given) or 'none'}."
    if file.generic:
        text += f" Of the generic machine: {', '.join(file.generic)}."
    return textwrap.wrap(text, WIDTH)


def draw(points: Sequence[Point], title: str, file: Path) -> None:
    style.save(make(points, title), file)


def make(points: Sequence[Point], title: str) -> Any:
    """The figure: a map for each machine, whose cells have the color of the fastest algorithm."""
    names = list(dict.fromkeys(point.machine for point in points))
    columns = min(len(names), 3)
    rows = -(-len(names) // columns)
    figure, axes = style.make_figure(rows, columns, 4.6, 3.6)
    for axis, machine in zip(axes.flat, names):
        _map(axis, [point for point in points if point.machine == machine])
        axis.set_title(machines.name_of(machine) or GENERIC)
    for axis in list(axes.flat)[len(names) :]:
        axis.set_visible(False)
    caption = "In a cell: the fastest algorithm, and how many times as long a message per block "
    return style.finish(figure, title, caption + "takes, as MPI libraries send it.")


def _map(axis: Any, points: Sequence[Point]) -> None:
    counts = sorted({point.ranks for point in points})
    sizes = sorted({point.bytes for point in points})
    for point in points:
        x, y = counts.index(point.ranks), sizes.index(point.bytes)
        color = style.color_of(point.fastest.algorithm)
        axis.fill_between([x - 0.5, x + 0.5], y - 0.5, y + 0.5, color=color, alpha=0.35, lw=0)
        text = cell(point).replace(" ", "\n")
        axis.text(x, y, text, ha="center", va="center", fontsize=style.SMALL - 1)
    axis.set_xticks(range(len(counts)), [f"{ranks:,}" for ranks in counts])
    axis.set_yticks(range(len(sizes)), [output.short_size(size) for size in sizes])
    axis.set(xlim=(-0.5, len(counts) - 0.5), ylim=(-0.5, len(sizes) - 0.5))
    axis.set(xlabel="ranks", ylabel="block")
