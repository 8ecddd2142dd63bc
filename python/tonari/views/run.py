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
    console.print("tonari: all ranks together; times are means of a call. The first one on a")
    console.print("communicator is apart: it may connect the neighbors.")
    for row in rows:
        console.print()
        for line in paragraph(row):
            console.print(line, soft_wrap=True)


def paragraph(row: Mapping[str, Any]) -> list[str]:
    """Where, what, who did it, and how long it took; no line is wider than 80 columns but by
    names of the program's own."""
    where = row["site"] + (f" in {row['function']}" if row.get("function") else "")
    calls, ours = row["calls"], row["through_tonari"]
    lines = [
        where,
        f"  {row['call'].removeprefix('MPI_')}, {calls:,} times, {output.size(row['bytes'])}",
        f"  by tonari {_done(ours, row['us'])}; by the MPI {_done(calls - ours, row['native_us'])}",
    ]
    if row["setup_us"] is not None:
        lines.append(f"  first calls {_time(row['setup_us'])}")
    return [*lines, f"  why: {row['why']}"]


def _done(calls: int, microseconds: float | None) -> str:
    took = "" if microseconds is None else f" at {_time(microseconds)}"
    return f"{calls:,}{took}" if calls else "none"


def _time(microseconds: float | None) -> str:
    return "-" if microseconds is None else output.time(microseconds)
