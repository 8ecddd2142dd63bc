# SPDX-License-Identifier: BSD-3-Clause
"""What the rows say in which tonari simulate is judged by others: the tables of
docs/explanation/simulator.md."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

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


# Hosts --------------------------------------------------------------------------------------------

CLOSE = 0.3  # so far off a predicted ratio may be
CLEAR = 1.15  # a ratio from which on the winner counts
HOST_HEADS = [
    "pattern", "hosts", "block", "direct/combined", "predicted", "within 30 %", "same winner",
    "time of direct, predicted/measured",
]  # fmt: skip


def host_ratios(rows: Sequence[Row]) -> tuple[list[float], float]:
    """Of the runs of one case: what each measured, direct over combined, and the prediction."""
    seen = sorted(float(row["direct_us"]) / float(row["combined_us"]) for row in rows)
    first = rows[0]
    return seen, float(first["predicted_direct_us"]) / float(first["predicted_combined_us"])


def by_hosts(rows: Sequence[Row]) -> list[list[Row]]:
    """Runs of one case; those of a size need not follow each other."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault((row["pattern"], row["hosts"], row["bytes"]), []).append(row)
    return list(found.values())


def close(case: Sequence[Row]) -> bool:
    seen, predicted = host_ratios(case)
    return abs(predicted / median(seen) - 1) <= CLOSE


def same_host_winner(case: Sequence[Row]) -> bool | None:
    """None: neither wins clearly."""
    seen, predicted = host_ratios(case)
    ratio = median(seen)
    if 1 / CLEAR <= ratio <= CLEAR:
        return None
    return (predicted > 1) == (ratio > 1)


def hosts(rows: Sequence[Row]) -> list[list[str]]:
    """The table: per number of hosts and size the ratios of the runs, and the predicted one."""
    lines = [HOST_HEADS]
    for case in by_hosts(rows):
        seen, predicted = host_ratios(case)
        least, most = f"{seen[0]:.2f}", f"{seen[-1]:.2f}"
        winner = same_host_winner(case)
        middle = median(float(row["direct_us"]) for row in case)
        lines.append(
            [
                case[0]["pattern"],
                case[0]["hosts"],
                f"{int(case[0]['bytes']):,} B",
                least if least == most else f"{least} to {most}",
                f"{predicted:.2f}",
                "yes" if close(case) else "no",
                "near 1" if winner is None else "yes" if winner else "no",
                f"{float(case[0]['predicted_direct_us']) / middle:.2f}",
            ]
        )
    return lines


def hosts_agree(rows: Sequence[Row]) -> bool:
    cases = by_hosts(rows)
    return all(map(close, cases)) and not any(same_host_winner(c) is False for c in cases)


def hosts_found(rows: Sequence[Row]) -> str:
    cases = by_hosts(rows)
    clear = [winner for case in cases if (winner := same_host_winner(case)) is not None]
    return f"{counted([close(case) for case in cases])} ratios, {counted(clear)} winners"


# LogGOPSim ----------------------------------------------------------------------------------------


def loggopsim(rows: Sequence[Row]) -> list[list[str]]:
    """The table: of each kind of schedules, how many end at the same nanosecond. A build that was
    not there has empty cells, and no column."""
    columns = {"loggopsim_ns": "equal"}
    if any(row["stable_ns"] for row in rows):
        columns["stable_ns"] = "equal, sorted stably"
    lines = [["schedules", "number", *columns.values()]]
    for kind, group in groupby(rows, lambda row: row["schedules"]):
        members = list(group)
        equal = [sum(row[c] == row["tonari_ns"] for row in members) for c in columns]
        lines.append([kind, str(len(members)), *map(str, equal)])
    return lines


def loggopsim_agrees(rows: Sequence[Row]) -> bool:
    return all(equal_of(rows))


def equal_of(rows: Sequence[Row]) -> list[bool]:
    """In the build that sorts stably, if there is one."""
    column = "stable_ns" if any(row["stable_ns"] for row in rows) else "loggopsim_ns"
    return [row[column] == row["tonari_ns"] for row in rows]


def loggopsim_found(rows: Sequence[Row]) -> str:
    return f"{counted(equal_of(rows))} schedules"


def near_of(rows: Sequence[Row]) -> list[bool]:
    return [near(row) for row in rows]


def winners_of(rows: Sequence[Row]) -> list[bool]:
    return [same_winner(case) for case in by_case(rows)]


def counted(found: Sequence[bool]) -> str:
    return f"{sum(found)} of {len(found)}"


def simgrid_agrees(rows: Sequence[Row]) -> bool:
    """Nine of ten, each."""
    return all(sum(f) >= 0.9 * len(f) for f in (near_of(rows), winners_of(rows)))


def simgrid_found(rows: Sequence[Row]) -> str:
    return f"{counted(near_of(rows))} plans, {counted(winners_of(rows))} winners"


# Files and tables ---------------------------------------------------------------------------------


def write_rows(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def as_table(lines: list[list[str]]) -> str:
    head, *body = lines
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ["---"] * len(head), *body])
