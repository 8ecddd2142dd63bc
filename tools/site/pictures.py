# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the documentation, drawn from what the program plans: nothing in them is drawn by
hand. draw(name, theme, file) draws one of PICTURES, for a light or a dark page."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable
from math import cos, pi, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy

ROOT = Path(__file__).resolve().parents[2]
INK = {"light": "#1b2733", "dark": "#d8dee6"}
FAINT = {"light": "#c3ccd6", "dark": "#46525f"}
OWN, SENT, PASSED = "#0072B2", "#D55E00", "#009E73"  # of Okabe and Ito, see tonari.benchmark.style
SEND = re.compile(r"send to +\((?P<to>[^)]*)\).*\[(?P<blocks>\d+) block")
SIZE = 1.7  # inches, of one grid
CENTERED = {"ha": "center", "va": "center", "fontsize": 8}
Point = tuple[float, float]


def draw(name: str, theme: str, file: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    ink = INK[theme]
    colors = dict.fromkeys(
        ["text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"], ink
    )
    with matplotlib.rc_context({**colors, "legend.facecolor": "none", "svg.hashsalt": name}):
        figure = PICTURES[name](theme)
        figure.savefig(file, transparent=True, bbox_inches="tight", metadata={"Date": None})


# How blocks travel --------------------------------------------------------------------------------


def rounds(algorithm: str, pattern: str = "moore:2:1") -> list[list[tuple[int, int, int]]]:
    """By round: the ways (x, y) on which a rank sends, and how many blocks travel on each."""
    from tonari.neighborhood import neighborhood

    found: list[list[tuple[int, int, int]]] = []
    for line in neighborhood(pattern).exchange().draw(algorithm).splitlines():
        if line.startswith("round"):
            found.append([])
        elif send := SEND.search(line):
            x, y = (int(c) for c in send["to"].split(","))
            found[-1].append((x, y, int(send["blocks"])))
    return found


def journeys(theme: str) -> Any:
    return _journeys(theme, {"linear": 1, "torus": 1})


def far(theme: str) -> Any:
    return _journeys(theme, {"torus": 2, "torus-direct": 2})


def _journeys(theme: str, reaches: dict[str, int]) -> Any:
    """One row for each algorithm, one grid for each round; neighbors are as far as this."""
    from matplotlib.figure import Figure

    plans = {name: rounds(name, f"moore:2:{reach}") for name, reach in reaches.items()}
    columns = max(map(len, plans.values()))
    figure = Figure(figsize=(SIZE * columns + 0.5, SIZE * len(plans)), layout="constrained")
    axes = figure.subplots(len(plans), columns, squeeze=False)
    for row, (name, plan) in zip(axes, plans.items(), strict=True):
        row[0].set_ylabel(f"{name}\n{sum(map(len, plan))} messages")
        for number, axis in enumerate(row):
            _grid(axis, plan[number : number + 1], number, reaches[name], theme)
    return figure


def _grid(axis: Any, sends: list[list[tuple[int, int, int]]], number: int, reach: int, theme: str):
    """Ranks as squares, with the messages of the middle one; nothing where there is no round."""
    edge = reach + 0.7
    axis.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xticks=[], yticks=[])
    axis.set_frame_on(False)
    if not sends:
        return
    axis.set_title(f"round {number + 1}", fontsize=9)
    places = [(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)]
    for x, y in places:
        color = OWN if x == y == 0 else FAINT[theme]
        axis.plot(x, y, "s", markersize=26 / (1 + reach), color=color)
    for x, y, blocks in sends[0]:
        _arrow(axis, (0, 0), (0.82 * x, 0.82 * y), 0.8 + 1.5 * blocks / (2 * reach + 1) ** 2)
        axis.text(*_beside(x, y, all(a * b == 0 for a, b, _ in sends[0])), str(blocks), **CENTERED)


def _beside(x: int, y: int, straight: bool) -> Point:
    """Where the number of an arrow stands: between the squares beside it, or behind its end."""
    if not straight:
        return x + 0.45 * x, y + 0.45 * y
    return (x - 0.5 if x > 0 else x + 0.5, 0.5) if x else (0.5, y - 0.5 if y > 0 else y + 0.5)


def _arrow(axis: Any, start: Point, end: Point, width: float) -> None:
    axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": SENT, "lw": width})


# Graphs -------------------------------------------------------------------------------------------

Edges = list[tuple[int, int]]


Peers = dict[int, list[int]]  # by round


def messages(edges: Edges, algorithm: str, node_ranks: int = 1) -> list[Edges]:
    """Who sends to whom, of all ranks, stage by stage. Each rank counts its own rounds: a message
    is one stage later than what its sender has received in earlier rounds."""
    plans = _plans(edges, algorithm, node_ranks)
    found: dict[int, Edges] = {}
    for rank, (sends, _) in enumerate(plans):
        for number, peers in sends.items():
            stage = _stage(plans, rank, number)
            found.setdefault(stage, []).extend((rank, peer) for peer in peers)
    return [found[stage] for stage in sorted(found)]


def _stage(plans: list[tuple[Peers, Peers]], rank: int, number: int) -> int:
    sources = {peer for k, peers in plans[rank][1].items() if k < number for peer in peers}
    before = [(a, k) for a in sources for k, peers in plans[a][0].items() if rank in peers]
    return 1 + max((_stage(plans, a, k) for a, k in before), default=0)


def _plans(edges: Edges, algorithm: str, node_ranks: int) -> list[tuple[Peers, Peers]]:
    """By rank: whom it sends to, and receives from, in its rounds."""
    from tonari.core import core

    c = core()
    ranks = 1 + max(max(edge) for edge in edges)
    ends = [numpy.array(end, dtype=numpy.int32) for end in zip(*edges, strict=True)]
    question = c.GraphQuestion(ranks, *ends, node_ranks, "alltoall", 64, c.LogGP())
    variant = question.analyze(algorithm, "never")[0].variant
    return [_peers(question.draw(algorithm, variant, rank, 80)) for rank in range(ranks)]


def _peers(drawing: str) -> tuple[Peers, Peers]:
    sends: Peers = {}
    receives: Peers = {}
    number = 0
    for line in drawing.splitlines():
        if line.startswith("round"):
            number = int(line.split()[1])
        elif message := re.search(r"(send to|recv from) +(\d+) ", line):
            side = sends if message[1] == "send to" else receives
            side.setdefault(number, []).append(int(message[2]))
    return sends, receives


def hotspot(theme: str) -> Any:
    """Rank 0, in the middle, sends a block to each of twelve others."""
    angles = [2 * pi * k / 12 for k in range(12)]
    places = [(0.0, 0.0), *((sin(angle), cos(angle)) for angle in angles)]
    edges = [(0, rank) for rank in range(1, 13)]
    return _panels(theme, edges, places, ("linear", "tree", "store-and-forward"), 1)


def nodes(theme: str) -> Any:
    """Each rank of a node of four sends a block to each rank of another node."""
    square = [(0.0, 0.7), (0.5, 0.3), (0.0, -0.3), (0.5, -0.7)]
    places = [(x - 1.1, y) for x, y in square] + [(x + 0.6, -y) for x, y in square]
    edges = [(a, b) for a in range(4) for b in range(4, 8)]
    return _panels(theme, edges, places, ("linear", "node-aware"), 4)


def _panels(
    theme: str, edges: Edges, places: list[Point], names: tuple[str, ...], node_ranks: int
) -> Any:
    """A panel for each algorithm, with the messages of all rounds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(names), 3.1), layout="constrained")
    for axis, name in zip(figure.subplots(1, len(names)), names, strict=True):
        axis.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
        axis.set_axis_off()
        plan = messages(edges, name, node_ranks)
        sent = Counter(a for sends in plan for a, _ in sends)
        axis.set_title(f"{name}\nbusiest rank sends {max(sent.values())} messages", fontsize=8)
        for number, sends in enumerate(plan):
            for a, b in sends:
                _shortened(axis, places[a], places[b], (SENT, PASSED, OWN)[number % 3])
        for rank, place in enumerate(places):
            axis.plot(*place, "s", markersize=12, color=OWN if sent[rank] else FAINT[theme])
            axis.text(*place, str(rank), color="white" if sent[rank] else INK[theme], **CENTERED)
    figure.supxlabel("round 1 orange, round 2 green, round 3 blue", fontsize=7)
    return figure


def _shortened(axis: Any, start: Point, end: Point, color: str) -> None:
    look = {"arrowstyle": "-|>", "color": color, "lw": 0.9, "shrinkA": 7, "shrinkB": 7}
    axis.annotate("", end, start, arrowprops=look)


# Messages of busy ranks ---------------------------------------------------------------------------


def sharing(theme: str) -> Any:
    """Messages of all ranks by scheme, where one rank of 64 exchanges with all others."""
    from tonari import sharing_plot
    from tonari.commands.share import analyze
    from tonari.communication import read_communication

    rows = [row for j in range(2, 65) for row in _of_rank(j)]
    head = ["%%MatrixMarket matrix coordinate integer general", f"64 64 {len(rows)}"]
    with TemporaryDirectory() as folder:
        file = Path(folder, "words.mtx")
        file.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
        pattern = read_communication(str(file))
    schemes = "direct,store-and-forward/2,sharing-1,sharing-2,balanced"
    return sharing_plot.make(analyze(pattern, schemes), "64 ranks, one exchanges with all others")


def _of_rank(j: int) -> list[str]:
    """The words of rank j, counted from 1, as docs/explanation/busy-ranks.md has them."""
    return [f"1 {j} 1", f"{j} 1 1", f"{j} {(j + 6) % 64 + 1} 4", f"{j} {(j + 30) % 64 + 1} 2"]


# The order of surface regions ---------------------------------------------------------------------


def surface(theme: str) -> Any:
    """The walk through the regions of a square's border, in the order in which they are stored."""
    from matplotlib.figure import Figure
    from tonari.core import core

    order = core().surface_order(2)
    figure = Figure(figsize=(3.4, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
    axis.set_axis_off()
    places = [tuple("-0+".index(sign) - 1 for sign in text) for text in order.texts]
    for number, (x, y) in enumerate(places):
        axis.plot(x, y, "s", markersize=34, color=FAINT[theme])
        axis.text(x, y, f"{number}\n{order.texts[number]}", ha="center", va="center", fontsize=9)
    for (a, b), (c, d) in zip(places, places[1:], strict=False):
        ends = [(a + part * (c - a), b + part * (d - b)) for part in (0.3, 0.7)]
        _arrow(axis, *ends, 1.4)
    axis.text(0, 0, "cells that no\nneighbor needs", ha="center", va="center", fontsize=7)
    return figure


# Rooms of the source ------------------------------------------------------------------------------


def rooms(theme: str) -> Any:
    """Floors of src/ with their rooms, and who includes whom (tools/draw_architecture.py)."""
    from matplotlib.figure import Figure

    sys.path.insert(0, str(ROOT / "tools"))
    import draw_architecture as architecture

    counts = architecture.includes(ROOT)
    ground = architecture.ground()
    arrows = architecture.reduced({arrow for arrow in counts if not ground & set(arrow)})
    floors = architecture.FLOORS[1:]
    where = {
        room: ((k + 1) / (len(floor) + 1), height)
        for height, floor in enumerate(floors)
        for k, room in enumerate(floor)
    }
    figure = Figure(figsize=(7, 0.62 * len(floors)), layout="constrained")
    axis = figure.subplots()
    axis.set(xlim=(0, 1), ylim=(-0.5, len(floors) - 0.5))
    axis.set_axis_off()
    for above, below in arrows:
        (a, b), (c, d) = where[above], where[below]
        axis.annotate(
            "",
            (c, d),
            (a, b),
            arrowprops={"arrowstyle": "-|>", "color": FAINT[theme], "shrinkA": 10, "shrinkB": 10},
        )
        axis.text((a + c) / 2, (b + d) / 2, str(counts[above, below]), fontsize=6)
    for room, place in where.items():
        color = OWN if room in architecture.CORE else "#5b6672"
        axis.text(
            *place,
            room,
            ha="center",
            va="center",
            fontsize=9,
            color="white",
            bbox={"boxstyle": "round,pad=0.35", "facecolor": color, "edgecolor": "none"},
        )
    return figure


# Measured -----------------------------------------------------------------------------------------


def measured(theme: str) -> Any:
    """Speed-ups over the fastest of MPI's ways, as ranges."""
    from matplotlib.figure import Figure

    with open(ROOT / "docs/performance/neighborhoods.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(
        dict.fromkeys(f"{row['call']}, {row['ranks']} ranks, {row['MPI']}" for row in rows)
    )
    sizes = list(dict.fromkeys(row["block"] for row in rows))
    shades = ["#0072B2", "#56B4E9", "#009E73", "#E69F00"]
    figure = Figure(figsize=(7, 0.8 * len(names) + 0.9), layout="constrained")
    axis = figure.subplots()
    for row in rows:
        at = names.index(f"{row['call']}, {row['ranks']} ranks, {row['MPI']}")
        size = sizes.index(row["block"])
        low, high = float(row["least"]), float(row["most"])
        place = -at + 0.3 - 0.2 * size
        axis.plot(
            [low, high], [place, place], color=shades[size], linewidth=6, solid_capstyle="butt"
        )
        axis.text(high * 1.06, place, row["block"], va="center", fontsize=7)
    axis.axvline(1, color=INK[theme], linewidth=0.8, linestyle="--")
    axis.set(xscale="log", yticks=[-k for k in range(len(names))], yticklabels=names)
    axis.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("times as fast as the fastest of MPI's ways")
    axis.grid(axis="x", color=FAINT[theme], linewidth=0.4)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    return figure


PICTURES: dict[str, Callable[[str], Any]] = {
    function.__name__: function
    for function in (journeys, far, hotspot, nodes, sharing, surface, rooms, measured)
}
