# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show: a line of text, and the rounds of a plan as a drawing."""

from __future__ import annotations

import html as escaping
import re
from typing import Any

from tonari.errors import Error
from tonari.grids import describe

OWN, SENT, FAINT = "#0072B2", "#D55E00", "#b8c2cc"
SEND = re.compile(r"send to +\((?P<to>[^)]*)\).*\[(?P<blocks>\d+) block")
CELL, GAP = 26, 18
MOST_REACH, MOST_ROUNDS = 7, 12

Sends = list[tuple[tuple[int, ...], int]]


def what(plan: Any) -> str:
    """26 offsets on a torus 2x2x2"""
    return f"{len(plan.offsets)} offsets on a {describe(plan.dims, plan.periodic)}"


def html(line: str, drawn: str) -> str:
    return f"<div><code>{escaping.escape(line)}</code>{drawn}</div>"


def fastest_rounds(plan: Any) -> str:
    """Of the algorithm that the model takes for blocks of 64 bytes."""
    try:
        rows = [row for row in plan.exchange(bytes=64).plans() if not row.reason]
    except (Error, ImportError):
        return ""
    best = min(rows, key=lambda row: row.predicted_us, default=None)
    return rounds(plan, "alltoall", best.algorithm, best.variant) if best else ""


def rounds(plan: Any, operation: str, algorithm: str, variant: str) -> str:
    """A drawing of what a rank in the middle sends, round by round; empty where none can be made:
    MPI's own collective, or no extension for planning."""
    op = "allgather" if "allgather" in operation else "alltoall"
    try:
        text = plan.exchange(op).draw(algorithm, variant, most_blocks=1)
    except (Error, ImportError, IndexError):
        return ""
    found = _sends(text)
    messages = counted(sum(map(len, found)), "message")
    caption = f"{algorithm}: {messages} in {counted(len(found), 'round')}"
    return _drawing(found, caption) if 0 < len(found) <= MOST_ROUNDS else f"<p>{caption}</p>"


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _sends(text: str) -> list[Sends]:
    """By round: the ways on which a rank sends, and how many blocks travel on each."""
    found: list[Sends] = []
    for line in text.splitlines():
        if line.startswith("round"):
            found.append([])
        elif (send := SEND.search(line)) and found:
            way = tuple(int(c) for c in send["to"].split(","))
            found[-1].append((way, int(send["blocks"])))
    return [sends for sends in found if sends]


def _flat(way: tuple[int, ...], reach: int) -> tuple[int, int]:
    """Where a way lies in the drawing: the first dimension downwards, the last one to the right;
    with more than two, planes lie side by side."""
    if len(way) == 1:
        return 0, way[0]
    side = 2 * reach + 2
    planes = 0
    for offset in way[:-2]:
        planes = planes * (2 * reach + 1) + offset
    return way[-2], way[-1] + side * planes


def _drawing(found: list[Sends], caption: str) -> str:
    ways = [way for sends in found for way, _ in sends]
    reach = max(abs(c) for way in ways for c in way)
    if reach > MOST_REACH or len(ways[0]) > 3:
        return f"<p>{escaping.escape(caption)}</p>"
    panels = [_panel(sends, reach, len(ways[0])) for sends in found]
    width, height = panels[0][1:]
    parts, y = [], GAP
    for number, (body, _, _) in enumerate(panels):
        title = (
            f'<text x="0" y="{y - 5}" font-size="11" fill="currentColor">round {number + 1}</text>'
        )
        parts.append(f'{title}<g transform="translate(0,{y})">{body}</g>')
        y += height + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" role="img"'
        f' font-family="sans-serif"><title>{escaping.escape(caption)}</title>{"".join(parts)}'
        f'<text x="0" y="{y - 5}" font-size="11" fill="currentColor">{escaping.escape(caption)}'
        "</text></svg>"
    )


def _panel(sends: Sends, reach: int, dims: int) -> tuple[str, int, int]:
    """Ranks as squares around the one in the middle; those that it sends to have the number of
    blocks that go there."""
    rows = range(-reach, reach + 1) if dims > 1 else range(1)
    planes = range(-reach, reach + 1) if dims == 3 else range(1)
    ways = [
        (plane, row, column)[3 - dims :]
        for plane in planes
        for row in rows
        for column in range(-reach, reach + 1)
    ]
    blocks = dict(sends)
    places = {way: _flat(way, reach) for way in ways}
    left = min(x for _, x in places.values())
    top = min(y for y, _ in places.values())
    parts = []
    for way, (y, x) in places.items():
        at = (CELL * (x - left), CELL * (y - top))
        color = OWN if not any(way) else SENT if way in blocks else FAINT
        size = CELL - 4
        parts.append(
            f'<rect x="{at[0]}" y="{at[1]}" width="{size}" height="{size}" rx="3" fill="{color}"/>'
        )
        if way in blocks:
            parts.append(
                f'<text x="{at[0] + size / 2}" y="{at[1] + size / 2 + 4}" font-size="11"'
                f' text-anchor="middle" fill="white">{blocks[way]}</text>'
            )
    right = max(x for _, x in places.values())
    return "".join(parts), CELL * (right - left + 1), CELL * len(rows)
