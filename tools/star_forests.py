# SPDX-License-Identifier: BSD-3-Clause
"""What the rows say in which PETSc's own types of star forest compete with tonari's
(docs/performance/petsc.csv)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = Mapping[str, str]
TYPES = ("basic", "neighbor", "tonari")


def is_scatter(row: Row) -> bool:
    """It is an exchange of ghosts alone, not a product or a solve around one."""
    return row["exchange"].count("/") == 2


def copies_its_own(row: Row) -> bool:
    """A rank copies or adds its own cells as well, on a core of its own."""
    return row["ranks"] == "2" and row["exchange"].startswith(("global-to", "local-to-global"))


def ratios(rows: Sequence[Row]) -> list[float]:
    """How many times as fast as the faster of PETSc's own types tonari is, by the best runs."""
    best = [[float(row[f"{kind}, us"].split()[0]) for kind in TYPES] for row in rows]
    return sorted(min(own) / ours for *own, ours in best)


def slower(rows: Sequence[Row]) -> str:
    found = ratios(rows)
    return f"{sum(ratio < 1 for ratio in found)} of {len(found)}"


def table(rows: Sequence[Row]) -> list[list[str]]:
    return [
        ["exchange", *list(rows[0])[2:]],
        *([row["exchange"], *list(row.values())[2:]] for row in rows),
    ]
