# SPDX-License-Identifier: BSD-3-Clause
"""Figures 9, 10 and 11 of Hoefler and Schneider 2012: random graphs and stencils."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from tonari.reproduce import measured
from tonari.reproduce.claims import Check, claimed, ratio, times, verdict
from tonari.reproduce.figures import (
    SIMULATED,
    Figure,
    Here,
    Plot,
    Point,
    Published,
    Rows,
    Step,
    Verdict,
)
from tonari.reproduce.measured import ratios
from tonari.reproduce.papers.traeff_measured import SIZE_OF_BLOCK, of_bench

IRECV, AUTO, NATIVE, COLORING = "irecv", "auto", "native", "coloring"
RANKS = 1024
SWEPT_RANKS, STENCIL_RANKS = 256, 512
DENSITIES = ("0.1", "0.25")  # of those that are simulated; 1 has a million messages
PLAIN = (
    "irecv stands for the paper's comparator, MPI_Irecv, MPI_Isend and MPI_Waitall; native is "
    "MPI's own collective, and auto what tonari chooses by itself. "
)


def saved(percent: float) -> float:
    """So many times as fast is who takes so many percent less time."""
    return 1 / (1 - percent / 100)


def _steps_9(here: Here) -> Sequence[Step]:
    if here.short:
        more = ("--bytes", "16", "--algorithms", "auto,irecv")
        ran = [measured.bench(here, "random:0.5", *more, ranks=4)] if here.mpis else []
        return [*ran, _on_graph(here.scratch, 64, "0.25")]
    ran = [measured.preset(here, "fig9", ranks=8, seconds=120)] if here.mpis else []
    return [*ran, *(_on_graph(here.scratch, RANKS, density) for density in DENSITIES)]


def _on_graph(folder: Path, ranks: int, density: str) -> Step:
    """The simulator on a random graph, which is the same on every call."""
    file = _graph(folder, ranks, density)
    call = ("simulate", "--graph", str(file), "--bytes", "16", "--algorithms", f"native,{COLORING}")
    return Step(f"random:{density} on {ranks} ranks", call, SIMULATED, 15)


def _graph(folder: Path, ranks: int, density: str) -> Path:
    file = folder / f"random-{density}-{ranks}.mtx"
    if not file.is_file():
        write_random(file, ranks, float(density))
    return file


def write_random(file: Path, ranks: int, density: float) -> None:
    """Rank i sends to rank j with this probability, whatever others do (Matrix Market)."""
    entries = np.random.default_rng(9).random((ranks, ranks)) < density
    np.fill_diagonal(entries, False)
    pairs = np.argwhere(entries) + 1
    lines = "\n".join(f"{i} {j}" for i, j in pairs)
    head = f"%%MatrixMarket matrix coordinate pattern general\n{ranks} {ranks} {len(pairs)}"
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(f"{head}\n{lines}\n", encoding="utf-8")
    part.replace(file)


def _sweeps_9(here: Here) -> Sequence[Step]:
    """Fewer ranks than the paper's: a sweep is some fifty simulations."""
    ranks = 64 if here.short else SWEPT_RANKS
    file = _graph(here.scratch, ranks, "0.25")
    words = ("--graph", str(file), "--bytes", "16", "--algorithms", f"native,{COLORING}")
    return [measured.sweep_of("random:0.25, 16 B", *words)]


def _points_9(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """Over the density of the graph."""
    points = []
    for name, some in rows.items():
        if name.startswith("bench"):
            for point in of_bench(some):
                density, ranks = _split(point.panel)
                panel = f"Random graph on {ranks} ranks"
                points.append(
                    Point(panel, point.series, density, point.y, point.how, point.low, point.high)
                )
        else:
            density, ranks = _split(name)
            panel = f"Random graph on {ranks} ranks"
            for point in measured.simulated(some, panel):
                points.append(Point(panel, point.series, density, point.y, point.how))
    return points


def _split(panel: str) -> tuple[float, str]:
    """random:0.5 on 8 ranks"""
    pattern, _, ranks, _ = panel.split()
    return float(pattern.split(":")[1]), ranks


def _judge_9(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    there = saved(claimed(published, "advantage"))
    checks = []
    for panel in dict.fromkeys(point.panel for point in points):
        ran = any(point.series == IRECV for point in points if point.panel == panel)
        slow, fast = (IRECV, AUTO) if ran else (NATIVE, COLORING)
        who = "tonari is as fast (ran)" if ran else "coloring is as fast (simulated)"
        factors = ratios(points, panel, slow, fast)
        checks += [
            ratio(f"{panel}, density {x:g}, {who}", there, factor) for x, factor in factors.items()
        ]
    return verdict(
        checks,
        "The model has no congestion where many messages reach a rank at once, which is what "
        "coloring avoids; and ranks of one machine share its memory instead of a network.",
    )


FIGURE_9 = Figure(
    number="Figure 9",
    title="sparse all-to-all of 16 bytes over the density of a random graph",
    claim="Ordering messages by coloring takes about 40 % less time, whatever the density.",
    published="hoefler-fig9",
    steps=_steps_9,
    points=_points_9,
    judge=_judge_9,
    plot=Plot("density", "µs", log_x=False),
    note=PLAIN + "The paper's 1,024 processes are simulated, for two densities.",
    sweeps=_sweeps_9,
)


def _stencil(name: str, pattern: str) -> Callable[[Here], Sequence[Step]]:
    def steps(here: Here) -> Sequence[Step]:
        if here.short:
            more = ("--bytes", "16,65536", "--algorithms", "auto,native,irecv")
            return [measured.bench(here, pattern, *more, seconds=3)]
        return [measured.preset(here, name, ranks=ranks, seconds=30) for ranks in (2, 8)]

    return steps


def _stencil_sweeps(pattern: str) -> Callable[[Here], Sequence[Step]]:
    return lambda here: [measured.sweep(pattern, STENCIL_RANKS, "16")]


def _points_of_stencil(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return list(chain.from_iterable(of_bench(some) for some in rows.values()))


def _judge_stencil(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks: list[Check] = []
    for panel in dict.fromkeys(point.panel for point in points):
        factors = ratios(points, panel, IRECV, AUTO)
        small, large = (f(x for x in factors if not isinstance(x, str)) for f in (min, max))
        ends = (
            (small, claimed(published, "small messages")),
            (large, saved(claimed(published, "large messages"))),
        )
        checks += [
            ratio(f"{_ranks(panel)}, {size:,.0f} B, tonari is as fast (ran)", there, factors[size])
            for size, there in ends
        ]
    return verdict(
        checks,
        "One machine's memory and cores carry what a Cray's network did, and more ranks than cores "
        "take turns.",
    )


def _ranks(panel: str) -> str:
    """star:2:1 on 8 ranks"""
    return panel.partition(" on ")[2]


FIGURE_10 = Figure(
    number="Figure 10",
    title="all-to-all with 4 neighbors in two dimensions",
    claim=f"Small messages arrive {times(2)} as fast, and large ones take 15 % less time.",
    published="hoefler-fig10",
    steps=_stencil("fig10", "star:2:1"),
    points=_points_of_stencil,
    judge=_judge_stencil,
    plot=SIZE_OF_BLOCK,
    note=PLAIN
    + (
        "Only ran: the gain is that of protocols, which the model does not know. The sweep has "
        "what other plans alone would bring."
    ),
    sweeps=_stencil_sweeps("star:2:1"),
)

FIGURE_11 = Figure(
    number="Figure 11",
    title="all-to-all with 8 neighbors in four dimensions",
    claim=f"Small messages arrive {times(4)} as fast, and large ones take 18 % less time.",
    published="hoefler-fig11",
    steps=_stencil("fig11", "star:4:1"),
    points=_points_of_stencil,
    judge=_judge_stencil,
    plot=SIZE_OF_BLOCK,
    note=FIGURE_10.note,
    sweeps=_stencil_sweeps("star:4:1"),
)
