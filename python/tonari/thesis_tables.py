# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the thesis (Duymuş 2021, Chapter 6), of its own algorithms and of tonari's.

Table 6.2  average messages per processor, and those of the bottleneck processor: initially, after
           Phase I and after Phase II
Table 6.3  their geometric means over a set
Table 6.4  messages after Phase I between ranks that have nothing for each other: average overhead
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

BASELINE = "store-and-forward/2"
# What rows of Table 6.3 are called, and the scheme of each.
ALGORITHMS = {
    "Initial": "direct",
    f"Baseline ({BASELINE})": BASELINE,
    "After Phase I": "thesis-1",
    "After Phase II": "thesis-2",
    "tonari sharing-1": "sharing-1",
    "tonari sharing-2": "sharing-2",
    "tonari balanced": "balanced",
}
THESIS, COUNTED, TONARI = "thesis", "as counted", "tonari"
PHASES = ("initial", "phase_1", "phase_2")


@dataclass(frozen=True)
class Compared:
    """A pattern, and an answer of the core for each scheme that can be used on it.

    counts  messages by rank as the thesis's algorithms count them, after Phase I and after both
    """

    name: str
    ranks: int
    answers: Mapping[str, Any]
    counts: tuple[list[int], list[int]]


@dataclass(frozen=True)
class Loads:
    """A row of Table 6.2 and its number in Table 6.4; each load initially and after the phases."""

    by: str
    average: tuple[float, float, float]
    bottleneck: tuple[int, int, int]
    overhead: float | None


def loads(pattern: Compared) -> list[Loads]:
    """The thesis by its schedules, as it counts itself, and tonari."""
    one, two = pattern.counts
    initial = pattern.answers["direct"]
    counted = Loads(
        COUNTED,
        (initial.avg_messages, sum(one) / pattern.ranks, sum(two) / pattern.ranks),
        (initial.max_messages, max(one), max(two)),
        None,
    )
    return [_scheduled(pattern, THESIS), counted, _scheduled(pattern, TONARI)]


def _scheduled(pattern: Compared, by: str) -> Loads:
    kind = "thesis" if by == THESIS else "sharing"
    answers = [pattern.answers[name] for name in ("direct", f"{kind}-1", f"{kind}-2")]
    initial, one, two = answers
    return Loads(
        by,
        (initial.avg_messages, one.avg_messages, two.avg_messages),
        (initial.max_messages, one.max_messages, two.max_messages),
        one.overhead_messages / pattern.ranks,
    )


@dataclass(frozen=True)
class Mean:
    """A row of Table 6.3. overhead: the mean of Table 6.4, after a Phase I."""

    algorithm: str
    average: float
    maximally_loaded: float
    overhead: float | None


def means(patterns: list[Compared]) -> list[Mean]:
    """Of the schemes that all patterns have."""
    found = []
    for algorithm, scheme in ALGORITHMS.items():
        answers = [pattern.answers.get(scheme) for pattern in patterns]
        if not answers or None in answers:
            continue
        overhead = [answer.overhead_messages / p.ranks for answer, p in zip(answers, patterns)]
        found.append(
            Mean(
                algorithm,
                geometric_mean(answer.avg_messages for answer in answers),
                geometric_mean(answer.max_messages for answer in answers),
                mean_overhead(overhead) if scheme.endswith("-1") else None,
            )
        )
    return found


def geometric_mean(values: Iterable[float]) -> float:
    """As in Table 6.3. 0 if one of them is."""
    numbers = list(values)
    if not numbers or min(numbers) == 0:
        return 0.0
    return exp(sum(map(log, numbers)) / len(numbers))


def mean_overhead(values: Iterable[float]) -> float:
    """The geometric mean of those that are not 0: only so Table 6.4 gives the 0.8 of its text."""
    return geometric_mean(value for value in values if value)


def json_rows(patterns: list[Compared]) -> list[dict[str, Any]]:
    """Rows of Table 6.2, and behind them, if there are several patterns, those of Table 6.3."""
    rows = [_load_row(pattern, one) for pattern in patterns for one in loads(pattern)]
    if len(patterns) > 1:
        rows += [_mean_row(mean, len(patterns)) for mean in means(patterns)]
    return rows


def _load_row(pattern: Compared, one: Loads) -> dict[str, Any]:
    row = {"table": "6.2", "name": pattern.name, "ranks": pattern.ranks, "by": one.by}
    for title, values in (("average", one.average), ("bottleneck", one.bottleneck)):
        row |= {f"{title}_messages_{phase}": value for phase, value in zip(PHASES, values)}
    return row | {"average_overhead": one.overhead}


def _mean_row(mean: Mean, patterns: int) -> dict[str, Any]:
    return {
        "table": "6.3",
        "patterns": patterns,
        "algorithm": mean.algorithm,
        "average_messages": mean.average,
        "maximally_loaded_messages": mean.maximally_loaded,
        "average_overhead": mean.overhead,
    }
