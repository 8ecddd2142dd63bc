# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari plan inplace`, made for 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tonari import output

MOST_DRAWN = 16  # ranks

Steps = Sequence[Sequence[int]]


def show(steps_of: Mapping[str, Steps]) -> None:
    """How many steps each order takes, and for few ranks the step of each pair."""
    console = output.console()
    ranks = len(next(iter(steps_of.values())))
    console.print(f"[bold]swaps[/] between {ranks:,} ranks\n")
    table = output.table("order", "steps", "most idle ranks in a step")
    for name, steps in steps_of.items():
        last = max(map(max, steps))
        table.add_row(name, f"{last:,}", f"{_most_idle(steps, last):,}")
    console.print(table)
    if ranks > MOST_DRAWN:
        return
    for name, steps in steps_of.items():
        console.print(f"\n{name}, the step of ranks i (down) and j (to the right):")
        for row in steps:
            console.print(" ".join(f"{step or '·':>4}" for step in row), markup=False)


def _most_idle(steps: Steps, last: int) -> int:
    """Of all steps, from the first to the last."""
    busy = [0] * (last + 1)
    for row in steps:
        for step in row:
            busy[step] += bool(step)
    return max((len(steps) - count for count in busy[1:]), default=0)
