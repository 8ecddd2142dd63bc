# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench --regret`."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tonari import output
from tonari.benchmark import regret
from tonari.benchmark.regret import STATES

Row = dict[str, Any]


def show(rows: list[Row]) -> None:
    console = output.console()
    found = regret.losses(rows)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("exchange", "ranks", "block"):
        table.add_column(name, justify="left" if name == "exchange" else "right", no_wrap=True)
    for state in STATES:
        table.add_column(state, justify="right", no_wrap=True)
    table.add_column("fastest way", no_wrap=True)
    for row in found:
        table.add_row(
            f"{row['pattern']} {row['op']}",
            regret.where(row),
            output.size(row["bytes"]),
            *(_ratio(row, state) for state in STATES),
            row["cold_best"],
        )
    console.print(table)
    console.print(regret.verdict(found))


def _ratio(row: Row, state: str) -> str:
    text = f"{row[f'{state}_ratio']:.2f}"
    return f"[bold]{text}[/]" if row[f"{state}_missed"] else text
