# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a plot that lie on each other: each lower one is wider than those on top of it, so that
all can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

NEAR = 2.5  # points, between lines that lie on each other
WIDER = 2.2  # points, from one line of a pile to the next below it
WIDEST = 9.0  # points, more than the top one


def tell_apart(axis: Any, thin: str) -> None:
    """Lines of the color `thin` stay thin, and lie on top."""
    lines = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
    places = [_places(axis, line) for line in lines]
    for pile in piles(places):
        members = [lines[k] for k in pile]
        on_top = [line for line in members if line.get_color() == thin]
        below = [line for line in members if line.get_color() != thin]
        step = min(WIDER, WIDEST / max(len(below) - 1, 1))
        for k, line in enumerate(below):
            more = step * (len(below) - 1 - k)
            line.set(linewidth=line.get_linewidth() + more, zorder=2 + k / len(below))
            line.set_markersize(line.get_markersize() + more)
        if below:
            for line in on_top:
                line.set_zorder(4)


def piles(places: Sequence[dict[float, float]]) -> list[list[int]]:
    """The numbers of lines that lie on each other, directly or by way of others, in their order.
    Of each line there are its heights, in points."""
    found: list[list[int]] = []
    for k, line in enumerate(places):
        joined = [pile for pile in found if any(_on_each_other(line, places[i]) for i in pile)]
        found = [pile for pile in found if pile not in joined]
        found.append(sorted([k, *(i for pile in joined for i in pile)]))
    return [pile for pile in found if len(pile) > 1]


def _on_each_other(a: dict[float, float], b: dict[float, float]) -> bool:
    """From one point to the next, or at the only one."""
    near = [abs(a[x] - b[x]) < NEAR for x in sorted(a.keys() & b.keys())]
    return any(one and other for one, other in pairwise(near)) if len(near) > 1 else near == [True]


def _places(axis: Any, line: Any) -> dict[float, float]:
    ends = axis.transData.transform(line.get_xydata())
    return {
        float(x): float(y) * 72 / axis.figure.dpi
        for x, (_, y) in zip(line.get_xdata(), ends, strict=True)
    }
