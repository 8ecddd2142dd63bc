# SPDX-License-Identifier: BSD-3-Clause
"""From rows of `bench halo`, of one or several runs, to what its table and its plot show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tonari.benchmark.summary import add_spread, middle, repeats

Row = dict[str, Any]
FLOORS = ("network", "network-remote")  # no exchanges of a grid, and never the best of them
PAGES = (4096, 16384, 65536, 2097152)  # for which rows have the padding


def label(row: Row) -> str:
    """The storage and the name; the floors have no storage, and pack and datatypes only one."""
    return (
        str(row["exchange"])
        if row["storage"] == "buffers"
        else f"{row['storage']}/{row['exchange']}"
    )


def memory(row: Row) -> str:
    """Where the row's grid is stored, as far as it matters to computing."""
    return "mapped ghosts" if row["exchange"] == "zero-byte" else str(row["storage"])


def sizes(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Rows by the size of the subdomain, in order of appearance."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["size"], []).append(row)
    return found


def _exchange(row: Row) -> tuple[Any, ...]:
    return row["size"], label(row)


def typical(rows: Iterable[Row]) -> list[Row]:
    return [middle(group) for group in repeats(rows, _exchange)]


def series(rows: Iterable[Row], key: str) -> dict[str, list[tuple[int, float]]]:
    """By exchange: points of a field over the size. Wrong results have none, nor have those without
    the field."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in typical(rows):
        if row["verified"] and row[key] is not None:
            found.setdefault(label(row), []).append((row["size"], row[key]))
    return {name: sorted(points) for name, points in found.items()}


def computing(rows: Iterable[Row]) -> dict[str, list[tuple[int, float]]]:
    """By storage and way to compute: microseconds for the own cells once, over the size."""
    found: dict[str, dict[int, float]] = {}
    for row in typical(rows):
        if row["kernel_us"] is None:
            continue
        for name, key in (
            (memory(row), "kernel_us"),
            ("plain loops", "kernel_plain_us"),
            ("tiled loops", "kernel_tiled_us"),
            ("read and write", "copy_us"),
        ):
            found.setdefault(name, {}).setdefault(row["size"], row[key])
    return {name: sorted(points.items()) for name, points in found.items()}


def add_ratio_spread(rows: list[Row]) -> None:
    add_spread(repeats(rows, _exchange), "of_network", "ratio_datatypes")
