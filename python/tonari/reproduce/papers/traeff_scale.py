# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4, 6, 7 and 8 of Träff et al. 2016: straight along the dimensions, hop by hop, or
neither, on up to 12,000 ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tonari.reproduce import measured
from tonari.reproduce.claims import (
    Check,
    claimed,
    exact,
    holds,
    more,
    of_panel,
    ratio,
    turn,
    verdict,
    wins,
)
from tonari.reproduce.figures import (
    AGREES,
    DIFFERS,
    PLANNED,
    Figure,
    Here,
    Point,
    Published,
    Rows,
    Step,
    Verdict,
)
from tonari.reproduce.measured import ratios
from tonari.reproduce.papers.traeff_measured import (
    DIRECT,
    NAMES,
    NATIVE,
    RANKS,
    SIZE_OF_BLOCK,
    TORUS,
    of_all,
    on,
)

SHELLS, FULL, WIDE = "shells:3:3,7", "moore:3:3", "moore:5:1"
ROUNDS = "rounds of the shells"
THREE = f"{NATIVE},{TORUS},{DIRECT}"
SIZES = "1,8,64,128,256,500,512,1000,1024,2048,4096"
STRAIGHT = "native stands for the paper's straightforward algorithm: a message per block. "
VSC3 = 1120  # 70 x 16 processes
ARCHER = 12_000  # 500 x 24 processes


def _steps_4(here: Here) -> Sequence[Step]:
    plan = Step("plan", ("plan", SHELLS, "--bytes", "8"), PLANNED, 3)
    if here.short:
        return [plan, measured.simulate(SHELLS, RANKS, "8,500,1000", THREE)]
    ran = [measured.preset(here, "fig4", seconds=60)] if here.mpis else []
    return [plan, *ran, *(measured.simulate(p, RANKS, SIZES, THREE) for p in (FULL, SHELLS))]


def _points_4(rows: Mapping[str, Rows]) -> Sequence[Point]:
    planned = [
        Point(ROUNDS, row["algorithm"], "rounds", row["rounds"], PLANNED)
        for row in rows.get("plan", [])
        if row["algorithm"] in (TORUS, DIRECT, "linear")
    ]
    timed = of_all({name: some for name, some in rows.items() if name != "plan"})
    return [*timed, *planned]


def _judge_4(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    panel = on(SHELLS)
    rounds = {
        name: measured.table(points, ROUNDS, name)["rounds"] for name in ("linear", TORUS, DIRECT)
    }
    checks = [
        exact(
            "Neighbors of the shells",
            claimed(published, "neighbors of the shells"),
            rounds["linear"],
        ),
        exact("Rounds of torus", claimed(published, "rounds of torus, shells"), rounds[TORUS]),
        exact(
            "Rounds of torus-direct",
            claimed(published, "rounds of torus-direct, shells"),
            rounds[DIRECT],
        ),
        turn(
            "On the shells, torus falls behind a message per block (simulated)",
            claimed(published, "torus becomes slower, shells"),
            of_panel(points, panel, TORUS),
            of_panel(points, panel, NATIVE),
            "B",
        ),
        ratio(
            "Shells, 500 B, torus-direct is as fast as a message per block (simulated)",
            claimed(published, "torus-direct over straightforward, shells"),
            ratios(points, panel, NATIVE, DIRECT)[500.0],
        ),
        holds(
            "On the shells, torus-direct is at least as fast as torus (simulated)",
            [factor >= 1 for factor in ratios(points, panel, TORUS, DIRECT).values()],
        ),
    ]
    return verdict(
        checks,
        "Shells of radius 3 and 7 contain every coordinate from -7 to 7, so going straight along "
        "a dimension takes 14 rounds; the paper's 12 in all counts two coordinates each way.",
    )


FIGURE_4 = Figure(
    number="Figure 4",
    title="straightforward, torus and torus-direct, on a full neighborhood and on shells",
    claim=(
        "On two shells torus takes 42 rounds and torus-direct 12; torus is slower than the "
        "straightforward algorithm from 500 B, and torus-direct stays on par."
    ),
    published="traeff-fig4",
    steps=_steps_4,
    points=_points_4,
    judge=_judge_4,
    plot=SIZE_OF_BLOCK,
    note=STRAIGHT + NAMES,
    sweeps=lambda here: [] if here.short else [measured.sweep(FULL, RANKS, "64")],
)


def _steps_6(here: Here) -> Sequence[Step]:
    sizes, counts = ("8,512,1000,4096", (VSC3,)) if here.short else (SIZES + ",16384", (70, VSC3))
    return [measured.simulate(FULL, ranks, sizes, THREE) for ranks in counts]


def _judge_6(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks = []
    for panel in dict.fromkeys(point.panel for point in points):
        straight = of_panel(points, panel, NATIVE)
        for name, key in (
            (DIRECT, "torus-direct is best up to"),
            (TORUS, "both beat straightforward under"),
        ):
            what = f"{panel}, {name} falls behind a message per block"
            fast = of_panel(points, panel, name)
            checks.append(turn(what, claimed(published, key), fast, straight, "B"))
        gain = ratios(points, panel, TORUS, DIRECT)
        what = f"{panel}, torus-direct is faster than torus"
        checks.append(holds(what, [factor > 1 for factor in gain.values()]))
    return verdict(checks, "Where it turns follows the machine's time per byte: see the sweep.")


FIGURE_6 = Figure(
    number="Figure 6",
    title="torus and torus-direct with 342 neighbors, on 70 and 1,120 ranks",
    claim=(
        "torus-direct is the fastest up to 1 kB, and both beat the straightforward algorithm "
        "under 512 B."
    ),
    published="traeff-fig6",
    steps=_steps_6,
    points=of_all,
    judge=_judge_6,
    plot=SIZE_OF_BLOCK,
    note=(
        STRAIGHT + "All is simulated. The paper's own MPI collective, MVAPICH's, is not modeled, "
        "nor that 16 ranks share a node's network."
    ),
    sweeps=lambda here: [measured.sweep(FULL, VSC3, size) for size in ("8", "512")],
)


def _steps_7(here: Here) -> Sequence[Step]:
    sizes = "8" if here.short else SIZES
    return [measured.simulate(pattern, VSC3, sizes, THREE) for pattern in (WIDE, FULL)]


def _judge_7(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    more = {
        pattern: ratios(points, on(pattern, VSC3), TORUS, DIRECT)[8.0] for pattern in (WIDE, FULL)
    }
    least = claimed(published, "straightforward over torus, small, more than")
    checks = [
        wins(
            f"{WIDE}, 8 B", name, NATIVE, ratios(points, on(WIDE, VSC3), NATIVE, name)[8.0] / least
        )
        for name in (TORUS, DIRECT)
    ]
    wide, full = (f"{more[pattern]:.2f}" for pattern in (WIDE, FULL))
    nearer = more[WIDE] < more[FULL]
    sentence = (
        f"torus takes {wide} times as long as torus-direct, and with the neighborhood of Figure 6 "
        f"{full} times. Published is that it comes nearer with a smaller radius."
    )
    return verdict([*checks, Check(AGREES if nearer else DIFFERS, sentence)])


FIGURE_7 = Figure(
    number="Figure 7",
    title="torus and torus-direct on a neighborhood of smaller radius, on 1,120 ranks",
    claim=(
        "With a smaller radius torus comes nearer to torus-direct, and both beat the "
        "straightforward algorithm for small blocks."
    ),
    published="traeff-fig7",
    steps=_steps_7,
    points=of_all,
    judge=_judge_7,
    plot=SIZE_OF_BLOCK,
    note=(
        STRAIGHT + "The caption names no neighborhood, only that its size is comparable to 342: "
        "here it is moore:5:1 with 242. All is simulated."
    ),
    sweeps=lambda here: [] if here.short else [measured.sweep(WIDE, VSC3, "64")],
)


def _steps_8(here: Here) -> Sequence[Step]:
    patterns = ("moore:4:1",) if here.short else ("moore:4:1", WIDE)
    sizes = "8,512" if here.short else SIZES
    return [measured.simulate(pattern, ARCHER, sizes, f"{NATIVE},{TORUS}") for pattern in patterns]


def _judge_8(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    large = claimed(published, "straightforward over torus, more than")
    panels = list(dict.fromkeys(point.panel for point in points))
    factors = {panel: ratios(points, panel, NATIVE, TORUS)[8.0] for panel in panels}
    checks = [
        more(f"{panel}, 8 B, combining is as fast", large, factor, "large factors")
        for panel, factor in factors.items()
    ]
    return verdict(checks)


FIGURE_8 = Figure(
    number="Figure 8",
    title="all-to-all with 80 and 242 neighbors, on 12,000 ranks",
    claim=(
        "Message combining improves over the straightforward algorithm by large factors, and over "
        "Cray's own collective only a little."
    ),
    published="traeff-fig8",
    steps=_steps_8,
    points=of_all,
    judge=_judge_8,
    plot=SIZE_OF_BLOCK,
    note=(
        STRAIGHT + "All is simulated. Cray's own collective is left out: what it does is not "
        "published."
    ),
    sweeps=lambda here: [
        measured.sweep("moore:4:1", ARCHER, "8", "--algorithms", f"native,{TORUS}")
    ],
)
