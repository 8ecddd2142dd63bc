# SPDX-License-Identifier: BSD-3-Clause
"""From rows of one or several runs to what a table or a plot shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from tonari.errors import FILE, Error

Row = dict[str, Any]

FLOOR = "floor"  # not an algorithm, and never the best of them: what none can leave out
# They exchange other buffers, more of them or fewer, or leave out a copy that MPI makes.
OTHER_WORK = {"start-with", "two-requests", "group", "requests", "view"}
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}


def mpi_of(row: Row) -> str:
    """The MPI that ran, as people write it: `Open MPI 4.1.4`."""
    return f"{MPIS.get(row['mpi'], row['mpi'])} {row['mpi_version']}".strip()


def label(row: Row) -> str:
    """The algorithm as it was asked for, with its channel if that was asked for too."""
    return str(row["requested"])


def as_text(rows: list[Row]) -> str:
    """A JSON array, one row per line."""
    return "[\n" + ",\n".join(" " + json.dumps(row, allow_nan=False) for row in rows) + "\n]\n"


def write(rows: list[Row], file: Path) -> None:
    """The rows as a file."""
    write_text(as_text(rows), file)


def write_text(text: str, file: Path) -> None:
    """Raises Error with a sentence."""
    try:
        file.write_text(text)
    except OSError as error:
        raise Error(f"cannot write {file}: {error.strerror}", FILE) from error


def panels(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by pattern and operation, in order of appearance."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(f"{row['pattern']} {row['op']}", []).append(row)
    return found


def series(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """By algorithm, one point per block size (the repeat with the median time)."""
    found: dict[str, list[Row]] = {}
    for row in typical(rows):
        if row["verified"]:
            found.setdefault(label(row), []).append(row)
    return {
        name: sorted(points, key=lambda point: point["bytes"]) for name, points in found.items()
    }


def repeats(rows: Iterable[Row], key: Callable[[Row], Any]) -> list[list[Row]]:
    """Rows that differ by nothing but the repeat, in order of appearance."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def middle(group: list[Row]) -> Row:
    """Of several repeats the one with the median time (the lower one of two)."""
    return sorted(group, key=lambda row: row["median_us"])[(len(group) - 1) // 2]


def add_spread(groups: Iterable[list[Row]], *ratios: str) -> None:
    """ratio_spread: how far the ratio, the first one that there is, moves between the repeats,
    relative to its median; null for a single run."""
    for group in groups:
        for key in ratios:
            found = [row[key] for row in group if row[key] is not None]
            if found:
                break
        spread = round((max(found) - min(found)) / median(found), 4) if len(found) > 1 else None
        for row in group:
            row["ratio_spread"] = spread


def _exchange(row: Row) -> tuple[Any, ...]:
    return row["pattern"], row["op"], row["bytes"], label(row)


def typical(rows: Iterable[Row]) -> list[Row]:
    return [middle(group) for group in repeats(rows, _exchange)]


def fastest(rows: Iterable[Row]) -> dict[int, float]:
    """By block size the least median of all that deliver the blocks."""
    best: dict[int, float] = {}
    for row in rows:
        if label(row) != FLOOR:
            best[row["bytes"]] = min(row["median_us"], best.get(row["bytes"], row["median_us"]))
    return best


def overtaken(rows: Iterable[Row]) -> list[tuple[str, int, str]]:
    """Exchanges where the floor took longer than a candidate that delivers all blocks, which shows
    that something disturbed it: the panel, the block size, and the fastest candidate."""
    found = []
    for title, members in panels(typical(rows)).items():
        floors = {row["bytes"]: row["median_us"] for row in members if label(row) == FLOOR}
        for size, floor in floors.items():
            same = [r for r in members if r["bytes"] == size and _delivers_all(r)]
            best = min(same, key=lambda row: row["median_us"], default=None)
            if best and best["median_us"] < floor:
                found.append((title, size, label(best)))
    return found


def _delivers_all(row: Row) -> bool:
    other = label(row) == FLOOR or label(row).split("/")[-1] in OTHER_WORK
    return bool(row["verified"]) and not other


def add_ratio_spread(rows: list[Row]) -> None:
    add_spread(repeats(rows, _exchange), "ratio_native")
