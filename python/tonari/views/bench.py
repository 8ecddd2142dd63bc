# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tonari import output
from tonari.benchmark import verdicts
from tonari.benchmark.summary import FLOOR, fastest, label, mpi_of, overtaken, panels, typical
from tonari.views import verdict, warnings

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    for title, members in panels(rows).items():
        _title(console, title, members[0])
        console.print(_table(typical(members)))
        _notes(console, members)
        console.print()
    verdict.show(console, verdicts.of_bench(rows))


def show_setup(rows: list[Row]) -> None:
    console = output.console()
    for title, members in panels(rows).items():
        _title(console, title, members[0])
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("function", no_wrap=True)
        table.add_column("algorithm", no_wrap=True)
        for name in ("time", "quartiles", "lost"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in members:
            algorithm = f"auto, {row['tune']}" if row["algorithm"] == "auto" else row["algorithm"]
            lost = "" if row["lost_us"] is None else time_of(max(row["lost_us"], 0))
            table.add_row(
                row["function"], algorithm, time_of(row["median_us"]), quartiles(row), lost
            )
        console.print(table)
        console.print()
    verdict.show(console, verdicts.of_setup(rows))


def _title(console: Console, title: str, row: Row) -> None:
    hosts = f" on {row['hosts']} hosts" if row["hosts"] else ""
    console.print(
        f"[bold]{escape(title)}[/]: {row['neighbors']:,} neighbors, {mpi_of(row)}, "
        f"{row['ranks']} ranks{hosts}{' as ' if row['dims'] else ''}{row['dims']}"
        f"{' mesh' if row['mesh'] else ''}"
    )


def _name(row: Row) -> str:
    """As it was asked for; the channel has a column of its own."""
    return "/".join(word for word in row["requested"].split("/") if word != row["channel"])


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("block", justify="right", no_wrap=True)
    table.add_column("algorithm", no_wrap=True)
    table.add_column("channel", no_wrap=True)
    for name in ("time", "quartiles", "msgs", "vs native", "x floor"):
        table.add_column(name, justify="right", no_wrap=True)
    best = fastest(rows)
    before = None
    for row in rows:
        style = (
            "dim"
            if label(row) == FLOOR
            else "bold"
            if row["median_us"] == best.get(row["bytes"])
            else None
        )
        table.add_row(
            output.size(row["bytes"]) if row["bytes"] != before else "", *_cells(row), style=style
        )
        before = row["bytes"]
    return table


def _cells(row: Row) -> list[str]:
    messages = "" if row["messages"] is None else f"{row['messages']:,}"
    ratio = "" if row["ratio_native"] is None else f"{row['ratio_native']:.2f} x"
    floor = (
        ""
        if row["floor_ratio"] is None
        else f"{row['floor_ratio']:.2f}"
        if row["floor_ratio"] < 100
        else f"{row['floor_ratio']:.0f}"
    )
    return [
        _name(row),
        row["channel"],
        time_of(row["median_us"]),
        quartiles(row),
        messages,
        ratio if row["verified"] else "[red]WRONG[/]",
        floor,
    ]


def time_of(microseconds: float) -> str:
    return (
        f"{microseconds:.2f} µs"
        if microseconds < 10
        else f"{microseconds:.0f} µs"
        if 1e3 <= microseconds < 1e4
        else output.time(microseconds)
    )


def quartiles(row: Row) -> str:
    """Quartiles, in the unit of the median."""
    unit = 1 if row["median_us"] < 1e4 else 1e3 if row["median_us"] < 1e7 else 1e6
    values = (row["q1_us"] / unit, row["q3_us"] / unit)
    return "–".join(
        f"{value:.0f}" if value >= 1000 else f"{value:.2f}" if value < 1 else f"{value:.3g}"
        for value in values
    )


def _notes(console: Console, rows: list[Row]) -> None:
    for row in typical(rows):
        if row["requested"] == "auto":
            console.print(
                f"auto at {output.size(row['bytes'])}: {escape(row['chosen'])} ({row['reason']})",
                style="dim",
            )
    rounds = sorted({row["rounds"] for row in rows})
    console.print(
        "median and quartiles of the slowest rank over "
        f"{' to '.join(map(str, rounds[:1] + rounds[1:][-1:]))} rounds",
        style="dim",
    )
    for _, size, faster in overtaken(rows):
        console.print(
            f"At {output.size(size)} the floor took longer than {escape(faster)}: something "
            "disturbed it, so it is none there.",
            style="dim",
        )
    warnings.show(console, rows, label, "native")
