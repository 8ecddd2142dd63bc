# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench sparse`, made for 80 columns."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rich.table import Table

from tonari import output
from tonari.benchmark import verdicts
from tonari.benchmark.summary import mpi_of
from tonari.views import verdict, warnings
from tonari.views.bench import quartiles, time_of

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    for (ranks, size), group in groupby(rows, lambda row: (row["ranks"], row["bytes"])):
        members = list(group)
        first = members[0]
        console.print(
            f"[bold]{output.size(size)}[/] to {first['targets']} of {ranks} ranks, {mpi_of(first)}"
        )
        console.print(_table(members))
        console.print(
            f"median and quartiles of the slowest rank over {first['rounds']} rounds; ratios: "
            "above 1 is faster",
            style="dim",
        )
        warnings.show(console, members, lambda row: row["algorithm"])
        console.print()
    verdict.show(console, verdicts.of_sparse(rows))


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("algorithm", no_wrap=True)
    for name in ("time", "quartiles", "vs\ncounts", "vs\ndense", "vs\nplain-nbx"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        chosen = f" ({row['chosen']})" if row["chosen"] not in ("", row["algorithm"]) else ""
        ratios = [row[f"ratio_{name}"] for name in ("counts", "dense", "plain_nbx")]
        table.add_row(
            row["algorithm"] + chosen,
            time_of(row["median_us"]) if row["verified"] else "[red]WRONG[/]",
            quartiles(row),
            *("" if ratio is None else f"{ratio:.2f} x" for ratio in ratios),
        )
    return table
