# SPDX-License-Identifier: BSD-3-Clause
"""Time over ranks, and the memory that it takes beside it: one line per algorithm and budget."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark import style
from tonari.benchmark.summary import mpi_of

Row = dict[str, Any]


def label(row: Row, channels: bool = False) -> str:
    """The algorithm, with its budget and, where several were asked for, its channel."""
    if row["budget_bytes"] is None:
        return str(row["algorithm"])
    return f"{row['algorithm']}, {output.short_size(row['budget_bytes'])}" + (
        f", {row['requested_channel']}" if channels else ""
    )


def exchanges(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by kind of exchange: symmetric, general."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["exchange"], []).append(row)
    return found


def series(rows: list[Row]) -> dict[str, list[Row]]:
    """Points over ranks; wrong results have none."""
    several = len({row["requested_channel"] for row in rows if row["budget_bytes"] is not None}) > 1
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["verified"]:
            found.setdefault(label(row, several), []).append(row)
    return {
        name: sorted(points, key=lambda point: point["ranks"]) for name, points in found.items()
    }


def draw(rows: list[Row], file: Path) -> None:
    style.save(make(rows), file)


def make(rows: list[Row]) -> Any:
    """The figure."""
    kinds = exchanges(rows)
    figure, axes = style.make_figure(len(kinds), 2, 7.5, 4.8)
    missing: list[str] = []
    for (time, memory), (kind, members) in zip(axes, kinds.items()):
        missing += _draw_kind(time, memory, kind, members)
    first = rows[0]
    title = f"{mpi_of(first)}, {output.size(first['total_bytes'])} per rank, {first['sizes']} sizes"
    return style.finish(figure, title, style.left_out(missing, "--algorithms", len(kinds)))


def _draw_kind(time: Any, memory: Any, kind: str, rows: list[Row]) -> list[str]:
    """Time and memory of one kind of exchange; the names of lines that are left out."""
    found = series(rows)
    times = {
        name: [(point["ranks"], point["median_us"]) for point in points]
        for name, points in found.items()
    }
    drawn, missing = style.choose(times, _matter(found, times))
    for name, look in style.looks(drawn).items():
        points = found[name]
        ranks = [point["ranks"] for point in points]
        line = look.of_line() | {"label": name}
        time.plot(ranks, [point["median_us"] / 1e3 for point in points], **line)
        time.fill_between(
            ranks,
            [p["q1_us"] / 1e3 for p in points],
            [p["q3_us"] / 1e3 for p in points],
            alpha=0.15,
            color=look.color,
            linewidth=0,
        )
        memory.plot(ranks, [point["peak_extra_bytes"] for point in points], **line)
    time.set(
        ylabel="ms", yscale="log", title=f"{kind}: time, median and quartiles of the slowest rank"
    )
    memory.set(title=f"{kind}: extra memory at its peak, the most of all ranks")
    memory.set_yscale("symlog", linthresh=4096, base=4)  # nothing at all is a result, too
    memory.yaxis.set_major_formatter(lambda count, _: output.short_size(int(count)))
    for axis in (time, memory):
        axis.set_xlabel("ranks")
        style.mark(axis, (row["ranks"] for row in rows))
    return missing


def _matter(found: dict[str, list[Row]], times: dict[str, list[tuple[int, float]]]) -> list[str]:
    """What MPI does, and the fastest with each budget."""
    by_budget: dict[Any, list[str]] = {}
    for name, points in found.items():
        by_budget.setdefault(points[0]["budget_bytes"], []).append(name)
    of_mpi = by_budget.pop(None, [])
    return of_mpi + [name for names in by_budget.values() for name in style.fastest(times, names)]
