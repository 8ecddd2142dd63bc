#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the speed-ups of docs/figures/speedups.csv for README.md and docs/performance.md, once for
light and once for dark pages.

tools/draw_speedups.py          writes docs/figures/speedups-light.svg, speedups-dark.svg and both
                                for narrow screens
tools/draw_speedups.py --check  says whether they are what the rows give; exits with 1 if not

A row has the least and the largest ratio that was measured: the time of the fastest alternative of
MPI over that of tonari. Axes are logarithmic, so that 2 and 1/2 are equally far from 1.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import log2
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/figures")
MPIS = ("Open MPI", "MPICH")

# Pixels.
TOP = 74
BAR, STEP, GAP = 8, 12, 8  # of bars and between them, of exchanges
LEAST, MOST = 0.0625, 32  # where the axis begins and ends
TICKS = (0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Layout:
    """Where things are: names beside their bars, or above them on narrow screens."""

    name: str  # part of the file's name
    width: int
    left: int
    right: int
    line: int  # height of a case
    above: bool
    title: tuple[str, ...]

    def x_of(self, ratio: float) -> float:
        part = log2(ratio / LEAST) / log2(MOST / LEAST)
        return round(self.left + part * (self.width - self.left - self.right), 1)


WIDE = Layout(
    "", 820, 356, 86, 28, False,
    ("How many times as fast as the best that MPI offers for the same exchange",),
)  # fmt: skip
NARROW = Layout(
    "narrow-", 360, 20, 66, 46, True,
    ("How many times as fast as the best", "that MPI offers for the same exchange"),
)  # fmt: skip
LAYOUTS = (WIDE, NARROW)


@dataclass(frozen=True)
class Theme:
    """Colors; those of MPIs are Okabe and Ito's or lighter forms of them."""

    name: str
    text: str
    faint: str
    grid: str
    mpis: tuple[str, str]


THEMES = (
    Theme("light", "#1f2328", "#59636e", "#d1d9e0", ("#0072B2", "#D55E00")),
    Theme("dark", "#f0f6fc", "#9198a1", "#3d444d", ("#56B4E9", "#F0A35E")),
)


@dataclass(frozen=True)
class Row:
    exchange: str
    ranks: str
    case: str
    mpi: str
    low: float
    high: float
    said: str  # as it stands in docs/performance.md: "18 to 23"


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row_of(cells) for cells in csv.DictReader(file)]


def row_of(cells: dict[str, str]) -> Row:
    low, high = float(cells["low"]), float(cells["high"])
    if cells["mpi"] not in MPIS or not LEAST <= low <= high <= MOST:
        raise ValueError(f"{cells}: the MPI is one of {MPIS}, and {LEAST} <= low <= high <= {MOST}")
    said = cells["low"] if low == high else f"{cells['low']} to {cells['high']}"
    return Row(cells["exchange"], cells["ranks"], cells["case"], cells["mpi"], low, high, said)


def text(x: float, y: float, words: str, fill: str, **more: object) -> str:
    others = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x}" y="{y}" fill="{fill}"{others}>{escape(words)}</text>'


def line(x: float, top: float, bottom: float, stroke: str, width: float) -> str:
    ends = f'x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{width}"/>'


def bar(row: Row, y: float, theme: Theme, layout: Layout) -> Iterator[str]:
    """From the least to the largest ratio, at least a dot wide, with its numbers behind it."""
    color = theme.mpis[MPIS.index(row.mpi)]
    left, right = layout.x_of(row.low), layout.x_of(row.high)
    if right - left < BAR:
        left, right = (left + right - BAR) / 2, (left + right + BAR) / 2
    size = f'width="{right - left:.1f}" height="{BAR}" rx="{BAR / 2:g}"'
    yield f'<rect x="{left:.1f}" y="{y:g}" {size} fill="{color}"/>'
    yield text(round(right + 5, 1), y + BAR, row.said, theme.faint, font_size=11)


def case_lines(rows: list[Row], y: float, theme: Theme, layout: Layout) -> Iterator[str]:
    """One case, with a bar for each MPI."""
    first = rows[0]
    name = f"{first.case}, {first.ranks}"
    if layout.above:
        yield text(layout.left, y + 12, name, theme.text)
    else:
        yield text(layout.left - 14, y + layout.line / 2 + 4, name, theme.text, text_anchor="end")
    room = layout.line - (18 if layout.above else 0)
    top = y + layout.line - room + (room - (len(rows) - 1) * STEP - BAR) / 2
    for k, row in enumerate(rows):
        yield from bar(row, top + k * STEP, theme, layout)


def axis(bottom: float, theme: Theme, layout: Layout) -> Iterator[str]:
    for number, tick in enumerate(TICKS):
        x, one = layout.x_of(tick), tick == 1
        yield line(x, TOP - 8, bottom, theme.text if one else theme.grid, 1.5 if one else 1)
        shown = f"{tick:g}×" if tick >= 1 else f"1/{1 / tick:g}×"
        if not layout.above or number % 2 == 0:
            yield text(x, bottom + 18, shown, theme.faint, text_anchor="middle", font_size=12)
    below, one = bottom + 38, layout.x_of(1)
    yield text(one - 8, below, "← MPI is faster", theme.faint, text_anchor="end", font_size=12)
    yield text(one + 8, below, "tonari is faster →", theme.faint, font_size=12)


def legend(theme: Theme, layout: Layout) -> Iterator[str]:
    for k, words in enumerate(layout.title):
        y = 26 - 10 * (len(layout.title) - 1) + 18 * k
        points = 14 if layout.above else 16
        yield text(16, y, words, theme.text, font_size=points, font_weight=600)
    x, y = (layout.left, 57) if layout.above else (layout.left, 49)
    for name, color in zip(MPIS, theme.mpis, strict=True):
        size = f'width="18" height="{BAR}" rx="{BAR / 2:g}"'
        yield f'<rect x="{x}" y="{y - 9}" {size} fill="{color}"/>'
        yield text(x + 24, y, name, theme.text, font_size=12)
        x += 90 if layout.above else 110
    ranges = "range of several runs" if layout.above else "least to largest of several runs"
    yield text(x, y, ranges, theme.faint, font_size=12)


def drawing(rows: list[Row], theme: Theme, layout: Layout = WIDE) -> str:
    parts: list[str] = []
    y: float = TOP
    for exchange, cases in groupby(rows, key=lambda row: row.exchange):
        base = 14 if layout.above else layout.line / 2 + 4
        parts.append(text(16, y + base, exchange, theme.text, font_weight=600))
        y += 20 if layout.above else 0
        for _, same in groupby(cases, key=lambda row: (row.case, row.ranks)):
            parts += case_lines(list(same), y, theme, layout)
            y += layout.line
        y += GAP
    height = y + 48
    font = "-apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {height:g}" '
            f'width="{layout.width}" height="{height:g}" font-family="{font}" font-size="13">',
            *legend(theme, layout),
            *axis(y, theme, layout),
            *parts,
            "</svg>",
            "",
        ]
    )


def drawings(root: Path) -> dict[Path, str]:
    rows = read(root / FOLDER / "speedups.csv")
    return {
        root / FOLDER / f"speedups-{layout.name}{theme.name}.svg": drawing(rows, theme, layout)
        for layout in LAYOUTS
        for theme in THEMES
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the speed-ups.")
    parser.add_argument("--check", action="store_true", help="only say whether they are drawn")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the checkout to look at")
    options = parser.parse_args(arguments)
    stale = []
    for path, wanted in drawings(options.root).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != wanted:
            stale.append(path.name)
            if not options.check:
                path.write_text(wanted, encoding="utf-8")
    if stale and options.check:
        print(f"not what the rows give: {', '.join(stale)}; run tools/draw_speedups.py")
    return int(bool(stale and options.check))


if __name__ == "__main__":
    sys.exit(main())
