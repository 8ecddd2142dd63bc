# SPDX-License-Identifier: BSD-3-Clause
"""Figures 12 and 13 of Hoefler and Schneider 2012: exchanges of two programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from tonari.reproduce import measured
from tonari.reproduce.claims import Missing, claimed, less, percent, verdict, within
from tonari.reproduce.figures import RAN, Figure, Here, Plot, Point, Published, Rows, Step, Verdict
from tonari.reproduce.measured import ratios, timed_at
from tonari.reproduce.papers.hoefler_stencils import AUTO, IRECV, PLAIN
from tonari.reproduce.papers.traeff_measured import SIZE_OF_BLOCK, of_bench

MATRICES = {"aug2dc": "aug2dc", "Andrews": "andrews", "tube2": "tube2"}  # files: the paper's names
MADE_UP = "made-up mesh with links"
WRF_RANKS = 16  # 512 cores with 32 threads a process


def _steps_12(here: Here) -> Sequence[Step]:
    if here.short:
        more = ("--mesh", "--bytes", "1560", "--algorithms", "auto,irecv")
        return [measured.bench(here, "star:2:1", *more, ranks=4, seconds=3)]
    return [measured.preset(here, "fig12", ranks=ranks, seconds=20) for ranks in (4, 8)]


def _points_12(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return list(chain.from_iterable(of_bench(some) for some in rows.values()))


def _judge_12(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks = []
    for panel in dict.fromkeys(point.panel for point in points):
        saved = [percent(factor) for factor in ratios(points, panel, IRECV, AUTO).values()]
        mean = sum(saved) / len(saved)
        low, high = (claimed(published, f"average, {end}") for end in ("least", "most"))
        ranks = panel.partition(" on ")[2]
        checks.append(less(f"{ranks}, at most", claimed(published, "most"), max(saved)))
        checks.append(within(f"{ranks}, on average", low, high, mean))
    return verdict(checks, "Only the exchange ran, among ranks that share one machine's cores.")


FIGURE_12 = Figure(
    number="Figure 12",
    title="the exchange of the Weather Research and Forecast model",
    claim="Communication takes at most 40 % less time, and 7 to 10 % less on average.",
    published="hoefler-fig12",
    steps=_steps_12,
    points=_points_12,
    judge=_judge_12,
    plot=SIZE_OF_BLOCK,
    note=PLAIN + "The model itself is not run: its exchange is, on a mesh with sides of its sizes.",
    sweeps=lambda here: [measured.sweep("star:2:1", WRF_RANKS, "1560", "--mesh")],
)


def _steps_13(here: Here) -> Sequence[Step]:
    more = ["--kinds", "forward", "--candidates", f"{IRECV},{AUTO},native"]
    ranks = "2" if here.short else "2,4,8"
    more += ["--ranks", ranks, *measured.effort(here)]
    files = {name: here.matrix(name) for name in MATRICES}
    steps = [
        Step(f"bench spmv {name}", ("bench", "spmv", str(file), *more), RAN, 20)
        for name, file in files.items()
        if file
    ]
    return steps or [Step("bench spmv, made up", ("bench", "spmv", *more), RAN, 10)]


def _sweeps_13(here: Here) -> Sequence[Step]:
    """The messages of a product of many ranks, where there is a matrix that was partitioned."""
    folder = here.matrices / "comm512" if here.matrices else None
    files = (
        [file for name in MATRICES for file in sorted(folder.glob(f"{name}.*"))] if folder else []
    )
    words = ("--bytes", "8", "--algorithms", "native,coloring,tree")
    return [
        measured.sweep_of(f"{file.name.partition('.')[0]}, 8 B", "--graph", str(file), *words)
        for file in files[:1]
    ]


def _points_13(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return [
        timed_at(row, row["matrix"], row["candidate"], row["ranks"])
        for some in rows.values()
        for row in some
    ]


def _judge_13(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    low, high = (claimed(published, key) for key in ("least", "most"))
    checks = [
        within(f"{panel.partition('.')[0]}, {ranks:.0f} ranks", low, high, percent(factor))
        for panel in dict.fromkeys(point.panel for point in points)
        for ranks, factor in ratios(points, panel, IRECV, AUTO).items()
        if not isinstance(ranks, str)
    ]
    if not checks:
        raise Missing("no product was timed")
    return verdict(checks, "Few ranks of one machine have few neighbors each.")


FIGURE_13 = Figure(
    number="Figure 13",
    title="the exchange of sparse matrix-vector products",
    claim="Communication takes 5 to 70 % less time, on three matrices in strong scaling.",
    published="hoefler-fig13",
    steps=_steps_13,
    points=_points_13,
    judge=_judge_13,
    plot=Plot("ranks", "µs"),
    note=(
        PLAIN + "Matrices aug2dc, Andrews and tube2 come from the folder that --matrices names; "
        f"without one it is the benchmark's {MADE_UP}."
    ),
    sweeps=_sweeps_13,
)
