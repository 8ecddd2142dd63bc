# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench halo`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from tonari import output
from tonari.benchmark import verdicts
from tonari.benchmark.halo_summary import FLOORS, PAGES, computing, label, memory, sizes, typical
from tonari.benchmark.summary import mpi_of
from tonari.views import verdict, warnings
from tonari.views.bench import quartiles, time_of

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    for size, members in sizes(rows).items():
        found = typical(members)
        first = found[0]
        console.print(
            f"[bold]{size}³ cells per rank[/], ghosts of {first['ghost']}: {mpi_of(first)}, "
            f"{first['ranks']} ranks as {first['dims']}"
        )
        console.print(_exchanges(found))
        _notes(console, members)
        if first["stencil"] != "none":
            console.print()
            console.print(_steps(found))
            _computing(console, found)
        console.print()
    if any(row["storage"] == "mapped" for row in rows):
        console.print("[bold]padding of memmap's messages[/] in percent, by size and page")
        console.print(_padding(rows))
        console.print()
    verdict.show(console, verdicts.of_halo(rows))


def _faster(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} x" if value < 100 else f"{value:.0f} x"


def _of(value: float | None) -> str:
    return "" if value is None else "<.01" if value < 0.01 else f"{value:.2f}"


def _exchanges(rows: list[Row]) -> Table:
    table = output.table(
        "exchange",
        "time",
        "quartiles",
        "msgs",
        "vs\ntypes",
        "vs\npack",
        "of net-\nwork",
        "of its\nremote",
    )
    best = min(
        (row["median_us"] for row in rows if row["verified"] and row["exchange"] not in FLOORS),
        default=None,
    )
    for row in rows:
        style = (
            "dim"
            if row["exchange"] in FLOORS
            else "bold"
            if row["verified"] and row["median_us"] == best
            else None
        )
        compared = [
            _faster(row["ratio_datatypes"]),
            _faster(row["ratio_pack"]),
            _of(row["of_network"]),
            _of(row["of_network_remote"]),
        ]
        wrong = ["[red]WRONG[/]", "", "", ""]
        messages = "" if row["messages"] is None else f"{row['messages']:,}"
        table.add_row(
            label(row),
            time_of(row["median_us"]),
            quartiles(row),
            messages,
            *(compared if row["verified"] else wrong),
            style=style,
        )
    return table


def _steps(rows: list[Row]) -> Table:
    table = output.table(
        f"{rows[0]['stencil']} points, per step",
        "computing",
        "step",
        "quartiles",
        "exchange\nevery",
    )
    found = [row for row in rows if row["step_us"] is not None and row["verified"]]
    best = min((row["step_us"] for row in found), default=None)
    for row in found:
        spread = quartiles(
            {"median_us": row["step_us"], "q1_us": row["step_q1_us"], "q3_us": row["step_q3_us"]}
        )
        style = "bold" if row["step_us"] == best else None
        every = "step" if row["steps_per_exchange"] == 1 else f"{row['steps_per_exchange']} steps"
        table.add_row(
            label(row),
            time_of(row["compute_us"]),
            time_of(row["step_us"]),
            spread,
            every,
            style=style,
        )
    return table


def _computing(console: Console, rows: list[Row]) -> None:
    times = ", ".join(f"{name} {time_of(points[0][1])}" for name, points in computing(rows).items())
    console.print(f"own cells once: {times}", style="dim")
    percents = {
        memory(row): row["roofline_percent"] for row in rows if row["roofline_percent"] is not None
    }
    if percents:
        level = "memory" if rows[0]["roofline_of"] == "memory" else "the cache that cores share"
        console.print(
            f"of the speed of {level}: "
            f"{', '.join(f'{name} {value:.0f} %' for name, value in percents.items())}",
            style="dim",
        )


def _notes(console: Console, rows: list[Row]) -> None:
    console.print(
        f"median and quartiles of the slowest rank over {rows[0]['rounds']} rounds", style="dim"
    )
    if any(row["exchange"] in FLOORS for row in rows):
        console.print(
            "network: memmap's messages from plain buffers, to itself by MPI, as pack and "
            "datatypes send them; its remote: those to itself by memcpy, as tonari does",
            style="dim",
        )
    for row in typical(rows):
        if row["exchange"] == "auto":
            console.print(f"{label(row)}: {row['chosen']}", style="dim")
    warnings.show(console, rows, label, "network")


def _padding(rows: list[Row]) -> Table:
    table = output.table("page", *(f"{size}³" for size in sizes(rows)))
    for page in PAGES:
        table.add_row(
            output.size(page),
            *(f"{members[0][f'padding_percent_{page}']:.1f}" for members in sizes(rows).values()),
        )
    return table
