# SPDX-License-Identifier: BSD-3-Clause
"""Zhao et al. 2021: ghost zones of bricks without packing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tonari.reproduce import measured
from tonari.reproduce.claims import Check, Missing, amount, claimed, exact, holds, ratio, verdict
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

# The benchmark's names of what the paper compares: packing by loops stands for YASK.
PACK, TYPES, BASIC = "array/pack", "array/datatypes", "brick/basic"
LAYOUT, MEMMAP, NETWORK = "brick/layout", "mapped/memmap", "network"
COMM, COMPUTE, STEP = "communication", "computation", "step"
AT_SCALE = "communication on 8 nodes, simulated"
SIMULATIONS = {"pack": PACK, "basic": BASIC, "layout": LAYOUT, "memmap": MEMMAP}
PANELS = {COMM: "median_us", COMPUTE: "compute_us", STEP: "step_us"}
PAGES = ("4KiB", "16KiB", "64KiB")
OVER_SIZE = Plot("cells of a subdomain along each dimension", "µs")
SHARED = "The ranks share few cores of one machine, where a message is a copy or two."
GENERIC = (
    "The simulated machine is generic: the paper does not say what messages, bytes and copies cost "
    "on Theta."
)
NOTE = (
    "The paper ran 8 nodes of Theta (Xeon Phi), a rank on each. Plain loops into "
    "buffers stand for YASK, which is not built here."
)


def _halo(here: Here, exchanges: Sequence[str], *more: str, sizes: str = "") -> Step:
    """Subdomains of 2 ranks, or of 8 as in the paper."""
    ranks = "2" if here.short else "8"
    sizes = sizes or ("16" if here.short else "16,32,64")
    words = ["bench", "halo", "--size", sizes, "--ranks", ranks, *more]
    words += ["--exchanges", ",".join(exchanges), *measured.effort(here)]
    return Step(" ".join(["bench halo", *more]), tuple(words), RAN, 5.0 if here.short else 40.0)


def called(row: Mapping) -> str:
    """mapped/memmap, or network, which has no grid."""
    name = row["exchange"]
    return name if name.startswith(NETWORK) else f"{row['storage']}/{name}"


# Table 1 ------------------------------------------------------------------------------------------

COUNTS = {"neighbors": "neighbors", "layout": "messages", "basic": "basic"}


def _steps_1(here: Here) -> Sequence[Step]:
    return [Step(f"layout {d}", ("layout", str(d)), PLANNED, 1.0) for d in range(1, 6)]


def _points_1(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return [
        Point("messages", series, row["dims"], row[key], PLANNED)
        for some in rows.values()
        for row in some
        for series, key in COUNTS.items()
    ]


def _judge_1(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    printed = {(point.series, point.x): point.y for point in published}
    return verdict(
        [
            exact(f"{p.series} in {p.x} dimension{'s'[: p.x != 1]}", printed[p.series, p.x], p.y)
            for p in points
            if (p.series, p.x) in printed
        ],
        "The orders are those that the search found.",
    )


TABLE_1 = Figure(
    number="Table 1",
    title="messages by dimensions",
    claim="An order of the surface needs 42 messages in three dimensions, where basic has 98.",
    published="zhao-table1",
    steps=_steps_1,
    points=_points_1,
    judge=_judge_1,
    plot=Plot("dimensions", "messages", log_x=False),
)

# Figures 4, 8, 9 and 10 ---------------------------------------------------------------------------


def _steps_halos(here: Here) -> Sequence[Step]:
    sizes = "16,64" if here.short else "16,32,64,128,256,512"
    at_scale = Step("simulate halo", ("simulate", "halo", "--size", sizes), SIMULATED, 2.0)
    if not here.mpis:
        return [at_scale]
    exchanges = (PACK, TYPES, BASIC, LAYOUT, MEMMAP, NETWORK)
    return [_halo(here, exchanges, "--stencil", "7"), at_scale]


def _points_halos(rows: Mapping[str, Rows]) -> Sequence[Point]:
    points = []
    for name, some in rows.items():
        for row in some:
            if name.startswith("simulate"):
                series, time = SIMULATIONS[row["algorithm"]], row["predicted_us"]
                points.append(Point(AT_SCALE, series, row["size"], time, SIMULATED))
                continue
            points += [
                Point(panel, called(row), row["size"], row[key], RAN)
                for panel, key in PANELS.items()
                if row[key]
            ]
    return points


def _most(points: Sequence[Point], panel: str, slow: str, fast: str) -> float:
    """How many times as fast, where it is the most."""
    found = ratios(points, panel, slow, fast).values()
    if not found:
        raise Missing(f"{slow} and {fast} were not both timed")
    return max(found)


def _judge_halos(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks = _simulated_halos(published, points)
    if any(point.panel == COMM for point in points):
        checks += _ran_halos(published, points)
    return verdict(checks, f"{SHARED} {GENERIC}")


def _simulated_halos(published: Sequence[Published], points: Sequence[Point]) -> list[Check]:
    """On the paper's 8 nodes."""
    checks = [
        ratio(f"{what}, at most (simulated)", claimed(published, what),
              _most(points, AT_SCALE, slow, fast))
        for what, slow, fast in (
            ("Layout over Basic", BASIC, LAYOUT),
            ("MemMap over YASK", PACK, MEMMAP),
        )
    ]  # fmt: skip
    packed = ratios(points, AT_SCALE, PACK, MEMMAP)
    return [*checks, holds("MemMap is faster than packing (simulated)", faster(packed))]


def _ran_halos(published: Sequence[Published], points: Sequence[Point]) -> list[Check]:
    """On one machine."""
    checks: list[Check] = [
        ratio(f"{what}, at most (ran)", claimed(published, what), _most(points, COMM, slow, fast))
        for what, slow, fast in (
            ("Layout over Basic", BASIC, LAYOUT),
            ("MemMap over YASK", PACK, MEMMAP),
            ("MemMap over MPI_Types", TYPES, MEMMAP),
        )
    ]
    packed = ratios(points, COMM, PACK, MEMMAP)
    checks.append(holds("MemMap is faster than packing (ran)", faster(packed)))
    near = claimed(published, "MemMap over Network")
    checks += [
        ratio(f"MemMap over Network, {size} cells (ran)", near, factor)
        for size, factor in ratios(points, COMM, NETWORK, MEMMAP).items()
    ]
    order = claimed(published, "compute, No-Layout over Layout")
    checks += [
        ratio(f"Computing on mapped bricks against bricks, {size} cells (ran)", order, factor)
        for size, factor in ratios(points, COMPUTE, LAYOUT, MEMMAP).items()
    ]
    steps = ratios(points, STEP, PACK, MEMMAP)
    return [*checks, holds("A step is faster with MemMap than with packing (ran)", faster(steps))]


def _sweeps_halos(here: Here) -> Sequence[Step]:
    sizes = ("16",) if here.short else ("16", "64", "256")
    return [measured.sweep_of(f"{size} cells a side", "halo", "--size", size) for size in sizes]


HALOS = Figure(
    number="Figures 4, 8, 9 and 10",
    title="exchanges, computing and whole steps of a 7-point stencil",
    claim=(
        "Layout is up to 2.3 times as fast as Basic, and MemMap up to 14.4 times as fast as YASK "
        "and 460 times as fast as MPI's datatypes, nearly as fast as the network alone. The order "
        "of bricks does not matter to computing."
    ),
    published="zhao-halos",
    steps=_steps_halos,
    points=_points_halos,
    judge=_judge_halos,
    plot=OVER_SIZE,
    note=(
        NOTE + " One run has the numbers of all four figures. Beside it, communication is "
        "simulated on 8 nodes of a generic machine, without MPI's datatypes, whose cost is the "
        "MPI's."
    ),
    sweeps=_sweeps_halos,
)

# Figure 18 ----------------------------------------------------------------------------------------


def _steps_18(here: Here) -> Sequence[Step]:
    pages = PAGES[-1:] if here.short else PAGES
    return [
        _halo(here, (PACK, TYPES, MEMMAP), "--stencil", "none", "--page", page) for page in pages
    ]


def _points_18(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """A panel for each size of a page."""
    return [
        timed_at(row, f"pages of {row['page'] // 1024} KiB", called(row), row["size"])
        for some in rows.values()
        for row in some
    ]


def _judge_18(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    largest = f"pages of {claimed(published, 'largest page'):.0f} KiB"
    return verdict(
        [
            holds(
                f"MemMap is faster than {other}, {largest}",
                faster(ratios(points, largest, slow, MEMMAP)),
            )
            for other, slow in (("packing", PACK), ("MPI's datatypes", TYPES))
        ],
        SHARED + " So padding costs as much as it would on a fast network.",
    )


def _sweeps_18(here: Here) -> Sequence[Step]:
    """Padding is paid with bytes, and packing with copies."""
    sizes = ("32",) if here.short else ("32", "128")
    more = ("--page", PAGES[-1], "--exchanges", "pack,memmap")
    return [
        measured.sweep_of(f"pages of 64 KiB, {size} cells a side", "halo", "--size", size, *more)
        for size in sizes
    ]


FIGURE_18 = Figure(
    number="Figure 18",
    title="larger pages",
    claim="Even with pages of 64 KiB, MemMap outperforms YASK and MPI's datatypes.",
    published="zhao-fig18",
    steps=_steps_18,
    points=_points_18,
    judge=_judge_18,
    plot=OVER_SIZE,
    note=NOTE + " As in the paper, regions are padded as larger pages would pad them.",
    sweeps=_sweeps_18,
)

# Table 2 ------------------------------------------------------------------------------------------

PADDED: Mapping[str, Callable[[Mapping], float]] = {
    "MemMap": lambda row: row["padding_percent_65536"],
}


def _steps_2(here: Here) -> Sequence[Step]:
    sizes = "16,32" if here.short else "16,32,64,128"
    words = ["bench", "halo", "--size", sizes, "--ranks", "1", "--exchanges", MEMMAP]
    words += ["--stencil", "none", "--rounds", "1", "--max-time", "1"]
    return [Step("bench halo, padding", (*words, "--mpi", measured.first_mpi(here)), PLANNED, 5.0)]


def _points_2(rows: Mapping[str, Rows]) -> Sequence[Point]:
    points = [
        Point("padding", series, row["size"], padded(row), PLANNED)
        for some in rows.values()
        for row in some
        for series, padded in PADDED.items()
    ]
    return [point for point in points if point.y > 0]


def _judge_2(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    own = table(points, "padding", "MemMap")
    printed = {point.x: point.y for point in published if point.series == "MemMap"}
    return verdict(
        [
            amount(f"MemMap's padding, {size} cells", printed[size], percent, "percent")
            for size, percent in own.items()
            if size in printed
        ],
        "Here regions are padded at the ends of messages wherever that is possible, where padding "
        "need not travel; the authors' program places it by the regions beside it.",
    )


TABLE_2 = Figure(
    number="Table 2, padding",
    title="bytes that pages of 64 KiB add",
    claim="Padding adds 2.4 % to subdomains of 512 cells a side, and 883.9 % to those of 16.",
    published="zhao-table2",
    steps=_steps_2,
    points=_points_2,
    judge=_judge_2,
    plot=Plot("cells of a subdomain along each dimension", "percent"),
    note="Padding is counted; larger subdomains than 128 cells a side are left out.",
)

PAPER = Paper(
    key="zhao-2021",
    authors="Zhao et al.",
    year=2021,
    title="Improving Communication by Optimizing On-Node Data Movement with Data Layout",
    claimed=(
        "Bricks in a good order need no packing: 42 messages instead of 98, and with mapped "
        "memory 26, up to 14.4 times as fast as packing."
    ),
    beyond=(
        "On one node tonari maps the neighbor's surface itself, so no byte moves; grids may lie "
        "in memory of a GPU, and the order is searched for and proved to be the best."
    ),
    figures=(TABLE_1, HALOS, FIGURE_18, TABLE_2),
    unmade=(
        Unmade(
            "Table 2, bandwidth",
            "achieved bandwidth of 8 GPUs",
            "It needs several nodes with a V100 each; tonari's simulated device only checks that "
            "exchanges are right, and its times mean nothing.",
        ),
    ),
    headline="Figures 4, 8, 9 and 10",
)
