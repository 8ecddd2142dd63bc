# SPDX-License-Identifier: BSD-3-Clause
"""Table 2 of Träff et al. 2016: what making neighborhoods and schedules takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tonari.reproduce import measured
from tonari.reproduce.claims import Check, Missing, holds, ratio, verdict
from tonari.reproduce.figures import RAN, Figure, Here, Plot, Point, Published, Rows, Step, Verdict

ADJACENT, GENERAL = "MPI_Dist_graph_create_adjacent", "MPI_Dist_graph_create"
NEIGHBORHOOD, INIT = "Iso_neighborhood_create", "Iso_neighborhood_alltoall_init"
OURS = {  # function and algorithm of the benchmark's rows: the paper's name
    (ADJACENT, ""): ADJACENT,
    (GENERAL, ""): GENERAL,
    ("tonari_neighborhood_create_cart", ""): NEIGHBORHOOD,
    ("tonari_alltoall_init", "torus"): INIT,
}
SAME_BALLPARK = 1.5
REASON = (
    "Here 2 ranks of one machine exchange what 480 ranks of a cluster did in the paper. So MPI's "
    "constructors take microseconds; a schedule, which no rank exchanges, takes as long as there."
)


def _steps(here: Here) -> Sequence[Step]:
    if here.short:
        return [measured.bench(here, "moore:2:1", "--setup", seconds=4)]
    return [measured.preset(here, "table2", seconds=90)]


def _points(rows: Mapping[str, Rows]) -> Sequence[Point]:
    return [point for some in rows.values() for row in some for point in _point(row)]


def _point(row: Mapping[str, object]) -> Iterable[Point]:
    name = OURS.get((str(row["function"]), str(row["algorithm"])))
    if name:
        _, dims, radius = str(row["pattern"]).split(":")
        ms, low, high = (float(str(row[key])) / 1e3 for key in ("median_us", "q1_us", "q3_us"))
        yield Point(f"{dims} dimensions", name, float(radius), ms, RAN, low, high)


def _judge(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    """The paper's words: the general constructor is significantly more expensive, and tonari's
    call is faster than or in the same ballpark as the adjacent one."""
    panels = dict.fromkeys(point.panel for point in points)
    slower, near, largest = [], [], []
    for panel in panels:
        general = measured.ratios(points, panel, GENERAL, ADJACENT)
        slower += [factor > 1 for factor in general.values()]
        ours = measured.ratios(points, panel, NEIGHBORHOOD, ADJACENT)
        near += [factor < SAME_BALLPARK for factor in ours.values()]
        largest.append(max((x for x in general if not isinstance(x, str)), default=0.0))
    if not panels:
        raise Missing("no set-up was timed")
    checks = [
        holds(f"{GENERAL} takes longer than {ADJACENT}", slower),
        holds(f"{NEIGHBORHOOD} is faster than {ADJACENT}, or in its ballpark", near),
        *(_cost(published, points, panel, x) for panel, x in zip(panels, largest, strict=True)),
    ]
    return verdict(checks, REASON)


def _cost(
    published: Sequence[Published], points: Sequence[Point], panel: str, radius: float
) -> Check:
    """A schedule, in neighborhoods that MPI makes meanwhile."""
    own = measured.ratios(points, panel, INIT, ADJACENT)[radius]
    theirs = measured.ratios(published, panel, INIT, ADJACENT)[radius]
    return ratio(f"{panel}, radius {radius:.0f}, {INIT} in times of {ADJACENT}", theirs, own)


TABLE_2 = Figure(
    number="Table 2",
    title="set-up times of Moore neighborhoods and their schedules",
    claim=(
        f"{GENERAL} is significantly more expensive than {ADJACENT}; {NEIGHBORHOOD} is faster "
        "than the latter or in the same ballpark."
    ),
    published="traeff-table2",
    steps=_steps,
    points=_points,
    judge=_judge,
    plot=Plot("radius", "ms", log_x=False),
    note=(
        f"{NEIGHBORHOOD} is tonari_neighborhood_create_cart here, and {INIT} is "
        "tonari_alltoall_init of torus without measuring."
    ),
)
