# SPDX-License-Identifier: BSD-3-Clause
"""Runs what is missing, asks the judges, and writes the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tonari.benchmark.summary import write_text
from tonari.errors import FILE, Error
from tonari.reproduce.figures import Here, Paper
from tonari.reproduce.here import machine
from tonari.reproduce.keep import Keep
from tonari.reproduce.outcome import Outcome, outcome
from tonari.reproduce.report.page import check_plotly, page
from tonari.reproduce.run import forget, plan, run

REPORT = "report.html"


def make(
    papers: Sequence[Paper],
    here: Here,
    folder: Path,
    *,
    report: bool = True,
    fresh: bool = False,
) -> list[Outcome]:
    """The outcome of each figure. Rows are kept in the folder, and the report is written there,
    unless none is wanted. fresh: rows that are kept already are made again."""
    if report:
        check_plotly()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or "").lower()
        raise Error(
            f"cannot make the folder {folder}: {why}; name another with --folder", FILE
        ) from None
    made, keep = plan(papers, here), Keep(folder)
    if fresh:
        forget(made, keep)
    run(made, keep)
    outcomes = [outcome(one) for one in made]
    if report:
        write_text(page(papers, outcomes, here, machine(here)), folder / REPORT)
    return outcomes
