# SPDX-License-Identifier: BSD-3-Clause
"""How all plots look: which color a candidate has, which of many candidates are drawn, and names at
the ends of their lines.

A candidate has the same color in every plot. The colors are those of Okabe and Ito (2008, "Color
Universal Design"), which color-blind people can tell apart; where two lines of a plot share one,
they differ in dashes and markers. Of lines that lie on each other, the lower ones are wider.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any
from zlib import crc32

from tonari.benchmark.overlap import tell_apart
from tonari.errors import Error

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, BLACK)
GRAY = "#7F7F7F"  # what none can leave out, which is no candidate
MOST = 8
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D")
SMALL = 8  # points, of labels and captions
NARROW = 0.06  # of the width of the axes: what is marked nearer would overlap
Point = tuple[float, float]

# MPI is orange and red, what tonari chooses is black, and what it can be told to do has the rest.
COLORS = {
    **dict.fromkeys(("auto", "one-shot"), BLACK),
    **dict.fromkeys(("native", "native-nonblocking", "native-persistent"), VERMILION),
    **dict.fromkeys(("native-inplace", "datatypes", "tonari-datatypes", "dense"), VERMILION),
    **dict.fromkeys(("irecv", "irecv-persistent", "native-out-of-place"), ORANGE),
    **dict.fromkeys(("sendrecv-replace", "pack", "tonari-pack", "counts"), ORANGE),
    **dict.fromkeys(("linear", "direct", "linear-shift", "layout"), BLUE),
    **dict.fromkeys(("torus", "tree", "balanced", "hierarchical-sets", "memmap"), GREEN),
    **dict.fromkeys(("torus-direct", "coloring", "store-and-forward", "mpich-order"), SKY),
    **dict.fromkeys(("shift", "common-neighborhood", "group", "plan"), SKY),
    **dict.fromkeys(("additive-basis", "joint-basis", "node-aware", "node", "general"), PURPLE),
    **dict.fromkeys(("message-sharing", "sharing-1", "sharing-2", "zero-byte", "basic"), PURPLE),
    **dict.fromkeys(("thesis-1", "thesis-2"), ORANGE),
    **dict.fromkeys(("array", "plain loops"), BLUE),
    **dict.fromkeys(("brick", "tiled loops"), GREEN),
    **dict.fromkeys(("mapped", "mapped ghosts"), PURPLE),
    **dict.fromkeys(("floor", "network", "network-remote", "read and write"), GRAY),
}


@dataclass(frozen=True)
class Look:
    """How one line is drawn."""

    color: str
    line: str
    marker: str

    def of_line(self) -> dict[str, Any]:
        """Keywords of matplotlib's plot."""
        if self.color == GRAY:
            thin = {"linewidth": 0.9, "zorder": 1, "marker": "None"}
            return {"color": GRAY, "linestyle": "--" if self.line == "-" else ":"} | thin
        return {
            "color": self.color,
            "linestyle": self.line,
            "linewidth": 2.0 if self.color == BLACK else 1.4,
            "marker": self.marker,
            "markersize": 3.5,
        }


def color_of(name: str) -> str:
    """By the whole name or a part of it, from behind: mapped/layout, torus/p2p-typed. Budgets and
    variants, which follow a comma, do not matter."""
    whole = name.partition(",")[0]
    for part in (whole, *reversed(whole.split("/"))):
        if part in COLORS:
            return COLORS[part]
    return PALETTE[crc32(whole.encode()) % len(PALETTE)]


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each, no two of up to four times the colors alike."""
    seen: Counter[str] = Counter()
    found = {}
    for name in names:
        color = color_of(name)
        number = seen[color]
        seen[color] += 1
        found[name] = Look(color, LINES[number % len(LINES)], MARKERS[number % len(MARKERS)])
    return found


# Which lines --------------------------------------------------------------------------------------


def slowness(series: Mapping[str, Sequence[Point]]) -> dict[str, float]:
    """By name: how many times as long it takes as the fastest, the geometric mean over its points.
    All values are positive."""
    best: dict[float, float] = {}
    for points in series.values():
        for x, y in points:
            best[x] = min(y, best.get(x, y))
    return {
        name: exp(sum(log(y / best[x]) for x, y in points) / len(points))
        for name, points in series.items()
    }


def choose(
    series: Mapping[str, Sequence[Point]], first: Sequence[str] = (), last: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """The names to draw, in their order, and those left out where there are more than MOST: those
    of `first` are drawn, then the fastest, and those of `last` only where there is room."""
    if len(series) <= MOST:
        return list(series), []
    slow, late = slowness(series), set(last)
    ranked = [name for name in first if name in series]
    ranked += sorted(series.keys() - set(ranked), key=lambda name: (name in late, slow[name], name))
    drawn = set(ranked[:MOST])
    return [n for n in series if n in drawn], [n for n in series if n not in drawn]


def fastest(series: Mapping[str, Sequence[Point]], names: Iterable[str]) -> list[str]:
    """The one of these names that is fastest on the whole; none if none of them is there."""
    slow = slowness({name: series[name] for name in names if name in series})
    return [min(slow, key=lambda name: slow[name])] if slow else []


def left_out(names: Iterable[str], option: str, pictures: int = 1) -> str:
    """What a caption says about lines that are not drawn, in any of several pictures."""
    each = list(dict.fromkeys(names))
    if not each:
        return ""
    count = "One candidate is" if len(each) == 1 else f"{len(each)} candidates are"
    where = " everywhere" if pictures > 1 else ""
    return f"{count} not drawn{where} ({'; '.join(each)}): {option} chooses which."


# The figure ---------------------------------------------------------------------------------------


def make_figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes as a table; width and height in inches, of one of the axes."""
    from matplotlib.figure import Figure  # takes a while, and only plots need it

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def finish(figure: Any, title: str, caption: str = "") -> Any:
    """Title, caption and the names of all lines; the figure."""
    width = figure.get_figwidth()
    figure.suptitle(_wrapped(title, 10 * width))
    if caption:
        figure.supxlabel(_wrapped(caption, 15 * width), fontsize=SMALL)
    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.set_axisbelow(True)
        plain_numbers(axis)
        if axis.get_visible() and axis.get_lines() and axis.get_legend() is None:
            name_lines(figure, axis)
            tell_apart(axis, GRAY)
    return figure


def _wrapped(text: str, columns: float) -> str:
    return "\n".join(textwrap.wrap(text, int(columns), break_on_hyphens=False))


def mark(axis: Any, values: Iterable[int], text: Callable[[int], str] = str) -> None:
    """Powers of two along the first axis, with these values marked as far as there is room."""
    places = sorted(set(values))
    room = NARROW * (log(places[-1]) - log(places[0]))
    marked: list[int] = []
    for value in places:
        if not marked or log(value) - log(marked[-1]) >= room:
            marked.append(value)
    axis.set_xscale("log", base=2)
    axis.set_xticks(marked, [text(value) for value in marked])
    axis.set_xticks([], minor=True)


def plain_numbers(axis: Any) -> None:
    """20 and 1000 instead of powers of ten; below two decades not only the powers are marked."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        """The same places have numbers."""

        def __call__(self, value: float, place: int | None = None) -> str:
            return f"{value:.10g}" if super().__call__(value, place) else ""

    if axis.get_yscale() == "log":
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:.10g}")
        axis.yaxis.set_minor_formatter(Plain(minor_thresholds=(2, 0.7)))


def save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise Error(f"cannot write {file}: {error.strerror}") from error


def name_lines(figure: Any, axis: Any) -> None:
    """A name at the end of each line, in its color; a legend where they do not fit below each
    other."""
    lines = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
    notes = [_note(axis, line) for line in lines]
    figure.draw_without_rendering()  # now limits and heights are known
    gap = 1.25 * SMALL / 72 * figure.dpi / axis.get_window_extent().height
    if gap * len(notes) > 1:
        for note in notes:
            note.remove()
        axis.legend(fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return
    wanted = [_height(axis, line) for line in lines]
    for note, place in zip(notes, spread(wanted, gap, gap / 2, 1 - gap / 2)):
        note.set_position((1.03, place))


def _note(axis: Any, line: Any) -> Any:
    return axis.annotate(
        line.get_label(),
        (line.get_xdata()[-1], line.get_ydata()[-1]),
        xytext=(1.03, 0.5),
        textcoords="axes fraction",
        va="center",
        fontsize=SMALL,
        color=line.get_color(),
        arrowprops={
            "arrowstyle": "-",
            "color": line.get_color(),
            "linewidth": 0.5,
            "alpha": 0.6,
            "relpos": (0, 0.5),
            "shrinkA": 1,
        },
        annotation_clip=False,
    )


def _height(axis: Any, line: Any) -> float:
    """Of the end of a line, as a part of the height of the axes."""
    end = axis.transData.transform((line.get_xdata()[-1], line.get_ydata()[-1]))
    return float(axis.transAxes.inverted().transform(end)[1])


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places from low to high, at least a gap apart, in the order of those wanted and as near to
    them as can be: less k gaps the k-th must not decrease, so those that do get their mean."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[list[float]] = []
    for k, i in enumerate(order):
        pools.append([wanted[i] - k * gap])
        while len(pools) > 1 and _mean(pools[-2]) >= _mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    most = max(high - (len(wanted) - 1) * gap, low)
    flat = [min(max(_mean(pool), low), most) for pool in pools for _ in pool]
    places = [0.0] * len(wanted)
    for k, i in enumerate(order):
        places[i] = flat[k] + k * gap
    return places


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
