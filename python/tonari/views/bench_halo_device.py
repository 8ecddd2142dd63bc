# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench halo --device`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tonari import output
from tonari.views.bench import quartiles, time_of

Row = dict[str, Any]
FLOORS = ("copy", "launch")


def show(rows: list[Row]) -> None:
    console = output.console()
    for size in dict.fromkeys(row["size"] for row in rows):
        members = [row for row in rows if row["size"] == size]
        first = members[0]
        console.print(f"[bold]{size}³ cells[/], ghosts of {first['ghost']}: {first['device']}")
        if first["simulated"]:
            console.print("There is no GPU: devices are simulated, and times mean nothing.")
        console.print(_exchanges([row for row in members if not _computes(row)]))
        steps = [row for row in members if _computes(row)]
        if steps:
            console.print(_steps(steps))
        console.print(
            f"median and quartiles of {first['rounds']} rounds; in each, exchanges follow one "
            "another in a stream",
            style="dim",
        )
        console.print()


def _computes(row: Row) -> bool:
    return row["exchange"].startswith(("stencil-", "copy-all"))


def _label(row: Row) -> str:
    return f"{row['storage']}/{row['exchange']}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _exchanges(rows: list[Row]) -> Table:
    table = output.table(
        "exchange",
        "time",
        "quartiles",
        "launches",
        "pieces",
        "of\ncopy",
        "vs\nlaunches",
        "vs\ntypes",
    )
    for row in rows:
        moves = row["bytes"] > 0 or row["exchange"] == "launch"
        compared = [_times(row[key]) for key in ("of_copy", "ratio_launches", "ratio_datatypes")]
        if not row["verified"]:
            compared = ["[red]WRONG[/]", "", ""]
        table.add_row(
            _label(row),
            time_of(row["median_us"]) if moves else "nothing",
            quartiles(row) if moves else "",
            str(row["launches"]),
            str(row["pieces"]),
            *(compared if moves or not row["verified"] else ["", "", ""]),
            style="dim" if row["exchange"] in FLOORS else None,
        )
    return table


def _steps(rows: list[Row]) -> Table:
    """What a step reads and writes at least, by time; and of the speed of a copy."""
    table = output.table("computing", "time", "quartiles", "GB/s", "of a copy's\nspeed")
    for row in rows:
        moved = row["bytes"] * (2 if row["exchange"] == "copy-all" else 1)
        speed = moved / row["median_us"] / 1e3
        copies = [
            2 * other["bytes"] / other["median_us"] / 1e3
            for other in rows
            if other["exchange"] == "copy-all" and other["storage"] == row["storage"]
        ]
        of_copy = f"{100 * speed / copies[0]:.0f} %" if copies else ""
        table.add_row(
            _label(row),
            time_of(row["median_us"]),
            quartiles(row),
            f"{speed:,.0f}",
            of_copy if row["verified"] else "[red]WRONG[/]",
        )
    return table
