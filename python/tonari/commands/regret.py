# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench --regret: the default beside each way that it may choose instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from tonari.benchmark import plot
from tonari.benchmark.launch import Mpi
from tonari.benchmark.regret import CASES, SIZES, Case, losses, measure, table
from tonari.benchmark.report import report
from tonari.benchmark.summary import write_text
from tonari.patterns import GRAPHS, OFFSETS, check_pattern
from tonari.views import regret as view


def refuse(*options: object, option: str = "--regret") -> None:
    """Options that say which candidates run, or how they are shown; empty: not given."""
    if any(options):
        raise typer.BadParameter(
            f"{option} has candidates of its own: leave out --preset, --setup, --algorithms, "
            "--tune and --plot"
        )


def choose_cases(
    pattern: str, ranks: int | None, hosts: int, others: Sequence[str], option: str = "--regret"
) -> list[Case]:
    """The one that is given, or all of the usual ones on so many ranks or hosts. others:
    commands of their own, which are no patterns."""
    if pattern:
        check_pattern(pattern, OFFSETS | GRAPHS, others)
        return [Case(pattern, ranks or hosts or 2, hosts)]
    found = [case for case in CASES if case.hosts == hosts and ranks in (None, case.ranks)]
    if not found:
        known = ", ".join(str(count) for count in sorted({c.ranks for c in CASES if not c.hosts}))
        between = ", ".join(str(count) for count in sorted({c.hosts for c in CASES if c.hosts}))
        raise typer.BadParameter(
            f"{option} has patterns for {known} ranks, and for one rank on each of {between} "
            "hosts: give one of these numbers, or a pattern"
        )
    return found


def compare(
    mpi: Mpi,
    cases: list[Case],
    op: str,
    sizes: str,
    common: list[str],
    repeat: int,
    *,
    json: bool,
    file: Path | None,
) -> None:
    """Measures the cases, and shows what the default loses. A file that ends with .csv gets the
    table instead of the rows."""
    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for again in range(repeat):
            for case in cases:
                found = measure(mpi, case, op, sizes or SIZES, common, status.update)
                rows += [row | {"repeat": again} for row in found]
    if file and file.suffix == ".csv":
        write_text(table(losses(rows)), file)
        print(f"written: {file}", file=sys.stderr)
        file = None
    report(rows, json=json, file=file, plot=None, draw=plot.draw, show=view.show)
