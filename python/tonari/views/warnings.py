# SPDX-License-Identifier: BSD-3-Clause
"""What readers of a table must know before they believe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console

Row = dict[str, Any]


def show(
    console: Console, rows: list[Row], label: Callable[[Row], str], compared_with: str = ""
) -> None:
    """Rows that are not verified, that something disturbed, and whose ratio_spread says that the
    ratio to `compared_with` moved between repeats."""
    wrong = dict.fromkeys(label(row) for row in rows if not row["verified"])
    if wrong:
        console.print(
            f"[red]Wrong data from {', '.join(wrong)}[/]: their times compare with nothing."
        )
    if any(row["disturbed"] for row in rows):
        console.print(
            "[yellow]Disturbed[/]: a ping-pong before and after shows that something else "
            "was running; repeat it."
        )
    moved = dict.fromkeys(label(row) for row in rows if (row.get("ratio_spread") or 0) > 0.1)
    if moved:
        console.print(
            f"[yellow]Unsteady[/]: between the repeats the ratio to {compared_with} moved by "
            f"more than 10 % for {', '.join(moved)}."
        )
