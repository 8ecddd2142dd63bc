# SPDX-License-Identifier: BSD-3-Clause
"""Duymuş 2021: sharing messages between processes (a thesis)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tonari.reproduce import measured
from tonari.reproduce.claims import (
    amount,
    claimed,
    holds,
    less,
    value,
    verdict,
)
from tonari.reproduce.figures import (
    PLANNED,
    Figure,
    Here,
    Paper,
    Plot,
    Point,
    Published,
    Rows,
    Step,
    Verdict,
)

FOLDER = "comm512"  # of communication matrices, in the one that --matrices names
AVERAGE, BOTTLENECK, OVERHEAD = "average messages", "messages of the bottleneck", "average overhead"
MEANS = "geometric means"
PHASES = {"initial": "Initial", "phase_1": "Phase I", "phase_2": "Phase II"}
COLUMNS = {"average": AVERAGE, "bottleneck": BOTTLENECK}
# Rows of Table 6.3: what the command calls them, and the series of the claims.
ALGORITHMS = {
    "Initial": "Initial",
    "Baseline (store-and-forward/2)": "Baseline",
    "After Phase I": "Phase I",
    "After Phase II": "Phase II",
    "tonari sharing-2": "tonari sharing-2",
    "tonari balanced": "tonari balanced",
}
LOAD = {"average_messages": AVERAGE, "maximally_loaded_messages": BOTTLENECK}
SHARES_MOST = "coAuthorsDBLP"  # 175 messages on average before, 49 after
SWEPT_RANKS = 256  # of patterns that are made up: a sweep is some fifty simulations
SWEPT = "native,store-and-forward,message-sharing,balanced"


def _steps(here: Here) -> Sequence[Step]:
    files = [] if here.short else _given(here)
    if len(files) < 2:  # one has no mean
        files += made_up(here.scratch, 64 if here.short else 512)
    words = ("share", "--thesis", "--communication", *map(str, files))
    return [Step(f"share --thesis of {len(files)} patterns", words, PLANNED, 8.0 * len(files))]


def _given(here: Here) -> list[Path]:
    """The thesis's patterns and others."""
    return sorted((here.matrices / FOLDER).glob("*.mtx*")) if here.matrices else []


def made_up(folder: Path, ranks: int) -> list[Path]:
    """Communication matrices of three kinds, written here; always the same ones."""
    kinds = {"hubs": _hubs, "groups": _groups, "mesh-and-few": _mesh_and_few}
    files = [folder / f"made-up-{name}-{ranks}.mtx" for name in kinds]
    if all(file.is_file() for file in files):
        return files
    numbers = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    for file, kind in zip(files, kinds.values(), strict=True):
        sends = kind(numbers, ranks)
        np.fill_diagonal(sends, False)
        pairs = np.argwhere(sends) + 1
        words = numbers.integers(1, 40, len(pairs))
        lines = [f"{i} {j} {count}" for (i, j), count in zip(pairs, words, strict=True)]
        head = "%%MatrixMarket matrix coordinate integer general"
        text = "\n".join([head, f"{ranks} {ranks} {len(pairs)}", *lines])
        part = file.with_suffix(".part")
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(file)
    return files


def _near(ranks: int) -> np.ndarray:
    """To the four ranks on either side."""
    apart = np.abs(np.subtract.outer(np.arange(ranks), np.arange(ranks)))
    return (apart > 0) & (apart <= 4)


def _hubs(numbers: np.random.Generator, ranks: int) -> np.ndarray:
    """A few ranks send to nearly all."""
    sends = _near(ranks)
    hubs = numbers.choice(ranks, max(2, ranks // 32), replace=False)
    sends[hubs] |= numbers.random((len(hubs), ranks)) < 0.8
    return sends


def _groups(numbers: np.random.Generator, ranks: int) -> np.ndarray:
    """All of a group send to each other; each rank is in several."""
    sends = np.zeros((ranks, ranks), dtype=bool)
    for size in numbers.integers(4, max(6, ranks // 8), 24):
        group = numbers.choice(ranks, size, replace=False)
        sends[np.ix_(group, group)] = True
    return sends


def _mesh_and_few(numbers: np.random.Generator, ranks: int) -> np.ndarray:
    """Neighbors, and far ones that get fewer with the rank."""
    share = 0.4 / (1 + np.arange(ranks))[:, None] ** 0.5
    return _near(ranks) | (numbers.random((ranks, ranks)) < share)


def _sweeps(here: Here) -> Sequence[Step]:
    """Fewer messages of the busiest process are paid by more stages and longer messages: what that
    is worth depends on the network."""
    files = [] if here.short else _given(here)
    file = _busiest(files) or made_up(here.scratch, 64 if here.short else SWEPT_RANKS)[0]
    words = ("--graph", str(file), "--algorithms", SWEPT)
    sizes = ("8",) if here.short else ("8", "1024")
    name = file.name.partition(".")[0]
    return [measured.sweep_of(f"{name}, {size} B", *words, "--bytes", size) for size in sizes]


def _busiest(files: Sequence[Path]) -> Path | None:
    """The pattern of the thesis that shares the most, or any other."""
    named = [file for file in files if SHARES_MOST in file.name]
    return (named or [*files, None])[0]


def _points(rows: Mapping[str, Rows]) -> Sequence[Point]:
    points = []
    for some in rows.values():
        for row in some:
            points += _of_table_6_3(row) if row["table"] == "6.3" else _of_table_6_2(row)
    return [point for point in points if point.y > 0]


def _of_table_6_2(row: Mapping) -> Sequence[Point]:
    if row["by"] not in ("thesis", "tonari"):
        return []
    before = "" if row["by"] == "thesis" else "tonari "
    points = [
        Point(panel, before + title, row["name"], row[f"{kind}_messages_{phase}"], PLANNED)
        for kind, panel in COLUMNS.items()
        for phase, title in PHASES.items()
        if not (before and phase == "initial")
    ]
    overhead = row["average_overhead"]
    return [*points, Point(OVERHEAD, f"{before}Phase I", row["name"], overhead, PLANNED)]


def _of_table_6_3(row: Mapping) -> Sequence[Point]:
    series = ALGORITHMS.get(row["algorithm"])
    if not series:
        return []
    return [Point(MEANS, series, x, row[key], PLANNED) for key, x in LOAD.items()]


def saved(points: Sequence[Point], x: str, before: str, after: str) -> float:
    """Percent, of the means."""
    return 100 * (1 - value(points, MEANS, after, x) / value(points, MEANS, before, x))


def _judge(published: Sequence[Published], points: Sequence[Point]) -> Verdict:
    checks = [
        less(what, claimed(published, key), saved(points, BOTTLENECK, before, "Phase II"))
        for what, key, before in (
            ("Phase II under the initial bottleneck", "Phase II, bottleneck", "Initial"),
            ("Phase II under the baseline", "Phase II under the baseline", "Baseline"),
        )
    ]
    checks.insert(
        0,
        less(
            "Phase I under the initial bottleneck",
            claimed(published, "Phase I, bottleneck"),
            saved(points, BOTTLENECK, "Initial", "Phase I"),
        ),
    )
    average = saved(points, AVERAGE, "Baseline", "Phase II")
    checks.append(
        less("Phase II's average under the baseline's",
             claimed(published, "average under the baseline"), average)
    )  # fmt: skip
    checks.append(holds("Phase II has a lower bottleneck than at first", _lower(points)))
    printed = {(p.panel, p.series, p.x): p.y for p in published}
    for point in points:
        there = printed.get((point.panel, point.series, point.x))
        if there and point.panel != MEANS:
            what = f"{point.x}, {point.panel}, {point.series}"
            checks.append(amount(what, there, point.y, "messages"))
    return verdict(
        checks,
        "The sets of matrices and their partitions are others, and what the text leaves open is "
        "read as docs/adr/0074-the-thesis-as-written.md says.",
    )


def _lower(points: Sequence[Point]) -> list[bool]:
    """For each pattern."""
    names = {point.x for point in points if point.panel == BOTTLENECK}
    return [
        value(points, BOTTLENECK, "Phase II", name) < value(points, BOTTLENECK, "Initial", name)
        for name in sorted(map(str, names))
    ]


TABLES = Figure(
    number="Tables 6.2 to 6.4",
    title="messages before and after both phases",
    claim=(
        "The busiest process sends 54 % less after Phase I, and 84 % less after both; that is "
        "26 % less than with store and forward."
    ),
    published="duymus-tables",
    steps=_steps,
    points=_points,
    judge=_judge,
    plot=Plot("pattern", "messages", log_x=False, bars=True),
    note=(
        "All communication matrices of the folder comm512, in the one that --matrices names, are "
        "planned; those with a name of the thesis stand beside its numbers. Without at least two, "
        "patterns of three kinds are made up."
    ),
    sweeps=_sweeps,
)

PAPER = Paper(
    key="duymus-2021",
    authors="Duymuş",
    year=2021,
    title=(
        "Performance Improvement on Latency-Bound Parallel HPC Applications by Message Sharing "
        "between Processors"
    ),
    claimed=(
        "Processes that send much to the same ones share their messages. The busiest process then "
        "sends 84 % fewer messages, and 26 % fewer than with store and forward."
    ),
    beyond=(
        "tonari's plans of several stages bound what the busiest rank receives and its words, "
        "too, and its reference executor proves that every message arrives."
    ),
    figures=(TABLES,),
    headline="Tables 6.2 to 6.4",
)
