# SPDX-License-Identifier: BSD-3-Clause
"""Hofmann and Rünger 2013: all-to-all exchanges in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tonari.reproduce import measured
from tonari.reproduce.claims import Check, claimed, holds, ratio, verdict
from tonari.reproduce.figures import (
    RAN,
    Figure,
    Here,
    Paper,
    Plot,
    Point,
    Published,
    Rows,
    Step,
    Unmade,
    Verdict,
)
from tonari.reproduce.measured import faster, ratios, table, timed_at

NATIVE, MPICH = "native-out-of-place", "mpich-order"
LINEAR, SETS = "linear-shift", "hierarchical-sets"
PANEL = "exchange"
OVER_RANKS = Plot("processes", "µs")
SHARED = "Up to 16 ranks share few cores of one machine, and no message leaves it."
NOTE = (
    "The paper ran 8 processes on each node of an InfiniBand cluster, up to 1,024 in all, with "
    "1 GB of data each."
)


def _in_place(here: Here, algorithms: str, *more: str) -> Step:
    """Random sizes for each pair, by messages of the MPI."""
    ranks, total = ("2,4", "64KiB") if here.short else ("2,4,8,16", "4MiB")
    words = ["bench", "inplace", "--total-bytes", total, "--ranks", ranks, *more]
    words += ["--algorithms", algorithms, "--channel", "p2p-packed", *measured.effort(here)]
    return Step(" ".join(["bench inplace", *more]), tuple(words), RAN, 6.0 if here.short else 30.0)


def _steps_5(here: Here) -> Sequence[Step]:
    return [_in_place(here, f"{NATIVE},{MPICH},{LINEAR},{SETS}", "--memory", "1MiB")]


def _points_5(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return [
        timed_at(row, PANEL, row["algorithm"], row["ranks"])
        for some in rows.values()
        for row in some
    ]


def _judge_5(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    mpich = table(points, PANEL, MPICH)
    best = {
        ranks: min(table(points, PANEL, name)[ranks] for name in (NATIVE, LINEAR, SETS))
        for ranks in mpich
    }
    over = claimed(published, "MPICH algorithm over the best")
    checks: list[Check] = [
        ratio(f"MPICH's algorithm over the best, {ranks} processes", over, mpich[ranks] / time)
        for ranks, time in best.items()
    ]
    sets = ratios(points, PANEL, LINEAR, SETS)
    checks.append(holds("Hierarchical sets are faster than linear shift", faster(sets)))
    few = {
        ranks: factor
        for ranks, factor in ratios(points, PANEL, SETS, NATIVE).items()
        if float(ranks) <= claimed(published, "the MPI is the fastest up to")
    }
    checks.append(holds("MPI_Alltoallv out of place is faster than hierarchical sets", faster(few)))
    return verdict(checks, SHARED)


FIGURE_5 = Figure(
    number="Figure 5",
    title="the symmetric all-to-all exchange",
    claim=(
        "MPICH's algorithm is about a factor of two slower than the best, hierarchical sets are "
        "faster than linear shift in almost all cases, and up to 32 processes the MPI's own "
        "exchange out of place is the fastest."
    ),
    published="hofmann-fig5",
    steps=_steps_5,
    points=_points_5,
    judge=_judge_5,
    plot=OVER_RANKS,
    note=NOTE + " The system on the right, a Blue Gene/Q, and the general algorithm are left out.",
)


def _steps_6(here: Here) -> Sequence[Step]:
    most = "64KiB" if here.short else "8MiB"  # as much as a rank's blocks, or more
    return [_in_place(here, f"{NATIVE},{SETS}", "--memory", f"4KiB,{most}")]


def _points_6(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """The least budget and the most are series of their own."""
    found = [row for some in rows.values() for row in some]
    budgets = sorted({row["budget_bytes"] for row in found if row["budget_bytes"]})
    names = {None: NATIVE, **({budgets[0]: LITTLE, budgets[-1]: MUCH} if budgets else {})}
    return [
        timed_at(row, PANEL, names[row["budget_bytes"]], row["ranks"])
        for row in found
        if row["budget_bytes"] in names
    ]


LITTLE, MUCH = f"{SETS}, little memory", f"{SETS}, memory for all"


def _judge_6(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    native = ratios(points, PANEL, MUCH, NATIVE)
    low, high = (claimed(published, f"the MPI is faster, {end}") for end in ("least", "most"))
    middle = 1 / (1 - (low + high) / 200)  # of 5 to 30 % less time
    checks = [
        ratio(f"Memory for all over MPI's exchange, {ranks} processes", middle, factor)
        for ranks, factor in native.items()
    ]
    better = ratios(points, PANEL, LITTLE, MUCH)
    checks.append(holds("Memory for all is faster than little memory", faster(better)))
    return verdict(checks, SHARED)


FIGURE_6 = Figure(
    number="Figure 6, left",
    title="hierarchical sets with more memory",
    claim=(
        "Up to 32 processes memory for all data makes hierarchical sets faster, and the MPI's "
        "exchange out of place is 5 to 30 % faster still."
    ),
    published="hofmann-fig6",
    steps=_steps_6,
    points=_points_6,
    judge=_judge_6,
    plot=OVER_RANKS,
    note=NOTE + " Memory for all is as much as a process has of blocks; little is 4 KiB.",
)

PAPER = Paper(
    key="hofmann-2013",
    authors="Hofmann and Rünger",
    year=2013,
    title="In-place Algorithms for the Symmetric All-to-all Exchange with MPI",
    claimed=(
        "Exchanges in place need no second buffer. In the order of hierarchical sets they are "
        "about twice as fast as in MPICH's order."
    ),
    beyond=(
        "In tonari a budget bounds the memory that is measured, not only named: pairs swap piece "
        "by piece, on one node where the blocks lie, and sizes may differ in both directions."
    ),
    figures=(FIGURE_5, FIGURE_6),
    unmade=(
        Unmade(
            "Figure 2",
            "the order of exchanges of 7 processes",
            "No command prints orders; tests/planners/in_place/order_test.cpp checks the steps of "
            "7 processes against what the text says of the figure.",
        ),
        Unmade(
            "Figure 6, right",
            "FFTW in place",
            "It compares with an unmodified FFTW on up to 1,024 processes of a Blue Gene/Q, and "
            "no command of tonari runs FFTW.",
        ),
    ),
    headline="Figure 5",
)
