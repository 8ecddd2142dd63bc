# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench --predictions: what the cost model says beside what is measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from tonari.benchmark import plot
from tonari.benchmark.launch import Mpi
from tonari.benchmark.predictions import compared, measure, table
from tonari.benchmark.regret import Case
from tonari.benchmark.report import report
from tonari.benchmark.summary import write_text
from tonari.views import predictions as view


def compare(
    mpi: Mpi,
    cases: list[Case],
    op: str,
    sizes: str,
    common: list[str],
    repeat: int,
    machine: str,
    *,
    json: bool,
    file: Path | None,
) -> None:
    """Measures the cases, and shows how far off predictions are. A file that ends with .csv gets
    the table instead of the rows."""
    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for again in range(repeat):
            for case in cases:
                found = measure(mpi, case, op, sizes, common, status.update, machine)
                rows += [row | {"repeat": again} for row in found]
    if file and file.suffix == ".csv":
        write_text(table(compared(rows)), file)
        print(f"written: {file}", file=sys.stderr)
        file = None
    report(rows, json=json, file=file, plot=None, draw=plot.draw, show=view.show)
