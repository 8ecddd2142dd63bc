# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench inplace`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from tonari import output
from tonari.benchmark import verdicts
from tonari.benchmark.inplace_plot import exchanges, label
from tonari.benchmark.summary import mpi_of
from tonari.views import verdict, warnings
from tonari.views.bench import quartiles, time_of

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    for count in dict.fromkeys(row["ranks"] for row in rows):
        for kind, members in exchanges(row for row in rows if row["ranks"] == count).items():
            first = members[0]
            moved = (
                f"{output.size(first['total_bytes'])} per rank, "
                f"{output.size(first['moved_bytes'])} move"
            )
            console.print(
                f"[bold]{kind}[/]: {mpi_of(first)}, {count} rank{'s' if count > 1 else ''}, {moved}"
            )
            console.print(_table(members))
            _notes(console, members)
            console.print()
    verdict.show(console, verdicts.of_inplace(rows))


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("algorithm", no_wrap=True)
    table.add_column("budget", justify="right", no_wrap=True)
    table.add_column("channel", no_wrap=True)
    for name in ("time", "quartiles", "vs\nnative", "of\nfloor", "extra\nmemory"):
        table.add_column(name, justify="right", no_wrap=True)
    best = min((row["median_us"] for row in rows if row["verified"]), default=None)
    for row in rows:
        table.add_row(
            *_cells(row), style="bold" if row["verified"] and row["median_us"] == best else None
        )
    return table


def _cells(row: Row) -> list[str]:
    def ratio(key: str, unit: str) -> str:
        return "" if row[key] is None else f"{row[key]:.2f}{unit}"

    return [
        row["algorithm"],
        "" if row["budget_bytes"] is None else output.size(row["budget_bytes"]),
        row["channel"],
        time_of(row["median_us"]),
        quartiles(row),
        ratio("ratio_native", " x") if row["verified"] else "[red]WRONG[/]",
        ratio("of_floor", ""),
        output.size(row["peak_extra_bytes"]),
    ]


def _notes(console: Console, rows: list[Row]) -> None:
    first = rows[0]
    console.print(
        f"median and quartiles of the slowest rank over {first['rounds']} rounds; native: "
        "native-inplace",
        style="dim",
    )
    console.print(f"memory: {first['peak_method']}", style="dim")
    warnings.show(console, rows, label)
