# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark has found, in one sentence: tonari beside the fastest that MPI offers for the
same work, case by case, and what speaks against believing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import Any

Row = dict[str, Any]
Part = Callable[[Row], str]
Test = Callable[[Row], bool]
EQUAL = 0.05  # medians that differ by less are equal: on a shared machine two runs differ as much
UNSTEADY = 0.1
MOST_NAMED = 3


@dataclass(frozen=True)
class Case:
    """One exchange that both have done.

    name    as it stands in the sentence: "at 32 KiB"; empty if there is only this one
    ratios  the least median of MPI over the least of tonari, one for each repeat
    close   the medians of the only run are no further apart than their confidence intervals
    """

    name: str
    ratios: tuple[float, ...]
    close: bool = False

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def equal(self) -> bool:
        """Within noise."""
        if len(self.ratios) > 1:
            within = min(self.ratios) < 1 < max(self.ratios)
        else:
            within = self.close
        return within or abs(self.ratio - 1) < EQUAL

    @property
    def moved(self) -> float:
        """How far the ratio went between the repeats, relative to its median."""
        return (max(self.ratios) - min(self.ratios)) / self.ratio


def interval(row: Row) -> tuple[float, float]:
    """The confidence interval of the median, in microseconds: the notches of McGill, Tukey and
    Larsen 1978 ("Variations of Box Plots"). Each side has twice its own quartile's distance instead
    of that between the quartiles, as times have long tails on one side."""
    middle, scale = row["median_us"], 2 * 1.57 / sqrt(max(row["rounds"], 1))
    return middle - scale * (middle - row["q1_us"]), middle + scale * (row["q3_us"] - middle)


def compare(rows: Sequence[Row], parts: Sequence[Part], ours: Test, mpi: Test) -> list[Case]:
    """A case for all that the parts of its name tell apart; rows with wrong data are no part of it.
    ours, mpi: which rows are tonari's and MPI's."""
    varying = [part for part in parts if len({part(row) for row in rows}) > 1]
    runs: dict[str, dict[int, list[Row]]] = {}
    for row in filter(right, rows):
        name = " ".join(part(row) for part in varying)
        runs.setdefault(name, {}).setdefault(row.get("repeat", 0), []).append(row)
    cases = []
    for name, repeats in runs.items():
        pairs = [
            (_fastest(filter(ours, one)), _fastest(filter(mpi, one))) for one in repeats.values()
        ]
        if found := [(mine, its) for mine, its in pairs if mine and its]:
            ratios = tuple(its["median_us"] / mine["median_us"] for mine, its in found)
            cases.append(Case(name, ratios, len(found) == 1 and _close(*found[0])))
    return cases


def right(row: Row) -> bool:
    return bool(row.get("verified", True))


def _fastest(rows: Iterable[Row]) -> Row | None:
    return min(rows, key=lambda row: row["median_us"], default=None)


def _close(a: Row, b: Row) -> bool:
    (low, high), (other_low, other_high) = interval(a), interval(b)
    return low <= other_high and other_low <= high


def sentence(cases: Sequence[Case], who: str, whom: str) -> str:
    """How who compares with whom, without its full stop."""
    equal = [case for case in cases if case.equal]
    faster = [case for case in cases if not case.equal and case.ratio > 1]
    slower = [case for case in cases if not case.equal and case.ratio < 1]
    if faster:
        said = f"{who} is {span(faster)} times as fast as {whom}"
        said += f"; as fast within noise {_where(equal, cases)}" if equal else ""
    elif equal:
        said = f"{who} is as fast as {whom} within noise ({span(equal)})"
    else:
        return f"{who} is slower than {whom}: {span(slower)} times as fast"
    return said + (f"; slower {_where(slower, cases, ratios=True)}" if slower else "")


def span(cases: Sequence[Case]) -> str:
    """The ratios, from the least to the largest: 2.1 to 13."""
    ends = dict.fromkeys(_number(end(case.ratio for case in cases)) for end in (min, max))
    return " to ".join(ends)


def _number(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"


def _where(some: Sequence[Case], cases: Sequence[Case], ratios: bool = False) -> str:
    """Which cases, by name if they are few."""
    many = len(some) > MOST_NAMED
    named = [(f"in {len(some)} of {len(cases)} cases", some)] if many else []
    named = named or [(case.name, [case]) for case in some]
    return ", ".join(f"{name} ({span(of)})" if ratios else name for name, of in named)


def caveats(rows: Sequence[Row], cases: Sequence[Case], cores: int | None = None) -> list[str]:
    """What speaks against believing the sentence. cores: those of this machine, if not given."""
    cores = cores or len(os.sched_getaffinity(0))
    found = []
    if any(row.get("disturbed") for row in rows):
        found.append("but something else disturbed the machine, so repeat it")
    if (moved := max((case.moved for case in cases), default=0.0)) > UNSTEADY:
        found.append(f"but between the repeats the ratio moved by up to {100 * moved:.0f} %")
    if any(row.get("mpi") == "mpich" and row["ranks"] > cores for row in rows):
        found.append("but with more ranks than cores MPICH's ranks spin, so its times mean nothing")
    return found


def nothing_to_compare(rows: Sequence[Row], ours: Test, mpi: Test, missing: str) -> str:
    """Why there is no case. missing: what to ask for if nothing of MPI ran."""
    for which, name, ask in ((ours, "tonari", "auto"), (mpi, "MPI", missing)):
        theirs = [row for row in rows if which(row)]
        if not theirs:
            return f"No verdict: nothing of {name} ran that does the same work; ask for {ask}"
        if not any(map(right, theirs)):
            return f"No verdict: what {name} did here delivered wrong data"
    return "No verdict: tonari and MPI were not measured in the same case"
