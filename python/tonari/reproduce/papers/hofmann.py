# SPDX-License-Identifier: BSD-3-Clause
"""Hofmann and Rünger 2013: all-to-all exchanges in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tonari.reproduce import measured
from tonari.reproduce.claims import (
    Check,
    at_most,
    claimed,
    exact,
    holds,
    percent,
    ratio,
    value,
    verdict,
    within,
)
from tonari.reproduce.figures import (
    PLANNED,
    RAN,
    SIMULATED,
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
PANEL, AT_SCALE = "exchange, ran", "exchange, simulated"
TOTAL = 10**9  # bytes of a process
PROCESSES = "64,256,1024"  # of the simulation
OVER_RANKS = Plot("processes", "µs")
SHARED = "Up to 16 ranks share few cores of one machine, and no message leaves it."
NOTE = (
    "The paper ran 8 processes on each node of an InfiniBand cluster, up to 1,024 in all, with "
    "1 GB of data each."
)


# Figure 2 -----------------------------------------------------------------------------------------

ORDERS = (MPICH, LINEAR, SETS)
SEVEN = 7


def _steps_2(here: Here) -> Sequence[Step]:
    return [Step("plan inplace", ("plan", "inplace", "--ranks", str(SEVEN)), PLANNED, 1.0)]


def _points_2(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """A panel for each order: the step in which processes i and j swap."""
    found = [row for some in rows.values() for row in some]
    pairs = {(row["algorithm"], row["rank"], row["partner"]): row["step"] for row in found}
    pairs |= {(name, j, i): step for (name, i, j), step in pairs.items()}
    return [
        Point(name, f"process {i}", f"process {j}", pairs[name, i, j], PLANNED)
        for name in ORDERS
        for i in range(SEVEN)
        for j in range(SEVEN)
        if (name, i, j) in pairs
    ]


def _judge_2(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    last = {name: max(p.y for p in points if p.panel == name) for name in ORDERS}
    checks = [
        exact(f"{p.panel}, {p.series} with {p.x}, the step", p.y,
              value(points, p.panel, p.series, p.x))
        for p in published
        if p.panel in ORDERS
    ]  # fmt: skip
    for name, key in ((MPICH, "steps of the MPICH algorithm"), (LINEAR, "steps of linear shift")):
        checks.append(exact(f"Steps of {name}", claimed(published, key), last[name]))
    key = "steps of hierarchical sets, at most"
    checks.append(at_most(f"Steps of {SETS}", claimed(published, key), last[SETS], "steps"))
    key = "idle processes of linear shift, at most"
    idle = _most_idle(points, LINEAR)
    checks.append(
        at_most(f"Idle processes of {LINEAR} in a step", claimed(published, key), idle, "processes")
    )
    return verdict(checks, "Each process makes its exchanges one by one, as early as possible.")


def _most_idle(points: Sequence[Point], order: str) -> float:
    steps = [point.y for point in points if point.panel == order]
    return SEVEN - min(steps.count(step) for step in set(steps))


FIGURE_2 = Figure(
    number="Figure 2",
    title="the step in which each pair of 7 processes exchanges",
    claim=(
        "The MPICH algorithm takes 13 steps, linear shift 7, and hierarchical sets at most 8, "
        "where each process makes one exchange at a time."
    ),
    published="hofmann-fig2",
    steps=_steps_2,
    points=_points_2,
    judge=_judge_2,
    plot=Plot("with", "step", log_x=False, log_y=False, matrix=True),
    note="Of the matrices that the figure draws, the text says some entries; those stand beside.",
)

# Figures 5 and 6 ----------------------------------------------------------------------------------


def _in_place(here: Here, algorithms: str, *more: str) -> Step:
    """Random sizes for each pair, by messages of the MPI."""
    ranks, total = ("2,4", "64KiB") if here.short else ("2,4,8,16", "4MiB")
    words = ["bench", "inplace", "--total-bytes", total, "--ranks", ranks, *more]
    words += ["--algorithms", algorithms, "--channel", "p2p-packed", *measured.effort(here)]
    return Step(" ".join(["bench inplace", *more]), tuple(words), RAN, 6.0 if here.short else 30.0)


def _simulated(here: Here, ranks: str, *more: str) -> tuple[str, ...]:
    """A call of the simulator, of nodes as the paper's: eight processes on each, which share one
    network interface."""
    file = here.scratch / "eight-on-a-node.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(NODES, encoding="utf-8")
    return ("inplace", "--ranks", ranks, "--machine", str(file), *more)


NODES = "# eight ranks on a node\nranks_per_node=8\nranks_per_nic=8\notherwise=generic\n"


def _steps_5(here: Here) -> Sequence[Step]:
    ranks = "16,64" if here.short else PROCESSES
    call = _simulated(here, ranks, "--total-bytes", str(TOTAL))
    at_scale = Step("simulate inplace", ("simulate", *call), SIMULATED, 2 if here.short else 30)
    if not here.mpis:
        return [at_scale]
    return [
        _in_place(here, f"{NATIVE},{MPICH},{LINEAR},{SETS}", "--memory", "1MiB"),
        at_scale,
    ]


def _points_5(rows: Mapping[str, Rows]) -> Sequence[Point]:
    points = []
    for name, some in rows.items():
        for row in some:
            if name.startswith("bench"):
                points.append(timed_at(row, PANEL, row["algorithm"], row["ranks"]))
                continue
            series = NATIVE if row["algorithm"] == "native" else row["algorithm"]
            points.append(Point(AT_SCALE, series, row["ranks"], row["predicted_us"], SIMULATED))
    return points


def _judge_5(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks: list[Check] = []
    for panel, how in ((PANEL, "ran"), (AT_SCALE, "simulated")):
        if any(point.panel == panel for point in points):
            checks += _checks_5(published, points, panel, how)
    few = {
        ranks: factor
        for ranks, factor in _ratios(points, PANEL, SETS, NATIVE).items()
        if float(ranks) <= claimed(published, "the MPI is the fastest up to")
    }
    if few:
        what = "Up to 32 processes MPI_Alltoallv out of place is faster than hierarchical sets"
        checks.append(holds(f"{what} (ran)", faster(few)))
    return verdict(checks, SHARED)


def _checks_5(
    published: Sequence[Published], points: Sequence[Point], panel: str, how: str
) -> list[Check]:
    """What the paper says of all numbers of processes."""
    mpich = table(points, panel, MPICH)
    best = {
        ranks: min(table(points, panel, name)[ranks] for name in (NATIVE, LINEAR, SETS))
        for ranks in mpich
    }
    over = claimed(published, "MPICH algorithm over the best")
    checks: list[Check] = [
        ratio(f"{ranks:,} processes, the best is as fast as MPICH's algorithm ({how})", over,
              mpich[ranks] / time)
        for ranks, time in best.items()
    ]  # fmt: skip
    sets = {n: factor for n, factor in ratios(points, panel, LINEAR, SETS).items() if n != 2}
    what = f"Of more than 2 processes, hierarchical sets are faster than linear shift ({how})"
    return [*checks, holds(what, faster(sets))]


def _ratios(points: Sequence[Point], panel: str, slow: str, fast: str) -> dict[float | str, float]:
    """The same, and none where nothing ran."""
    return ratios(points, panel, slow, fast) if any(p.panel == panel for p in points) else {}


def _sweeps_5(here: Here) -> Sequence[Step]:
    ranks = "16" if here.short else "128"
    steps = []
    for size in (64, 65536):
        total = str(size * int(ranks))
        call = _simulated(here, ranks, "--total-bytes", total, "--algorithms", ",".join(ORDERS))
        steps.append(measured.sweep_of(f"blocks of {size:,} B", *call))
    return steps


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
    note=(
        NOTE + " The simulation has such nodes, and blocks that are equal. The system on the "
        "right, a Blue Gene/Q, and the general algorithm are left out."
    ),
    sweeps=_sweeps_5,
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
    checks = [
        within(
            f"{ranks} processes, the MPI's exchange out of place against memory for all",
            low,
            high,
            percent(factor),
        )
        for ranks, factor in native.items()
    ]
    better = ratios(points, PANEL, LITTLE, MUCH)
    checks.append(holds("Memory for all is faster than little memory", faster(better)))
    return verdict(checks, SHARED)


def _sweeps_6(here: Here) -> Sequence[Step]:
    """Memory for one block at a time, or for all."""
    ranks = 16 if here.short else 128
    total = str(4096 * ranks)
    more = ("--total-bytes", total, "--memory", f"0,{total}")
    algorithms = ("--algorithms", f"native,{SETS}")
    return [
        measured.sweep_of("memory, blocks of 4 KiB", *_simulated(here, str(ranks), *more),
                          *algorithms)
    ]  # fmt: skip


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
    sweeps=_sweeps_6,
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
    figures=(FIGURE_2, FIGURE_5, FIGURE_6),
    unmade=(
        Unmade(
            "Figure 6, right",
            "FFTW in place",
            "It compares with an unmodified FFTW on up to 1,024 processes of a Blue Gene/Q, and "
            "no command of tonari runs FFTW.",
        ),
    ),
    headline="Figure 5",
)
