# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2, 3 and 5 of Träff et al. 2016: message combining beside MPI's collectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from tonari.reproduce import measured
from tonari.reproduce.claims import Check, claimed, holds, most, ratio, verdict, wins
from tonari.reproduce.figures import RAN, Figure, Here, Plot, Point, Published, Rows, Step, Verdict
from tonari.reproduce.measured import ratios

NATIVE, TORUS, DIRECT, AUTO = "native", "torus", "torus-direct", "auto"
RANKS = 480  # 30 x 16 processes on Jupiter
HOSTS = 27  # network namespaces, with TCP between them
MOORE = ("moore:2:1", "moore:3:1", "moore:4:1", "moore:5:1", "moore:3:3")
OCTANT = "octant:3:3"
SIZE_OF_BLOCK = Plot("bytes of a block", "µs")
NAMES = (
    "torus is the paper's Iso_neighbor_alltoall, torus-direct its direct form, native MPI's "
    "collective (simulated: a message per block), auto what tonari chooses by itself. On 2 ranks "
    "all neighbors are one of them, so blocks combine whatever the algorithm; the paper's 480 "
    "ranks are simulated, on a generic machine."
)
COMBINED = "The model's machine has its own latency beside the overhead that combining saves."
RADIUS = (
    " With radius 3 torus takes 18 rounds and not 2d = 6, so 19 times is the most there can be."
)


def on(pattern: str, ranks: object = RANKS, op: str = "") -> str:
    """A panel."""
    return f"{op} {pattern} on {ranks} ranks".strip()


def of_bench(rows: Rows, *, op: bool = False) -> Sequence[Point]:
    """Points of a preset, a panel for each pattern."""

    def panel(row: Mapping[str, object]) -> str:
        return on(str(row["pattern"]), row["ranks"], str(row["op"]) if op else "")

    return list(measured.timed(rows, panel))


def of_all(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """Of the benchmark's steps and those of the simulator, whose names are those of its panels."""
    made = [
        of_bench(some) if name.startswith("bench") else measured.simulated(some, name)
        for name, some in rows.items()
    ]
    return list(chain.from_iterable(made))


def _steps_2(here: Here) -> Sequence[Step]:
    if here.short:
        more = ("--algorithms", "auto,native,torus")
        ran = [measured.bench(here, "moore:3:1", *more, seconds=3)] if here.mpis else []
        return [*ran, measured.simulate("moore:3:1", RANKS, "8,2048", "native,torus")]
    ran = [measured.preset(here, "fig2", seconds=90)] if here.mpis else []
    ran += [_by(mpi, here) for mpi in here.mpis[1:]]
    if here.hosts:
        ran.append(_between_hosts())
    algorithms, sizes = f"{NATIVE},{TORUS},{DIRECT}", "1,8,64,512,2048"
    return ran + [measured.simulate(p, RANKS, sizes, algorithms) for p in (*MOORE, OCTANT)]


def _by(mpi: str, here: Here) -> Step:
    """One pattern by another MPI, whose collective may be faster."""
    more = ("--bytes", "1,8,64,512,2048", "--algorithms", "auto,native,torus")
    return measured.bench(here, "moore:3:1", *more, mpi=mpi, seconds=8)


def _between_hosts() -> Step:
    """Where blocks for different neighbors go to different hosts, combining is real."""
    call = ("bench", "moore:3:1", "--hosts", str(HOSTS), "--bytes", "1,8,64,512,2048")
    call += ("--algorithms", "auto,native,torus", "--rounds", "60", "--max-time", "4")
    return Step(f"bench moore:3:1 on {HOSTS} hosts", call, RAN, 60)


def _points_2(rows: Mapping[str, Rows]) -> Sequence[Point]:
    """With a panel for each MPI but the first one."""
    first = next((row["mpi"] for some in rows.values() for row in some if "mpi" in row), "")
    points: list[Point] = []
    for name, some in rows.items():
        more = f", {some[0]['mpi']}" if some and some[0].get("mpi", first) != first else ""
        points += [replace(p, panel=p.panel + more) for p in of_all({name: some})]
    return points


def _judge_2(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    simulated = [p for p in (*MOORE, OCTANT) if any(q.panel == on(p) for q in points)]
    checks = [_speed_up(published, points, p) for p in simulated if p != OCTANT]
    less = [_diminishes(ratios(points, on(p), NATIVE, TORUS)) for p in simulated]
    checks.append(holds("The advantage of combining diminishes as blocks grow (simulated)", less))
    if OCTANT in simulated:
        asymmetric = ratios(points, on(OCTANT), NATIVE, DIRECT)[8.0]
        checks.append(wins("Positive coordinates, 8 B (simulated)", DIRECT, NATIVE, asymmetric))
    hosts = on("moore:3:1", HOSTS)
    if any(point.panel == hosts for point in points):
        there = claimed(published, "speed-up, 3 dimensions, radius 1")
        own = ratios(points, hosts, NATIVE, TORUS)[8.0]
        checks.append(ratio(f"On {HOSTS} hosts, 8 B, combining is as fast (ran)", there, own))
    ran = dict.fromkeys(q.panel for q in points if "on 2 ranks" in q.panel)
    faster = [ratios(points, panel, NATIVE, AUTO)[8.0] > 1 for panel in ran]
    if faster:
        checks.append(holds("tonari is faster than MPI's collective at 8 B (ran)", faster))
    return verdict(checks, COMBINED + (RADIUS if "moore:3:3" in simulated else ""))


def _speed_up(published: Sequence[Published], points: Sequence[Point], pattern: str) -> Check:
    """Close to the neighbors for each of 2 d messages."""
    _, dims, radius = pattern.split(":")
    key = f"speed-up, {dims} dimensions, radius {radius}"
    own = ratios(points, on(pattern), NATIVE, TORUS)[8.0]
    neighbors = (2 * int(radius) + 1) ** int(dims) - 1
    what = f"{neighbors} neighbors in {dims} dimensions, 8 B, combining is as fast (simulated)"
    return ratio(what, claimed(published, key), own)


def _diminishes(factors: Mapping[float | str, float]) -> bool:
    sizes = sorted(x for x in factors if not isinstance(x, str))
    return factors[sizes[-1]] < factors[min(8.0, sizes[-1])]


FIGURE_2 = Figure(
    number="Figure 2",
    title="all-to-all on Moore neighborhoods, and on positive coordinates only",
    claim=(
        "Small blocks arrive faster by close to the number of neighbors over 2d, and the "
        "advantage diminishes as blocks grow."
    ),
    published="traeff-fig2",
    steps=_steps_2,
    points=_points_2,
    judge=_judge_2,
    plot=SIZE_OF_BLOCK,
    note=NAMES,
    sweeps=lambda here: [measured.sweep("moore:3:1", RANKS, size) for size in ("8", "512")],
)


def _steps_3(here: Here) -> Sequence[Step]:
    if here.short:
        more = ("--op", "alltoallw", "--bytes", "256", "--algorithms", "auto,native,torus")
        return [measured.bench(here, "moore:3:1", *more, seconds=3)]
    return [measured.preset(here, "fig3", seconds=60)]


def _judge_3(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    panels = list(dict.fromkeys(point.panel for point in points))
    percents = claimed(published, "cases won, more than")
    checks = [
        most(
            f"{who} is faster than MPI's collective (ran)",
            percents,
            [
                factor > 1
                for panel in panels
                for factor in ratios(points, panel, NATIVE, name).values()
            ],
        )
        for who, name in (("Combining", TORUS), ("tonari's choice", AUTO))
    ]
    return verdict(checks, "On 2 ranks both copy the same bytes through the memory of one machine.")


FIGURE_3 = Figure(
    number="Figure 3",
    title="alltoallw with blocks that shrink towards the corners",
    claim="Message combining outperforms MPI's collective in most of the cases.",
    published="traeff-fig3",
    steps=_steps_3,
    points=of_all,
    judge=_judge_3,
    plot=Plot("bytes of the largest block", "µs"),
    note="Only ran: the simulator has no blocks of different sizes. " + NAMES.split(" On 2")[0],
)


def _steps_5(here: Here) -> Sequence[Step]:
    algorithms = f"{NATIVE},{TORUS},{DIRECT}"
    sizes, patterns = (
        ("8,512", (OCTANT,)) if here.short else ("1,8,64,512,4096", ("moore:3:3", OCTANT))
    )
    ran = [measured.preset(here, "fig5", seconds=60)] if here.mpis and not here.short else []
    return ran + [
        measured.simulate(pattern, RANKS, sizes, algorithms, "--op", op)
        for pattern in patterns
        for op in ("allgather", "alltoall")
    ]


def _points_5(rows: Mapping[str, Rows]) -> Sequence[Point]:
    made = [
        of_bench(some, op=True) if name.startswith("bench") else measured.simulated(some, name)
        for name, some in rows.items()
    ]
    return list(chain.from_iterable(made))


def _judge_5(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks = []
    full = on("moore:3:3", RANKS, "allgather")
    if any(point.panel == full for point in points):
        own = ratios(points, full, NATIVE, TORUS)[8.0]
        there = claimed(published, "allgather over MPI's")
        checks.append(
            ratio("342 neighbors, 8 B, allgather by combining is as fast (simulated)", there, own)
        )
    gather = measured.table(points, on(OCTANT, RANKS, "allgather"), TORUS)
    all_to_all = measured.table(points, on(OCTANT, RANKS, "alltoall"), TORUS)
    largest = max(x for x in gather if not isinstance(x, str))
    times = all_to_all[largest] / gather[largest]
    there = claimed(published, "allgather over all-to-all, asymmetric")
    what = f"63 neighbors, {largest:,.0f} B, allgather is as fast as all-to-all (simulated)"
    checks.append(ratio(what, there, times))
    checks += _ran_5(points)
    return verdict(checks, COMBINED)


def _ran_5(points: Sequence[Point]) -> list[Check]:
    """Both operations on 2 ranks."""
    panels = [on(pattern, 2, "allgather") for pattern in ("moore:3:3", OCTANT)]
    there = [panel for panel in panels if any(point.panel == panel for point in points)]
    factors = [f for panel in there for f in ratios(points, panel, NATIVE, AUTO).values()]
    what = "tonari's allgather is faster than MPI's (ran)"
    return [holds(what, [factor > 1 for factor in factors])] if factors else []


FIGURE_5 = Figure(
    number="Figure 5",
    title="allgather beside all-to-all on the same neighborhood",
    claim=(
        "Combining allgather takes 80 % less time than MPI's, and a third of all-to-all on an "
        "asymmetric neighborhood."
    ),
    published="traeff-fig5",
    steps=_steps_5,
    points=_points_5,
    judge=_judge_5,
    plot=SIZE_OF_BLOCK,
    note=NAMES,
    sweeps=lambda here: [measured.sweep(OCTANT, RANKS, "64", "--op", "allgather")],
)
