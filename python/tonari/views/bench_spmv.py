# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench spmv`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tonari import output
from tonari.benchmark import verdicts
from tonari.benchmark.spmv_summary import KINDS, label, panels, simulated, typical
from tonari.benchmark.summary import mpi_of
from tonari.views import verdict, warnings
from tonari.views.bench import quartiles, time_of

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    first = rows[0]
    console.print(
        f"[bold]{escape(first['matrix'])}[/]: {first['rows']:,} rows, {first['nonzeros']:,} "
        f"nonzeros, partitioned by {first['dealt_out']}\n"
    )
    for (ranks, kind), members in panels(rows).items():
        one = members[0]
        console.print(
            f"[bold]{KINDS[kind]}[/]\n{mpi_of(one)}, {ranks} "
            f"rank{'s' if ranks > 1 else ''}, {_pattern(one)}"
        )
        console.print(_contest(typical(members)))
        _notes(console, members)
        console.print()
    for count in dict.fromkeys(row["ranks"] for row in simulated(rows)):
        members = [row for row in simulated(rows) if row["ranks"] == count]
        console.print(
            f"[bold]simulated[/]: forward exchange on {count:,} ranks, {_pattern(members[0])}"
        )
        console.print(_schemes(members))
        console.print(
            f"time under LogGP for {escape(members[0]['machine'])}, all blocks of their "
            "average size; words relative to direct",
            style="dim",
        )
        console.print()
    verdict.show(console, verdicts.of_spmv(rows))


def _pattern(row: Row) -> str:
    return (
        f"{row['words']:,} words, {row['avg_targets']:.1f} targets on average, at most "
        f"{row['most_targets']:,}"
    )


def _contest(rows: list[Row]) -> Table:
    table = output.table("candidate", "time", "quartiles", "init", "msgs", "vs native", "of best")
    best = min((row["median_us"] for row in rows if row["verified"]), default=None)
    for row in rows:
        ratios = [
            "" if row[key] is None else f"{row[key]:.2f}{unit}"
            for key, unit in (("ratio_native", " x"), ("ratio_best", ""))
        ]
        table.add_row(
            label(row),
            time_of(row["median_us"]),
            quartiles(row),
            output.time(row["init_us"]),
            "" if row["messages"] is None else f"{row['messages']:,}",
            *(ratios if row["verified"] else ["[red]WRONG[/]", ""]),
            style="bold" if row["verified"] and row["median_us"] == best else None,
        )
    return table


def _schemes(rows: list[Row]) -> Table:
    table = output.table("scheme", "average", "most", "words", "stages", "time")
    best = min(row["predicted_us"] for row in rows)
    for row in rows:
        cells = [
            f"{row['avg_messages']:,.1f}",
            f"{row['messages']:,}",
            f"{row['words_of_direct']:.2f}",
            f"{row['stages']}",
            output.time(row["predicted_us"]),
        ]
        table.add_row(label(row), *cells, style="bold" if row["predicted_us"] == best else None)
    return table


def _notes(console: Console, rows: list[Row]) -> None:
    console.print(
        f"median and quartiles of the slowest rank over {rows[0]['rounds']} rounds; msgs: of "
        "MPI, from the busiest rank",
        style="dim",
    )
    for row in typical(rows):
        if label(row).endswith("auto"):
            console.print(f"{label(row)}: {escape(row['chosen'])}", style="dim")
    warnings.show(console, rows, label, "native")
