# SPDX-License-Identifier: BSD-3-Clause
"""Figures 12 and 13 of Hoefler and Schneider 2012: exchanges of two programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from tonari.reproduce import measured
from tonari.reproduce.claims import AGREES, DIFFERS, SHAPE, Check, Missing, claimed, verdict
from tonari.reproduce.figures import RAN, Figure, Here, Plot, Point, Published, Rows, Step, Verdict
from tonari.reproduce.measured import ratios, timed_at
from tonari.reproduce.papers.hoefler_stencils import AUTO, IRECV, PLAIN
from tonari.reproduce.papers.traeff_measured import SIZE_OF_BLOCK, of_bench

MATRICES = {"aug2dc": "aug2dc", "Andrews": "andrews", "tube2": "tube2"}  # files: the paper's names
MADE_UP = "made-up mesh with links"


def percent(factor: float) -> float:
    """So much less time takes who is so many times as fast."""
    return 100 * (1 - 1 / factor)


def within(what: str, low: float, high: float, own: float) -> Check:
    """A reduction that the paper gives as a range."""
    kind = AGREES if low <= own <= high else SHAPE if own > 0 else DIFFERS
    return Check(kind, f"{what}: {own:.0f} % here, {low:.0f} to {high:.0f} % published.")


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
        low = claimed(published, "average, least")
        most = claimed(published, "most")
        checks.append(within(f"{panel}, at most", low, most, max(saved)))
        checks.append(within(f"{panel}, on average", low, most, mean))
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


def _points_13(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return [
        timed_at(row, row["matrix"], row["candidate"], row["ranks"])
        for some in rows.values()
        for row in some
    ]


def _judge_13(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    low, high = (claimed(published, key) for key in ("least", "most"))
    checks = [
        within(f"{panel} on {ranks:.0f} ranks", low, high, percent(factor))
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
)
