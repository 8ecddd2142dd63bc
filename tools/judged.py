# SPDX-License-Identifier: BSD-3-Clause
"""What the rows say in which tonari simulate is judged by others: the tables of
docs/explanation/simulator.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

Row = Mapping[str, str]
HEADS = [
    "pattern", "ranks", "plans within 10 %", "ratio", "same winner", "ratio, bytes on links",
    "same winner, bytes on links",
]  # fmt: skip
SAME = 1.01  # a winner that is slower by less there ties with the winner there


def ratio(row: Row, column: str = "smpi_us") -> float:
    return float(row["tonari_us"]) / float(row[column])


def near(row: Row) -> bool:
    return abs(ratio(row) - 1) <= 0.1


def same_winner(rows: Sequence[Row], column: str = "smpi_us") -> bool:
    """Of one case: what is fastest here is fastest there, or as good as."""
    winner = min(rows, key=lambda row: float(row["tonari_us"]))
    return float(winner[column]) <= SAME * min(float(row[column]) for row in rows)


def by_case(rows: Sequence[Row]) -> list[list[Row]]:
    """Plans of one pattern, with one size."""
    return [list(g) for _, g in groupby(rows, lambda r: (r["pattern"], r["ranks"], r["bytes"]))]


def simgrid(rows: Sequence[Row]) -> list[list[str]]:
    """The table: per pattern and number of ranks how many plans are within 10 %, and in how many
    cases the same one is the fastest."""
    lines = [HEADS]
    for (pattern, ranks), group in groupby(rows, lambda row: (row["pattern"], row["ranks"])):
        members = list(group)
        cases = by_case(members)
        ratios = [ratio(row) for row in members]
        links = [ratio(row, "links_us") for row in members]
        lines.append(
            [
                pattern,
                f"{int(ranks):,}",
                f"{sum(map(near, members))} of {len(members)}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{sum(map(same_winner, cases))} of {len(cases)}",
                f"{min(links):.2f} to {max(links):.2f}",
                f"{sum(same_winner(case, 'links_us') for case in cases)} of {len(cases)}",
            ]
        )
    return lines
