"""From rows of one or several runs to what a table or a plot shows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from tonari.errors import FILE, Error

Row = dict[str, Any]


FLOOR = "floor"  # not an algorithm, and never the best of them: what the hardware allows


def label(row: Row) -> str:
    """The algorithm as it was asked for, with its channel if that was asked for too."""
    return str(row["requested"])


def as_text(rows: list[Row]) -> str:
    """A JSON array, one row per line."""
    return "[\n" + ",\n".join(" " + json.dumps(row, allow_nan=False) for row in rows) + "\n]\n"


def write(rows: list[Row], file: Path) -> None:
    """The rows as a file."""
    try:
        file.write_text(as_text(rows))
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
    return {name: sorted(points, key=lambda point: point["bytes"]) for name, points in found.items()}


def typical(rows: Iterable[Row]) -> list[Row]:
    """Of several repeats the one with the median time (the lower one of two)."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["pattern"], row["op"], row["bytes"], label(row)), []).append(row)
    return [sorted(group, key=lambda row: row["median_us"])[(len(group) - 1) // 2] for group in groups.values()]


def fastest(rows: Iterable[Row]) -> dict[int, float]:
    """By block size the least median of all that deliver the blocks."""
    best: dict[int, float] = {}
    for row in rows:
        if label(row) != FLOOR:
            best[row["bytes"]] = min(row["median_us"], best.get(row["bytes"], row["median_us"]))
    return best


def add_ratio_spread(rows: list[Row]) -> None:
    """ratio_spread: how far ratio_native moves between the repeats, relative to its median; null for a single run."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["pattern"], row["op"], row["bytes"], label(row)), []).append(row)
    for group in groups.values():
        ratios = [row["ratio_native"] for row in group if row["ratio_native"] is not None]
        spread = round((max(ratios) - min(ratios)) / median(ratios), 4) if len(ratios) > 1 else None
        for row in group:
            row["ratio_spread"] = spread
