# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari share --thesis`, made for 80 columns."""

from __future__ import annotations

from tonari import output
from tonari.thesis_tables import Compared, Loads, Mean, loads, means

LABEL = 14
HEADS = (
    f"{'':{LABEL}}{'average messages':^26}{'messages of':^28}",
    f"{'':{LABEL}}{'per processor':^26}{'bottleneck processor':^28}   average",
    f"{'':{LABEL}}{'Initial':>8}{'Phase I':>9}{'Phase II':>9}"
    f"{'Initial':>10}{'Phase I':>9}{'Phase II':>9}{'overhead':>10}",
)
WIDE = 31  # the longest name of an algorithm


def show(patterns: list[Compared]) -> None:
    """Prints Table 6.2, and Table 6.3 if there are several patterns."""
    lines = list(HEADS)
    for pattern in patterns:
        lines.append(f"{pattern.name}, {pattern.ranks:,} ranks")
        lines += [_loads(one) for one in loads(pattern)]
    _print(lines)
    _note(
        "thesis: what its schedules send; as counted: what its algorithms count, without "
        "messages between the two of a pair, and without those that a rank keeps for others. "
        "tonari: sharing-1, sharing-2. overhead: messages after Phase I between ranks that have "
        "nothing for each other."
    )
    if len(patterns) > 1:
        _print(["", f"Geometric means of {len(patterns)} patterns", *_means(means(patterns))])
        _note("overhead: of those that are not 0, as in the thesis.")


def _loads(one: Loads) -> str:
    initial, *others = one.average
    averages = f"{initial:8,.2f}" + "".join(f"{value:9,.2f}" for value in others)
    initial, *others = one.bottleneck
    most = f"{initial:10,}" + "".join(f"{value:9,}" for value in others)
    return f"{'  ' + one.by:{LABEL}}{averages}{most}{_overhead(one.overhead)}"


def _means(rows: list[Mean]) -> list[str]:
    heads = [
        f"{'':{WIDE}}{'average':>9}{'messages of':>18}{'average':>10}",
        f"{'algorithm':{WIDE}}{'messages':>9}{'maximally-loaded':>18}{'overhead':>10}",
    ]
    return heads + [
        f"{row.algorithm:{WIDE}}{row.average:9,.1f}{row.maximally_loaded:18,.1f}"
        f"{_overhead(row.overhead)}"
        for row in rows
    ]


def _overhead(value: float | None) -> str:
    return "" if value is None else f"{value:10,.2f}"


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line.rstrip())


def _note(text: str) -> None:
    output.console().print(f"\n{text}", style="dim")
