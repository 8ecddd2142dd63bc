# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari run --explain`, on standard error: the program has the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from tonari import output


def warn(library: str, therefore: str) -> None:
    """What the user asked for has not happened, whatever the program did."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"tonari: warning: no rank has loaded {library}: {therefore}.")
    console.print("Does the command set LD_PRELOAD itself (-x, -genv, --app, env)? Is the program")
    console.print("linked statically? Can ranks write into this folder?")


def show(rows: Sequence[Mapping[str, Any]], killed: bool) -> None:
    """A line for each place that calls, and what decided. killed: ranks may have ended before they
    could tell, as after MPI_Abort."""
    console = Console(stderr=True, highlight=False)
    if killed:
        console.print(
            "tonari: the program did not end as it should. Ranks that aborted or were killed"
        )
        console.print("have left no records of their calls.")
    if not rows:
        if not killed:
            console.print("tonari: the program made no neighborhood collective")
        return
    table = output.table("call", "calls", "by tonari", "bytes", "tonari", "MPI", "first")
    for row in rows:
        name = row["call"].removeprefix("MPI_")
        table.add_row(
            name,
            f"{row['calls']:,}",
            f"{row['through_tonari']:,}",
            output.size(row["bytes"]),
            _time(row["us"]),
            _time(row["native_us"]),
            _time(row["setup_us"]),
        )
        table.add_row(f"  {row['site']} ({row['why']})", style="dim")
    console.print("tonari: all ranks together; times are means of a call. The first one on a")
    console.print("communicator is apart: it may connect the neighbors.")
    console.print(table)


def _time(microseconds: float | None) -> str:
    return "-" if microseconds is None else output.time(microseconds)
