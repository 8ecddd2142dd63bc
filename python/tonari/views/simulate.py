# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari simulate`, made for 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape

from tonari import machines, output
from tonari.simulation import Row


def show(
    title: str,
    rows: Sequence[Row],
    machine: str,
    left_out: Sequence[str] = (),
    each: str = "",
) -> None:
    """A table, and how it came about. left_out: algorithms that are impossible here, or not
    expected to pay; each: what to say of running every rank."""
    console = output.console()
    if not rows:
        console.print("No algorithm is expected to pay here; name one with --algorithms.")
        return
    op, counts = rows[0].job.op or "GOAL", list(dict.fromkeys(row.job.ranks for row in rows))
    on = " and ".join(f"{count:,}" for count in counts)
    console.print(f"[bold]{escape(title)}[/]: {op} on {on} ranks\n")
    several = ["ranks"] if counts[1:] else []
    table = output.table("algorithm", *several, "block", "time", "events", "wall", "peak")
    for row in rows:
        name = row.job.algorithm + (f", {row.variant}" if row.variant else "")
        table.add_row(
            escape(name),
            *([f"{row.job.ranks:,}"] if several else []),
            "" if row.job.bytes is None else output.short_size(row.job.bytes),
            output.time(row.simulation.predicted_us),
            f"{row.simulation.events:,}",
            f"{row.wall_s:,.2f} s",
            output.size(int(row.peak_mib * 2**20)),
        )
    console.print(table)
    if left_out:
        console.print(
            f"\nLeft out: {', '.join(left_out)}; --every-algorithm simulates all that are possible."
        )
    alike = sum(row.simulation.alike for row in rows)
    if alike:
        console.print(
            f"\nOne rank stood for all in {alike} of {len(rows)} rows: all ranks do the same at the"
            f"\nsame time.{each}"
        )
    console.print(
        "\nTimes are those of "
        + (
            escape(machines.name_of(machine))
            if machine
            else "a generic machine; --machine FILE describes another"
        )
        + "."
    )
