# SPDX-License-Identifier: BSD-3-Clause
"""What the cost model predicts beside what is measured: each way of the library, made by force, on
the patterns of the benchmark. What the model knows of the machine, it has measured in the same run,
or read from a machine file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from tonari.benchmark.launch import Mpi, launch
from tonari.benchmark.presets import Run
from tonari.benchmark.regret import SIZES, Case, where
from tonari.benchmark.summary import Row, label, mpi_of, repeats
from tonari.output import short_size

NEAR = 2.0  # as many times as long, or as short, still counts as right
GOAL = 0.9  # the part of the cases that should be
KEYS = ("mpi", "mpi_version", "pattern", "op", "ranks", "hosts", "bytes")  # of an exchange


def measure(
    mpi: Mpi,
    case: Case,
    op: str,
    sizes: str,
    common: list[str],
    progress: Callable[[str], None],
    machine: str = "",
) -> list[Row]:
    """Rows of one case; machine: a file, or nothing is known before."""
    run = Run(case.pattern, op, sizes or SIZES, "forced").arguments()
    batch = ["--batch", "8" if case.hosts else "24", "--warmup", "4"]
    with tempfile.TemporaryDirectory(prefix="tonari-predictions-") as folder:
        variables = {"TONARI_CACHE_DIR": folder} | ({"TONARI_MACHINE": machine} if machine else {})
        found = launch(
            mpi,
            case.ranks,
            run + batch + ["--tune", "model"] + common,
            case.hosts,
            lambda line: progress(f"{line}, {case.ranks} ranks"),
            variables,
        )
    return [row | {"hosts": case.hosts} for row in found if row["predicted_us"] > 0]


@dataclass(frozen=True)
class Exchange:
    """One exchange, and how many times as long as predicted each way takes: the median of the
    repeats."""

    row: Row
    ratios: dict[str, float]

    @property
    def near(self) -> int:
        return sum(1 / NEAR <= ratio <= NEAR for ratio in self.ratios.values())


def compared(rows: list[Row]) -> list[Exchange]:
    """One for each exchange. The choice of the model is one of its ways, and does not count
    twice."""
    found = []
    for members in repeats(rows, lambda row: tuple(row[key] for key in KEYS)):
        ways = repeats((row for row in members if label(row) != "auto"), label)
        ratios = {
            label(way[0]): median(row["median_us"] / row["predicted_us"] for row in way)
            for way in ways
        }
        found.append(Exchange(members[0], ratios))
    return found


TITLES = ("pattern", "ranks", "MPI", "block", "ways", "within 2x", "least", "most")


def table(found: list[Exchange]) -> str:
    """As CSV: measured times over predicted ones, the least and the most of the ways."""
    lines = [",".join(TITLES)]
    for exchange in found:
        row, ratios = exchange.row, exchange.ratios.values()
        cells = (row["pattern"], where(row), mpi_of(row), short_size(row["bytes"]))
        counts = (str(len(ratios)), str(exchange.near))
        lines.append(",".join((*cells, *counts, f"{min(ratios):.2f}", f"{max(ratios):.2f}")))
    return "\n".join(lines) + "\n"


def verdict(found: list[Exchange]) -> str:
    """The sentence below the table."""
    near, total = sum(exchange.near for exchange in found), sum(len(e.ratios) for e in found)
    part = near / total if total else 0
    goal = "reached" if part >= GOAL else "missed"
    return f"predicted within 2x: {near} of {total} ({part:.0%}; the goal of {GOAL:.0%} is {goal})"
