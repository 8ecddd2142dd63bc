# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari bench --predictions`."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tonari import output
from tonari.benchmark import predictions
from tonari.benchmark.regret import where


def show(rows: list[dict[str, Any]]) -> None:
    console = output.console()
    found = predictions.compared(rows)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("exchange", "ranks", "block", "within 2x", "measured/predicted"):
        table.add_column(name, justify="left" if name == "exchange" else "right", no_wrap=True)
    table.add_column("farthest off", no_wrap=True)
    for exchange in found:
        row, ratios = exchange.row, exchange.ratios
        worst = max(ratios, key=lambda way: max(ratios[way], 1 / ratios[way]))
        table.add_row(
            f"{row['pattern']} {row['op']}",
            where(row),
            output.size(row["bytes"]),
            f"{exchange.near} of {len(ratios)}",
            f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f}",
            worst,
        )
    console.print(table)
    console.print(predictions.verdict(found))
