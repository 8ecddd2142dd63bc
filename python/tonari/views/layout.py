# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari layout`, made for 80 columns."""

from __future__ import annotations

from itertools import product
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.table import Table

from tonari import output

MOST_DRAWN = 3  # dimensions


def show(order: Any) -> None:
    """Prints everything about an order of surface regions."""
    console = output.console()
    console.print(
        f"[bold]{order.dims}-d surface[/]: {order.neighbors:,} regions, {order.neighbors:,} "
        "neighbors\n"
    )
    console.print(_messages(order))
    console.print()
    console.print(_neighbors(order))
    _picture(console, order)
    console.print("\nOrder, a sign per dimension:", style="dim")
    console.print(
        fill(
            " ".join(order.texts),
            78,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        ),
        markup=False,
    )


def _messages(order: Any) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    reached = (
        "the least there can be"
        if order.messages == order.bound
        else f"{order.messages - order.bound:,} more than the bound"
    )
    table.add_row("messages", f"{order.messages:,}", reached)
    table.add_row("bound", f"{order.bound:,}", "no order has fewer")
    table.add_row("basic", f"{order.basic:,}", "every region by itself to each neighbor")
    table.add_row("packed, or mapped", f"{order.neighbors:,}", "one for each neighbor")
    return table


def _neighbors(order: Any) -> Table:
    """What a neighbor gets depends on how many of its signs are not zero."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("neighbors with", "neighbors", "regions each", "messages each", "messages"):
        table.add_column(name, justify="left" if name == "neighbors with" else "right")
    for level in range(1, order.dims + 1):
        counts = [len(order.runs(neighbor)) for neighbor in directions(order.dims, level)]
        least, most = min(counts), max(counts)
        each = f"{least}" if least == most else f"{least} to {most}"
        table.add_row(
            f"{level} sign{'s' if level > 1 else ''}",
            f"{len(counts):,}",
            f"{3 ** (order.dims - level):,}",
            each,
            f"{sum(counts):,}",
        )
    return table


def directions(dims: int, level: int) -> list[str]:
    """All sign vectors of which `level` signs are not zero."""
    return [
        "".join(signs) for signs in product("-0+", repeat=dims) if signs.count("0") == dims - level
    ]


def _picture(console: Console, order: Any) -> None:
    """Places in storage where the regions lie."""
    if order.dims > MOST_DRAWN:
        return
    place = {text: str(i) for i, text in enumerate(order.texts)}
    lines = []
    for up in "+0-" if order.dims > 1 else " ":
        slabs = [
            " ".join(f"{place.get((right + up + slab).strip(), '·'):>3}" for right in "-0+")
            for slab in ("-0+" if order.dims > 2 else " ")
        ]
        lines.append("  " + "    ".join(slabs))
    where = ["first dimension to the right", "second up", "third from square to square"][
        : order.dims
    ]
    console.print(f"\nWhere in storage each region lies ({', '.join(where)}):", style="dim")
    console.print("\n".join(lines), markup=False)
