# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of tonari reproduce: a line for each figure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from tonari import output
from tonari.reproduce.outcome import Outcome
from tonari.reproduce.report.front import counted


def show(outcomes: Sequence[Outcome]) -> None:
    """A table by paper; the sentences are in the report."""
    console = output.console()
    width = max(len(one.figure.number) for one in outcomes) + 2
    for paper, some in groupby(outcomes, key=lambda one: one.paper):
        console.print(f"{paper.authors} {paper.year}", soft_wrap=True)
        for one in some:
            console.print(
                f"  {one.figure.number:<{width}}{one.kind:<17}{one.figure.title}", soft_wrap=True
            )
    console.print(counted(outcomes), soft_wrap=True)
