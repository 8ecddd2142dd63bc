# SPDX-License-Identifier: BSD-3-Clause
"""From rows of `bench spmv`, of one or several runs, to what its tables and its plot show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tonari.benchmark.summary import add_spread, middle, repeats

Row = dict[str, Any]
SIMULATED = "simulated"  # the kind of rows that no MPI has run
KINDS = {
    "forward": "forward exchange: values to all that need them",
    "fields": "forward exchange of four vectors at once",
    "reverse": "reverse exchange: contributions back to the owners, added",
    "rows": "product by rows, exchange included",
    "columns": "product by columns, exchange included",
}


def label(row: Row) -> str:
    return str(row["candidate"])


def _contestant(row: Row) -> tuple[Any, ...]:
    return row["ranks"], row["kind"], label(row)


def complete(rows: list[Row]) -> list[Row]:
    """All rows with the same fields, null where one has none."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [{key: row.get(key) for key in keys} for row in rows]


def measured(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] != SIMULATED]


def simulated(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] == SIMULATED]


def typical(rows: Iterable[Row]) -> list[Row]:
    return [middle(group) for group in repeats(measured(rows), _contestant)]


def add_ratio_spread(rows: list[Row]) -> None:
    add_spread(repeats(measured(rows), _contestant), "ratio_native", "ratio_best")


def panels(rows: Iterable[Row]) -> dict[tuple[int, str], list[Row]]:
    """Measured rows by number of ranks and kind, in order of appearance."""
    found: dict[tuple[int, str], list[Row]] = {}
    for row in measured(rows):
        found.setdefault((row["ranks"], row["kind"]), []).append(row)
    return found


def series(rows: Iterable[Row]) -> dict[str, list[tuple[int, float]]]:
    """By candidate: points of time over ranks. Wrong results have none."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["verified"]:
            found.setdefault(label(row), []).append((row["ranks"], row["median_us"]))
    return {name: sorted(points) for name, points in found.items()}
