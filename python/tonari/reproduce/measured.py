# SPDX-License-Identifier: BSD-3-Clause
"""Steps that call the benchmark and the simulator, and points from what they print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tonari.reproduce.claims import Missing
from tonari.reproduce.figures import RAN, SIMULATED, Here, LeftOut, Point, Rows, Step


def first_mpi(here: Here) -> str:
    """The one that runs. Raises LeftOut."""
    if not here.mpis:
        raise LeftOut("the build has no MPI")
    return here.mpis[0]


def effort(here: Here, mpi: str = "") -> tuple[str, ...]:
    """How long one size of one pattern is timed, and by which MPI."""
    rounds, seconds = ("5", "0.1") if here.short else ("200", "1.5")
    return ("--rounds", rounds, "--max-time", seconds, "--mpi", mpi or first_mpi(here))


def preset(here: Here, name: str, *more: str, ranks: int = 2, seconds: float = 30.0) -> Step:
    """A preset of the benchmark. In the short form give a few sizes in `more`."""
    call = ("bench", "--preset", name, "--ranks", str(ranks), *more, *effort(here))
    return Step(f"bench {name} on {ranks} ranks", call, RAN, seconds)


def bench(
    here: Here, pattern: str, *more: str, ranks: int = 2, seconds: float = 5.0, mpi: str = ""
) -> Step:
    """One pattern, where a preset has too many."""
    call = ("bench", pattern, "--ranks", str(ranks), *more, *effort(here, mpi))
    by = [f"by {mpi}"] if mpi else []
    return Step(" ".join(["bench", pattern, *more, *by]), call, RAN, seconds)


def simulate(pattern: str, ranks: int, sizes: str, algorithms: str, *more: str) -> Step:
    """The model's times on so many ranks."""
    call = (
        "simulate",
        pattern,
        "--ranks",
        str(ranks),
        "--bytes",
        sizes,
        "--algorithms",
        algorithms,
    )
    return Step(
        " ".join([*more[1:], pattern, "on", str(ranks), "ranks"]), (*call, *more), SIMULATED, 4.0
    )


def sweep(pattern: str, ranks: int, size: str, *more: str) -> Step:
    """Where it turns, over overhead, latency and time per byte."""
    call = ("simulate", pattern, "--ranks", str(ranks), "--bytes", size, *more, "--sweep")
    return Step(f"{pattern}, {size} B", call, SIMULATED, 6.0)


def sweep_of(name: str, *words: str) -> Step:
    """The same of any other call of `tonari simulate`."""
    return Step(name, ("simulate", *words, "--sweep"), SIMULATED, 6.0)


def timed_at(row: Mapping[str, Any], panel: str, series: str, x: float) -> Point:
    """A row of any benchmark: its median with quartiles."""
    return Point(panel, series, x, row["median_us"], RAN, row["q1_us"], row["q3_us"])


def timed(rows: Rows, panel: Callable[[Mapping[str, object]], str]) -> Iterable[Point]:
    """Rows of `tonari bench`, over the size of a block."""
    for row in rows:
        yield timed_at(row, panel(row), row["requested"], row["bytes"])


def simulated(rows: Rows, panel: str) -> Iterable[Point]:
    """Rows of `tonari simulate`: of each algorithm its fastest variant."""
    best: dict[tuple[str, int], float] = {}
    for row in rows:
        key = (row["algorithm"], row["bytes"])
        best[key] = min(best.get(key, row["predicted_us"]), row["predicted_us"])
    for (algorithm, size), us in best.items():
        yield Point(panel, algorithm, size, us, SIMULATED)


def table(points: Sequence[Point], panel: str, series: str) -> dict[float | str, float]:
    """x to y of one line. Raises Missing where there is none."""
    found = {p.x: p.y for p in points if (p.panel, p.series) == (panel, series)}
    if not found:
        raise Missing(f"there are no numbers for {series} in {panel}")
    return found


def ratios(points: Sequence[Point], panel: str, slow: str, fast: str) -> dict[float | str, float]:
    """How many times as fast the second line is, at each x that both have."""
    over, under = table(points, panel, slow), table(points, panel, fast)
    return {x: over[x] / under[x] for x in over if x in under}


def faster(factors: Mapping[float | str, float]) -> list[bool]:
    """At each x of ratios, whether the second line is below the first."""
    return [factor > 1 for factor in factors.values()]
