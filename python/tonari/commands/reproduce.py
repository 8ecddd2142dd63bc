# SPDX-License-Identifier: BSD-3-Clause
"""tonari reproduce: the evaluations of five papers again, as one report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tonari import output
from tonari.commands.options import Mpi
from tonari.completion import values
from tonari.errors import ARGUMENT, INTERNAL, Error
from tonari.reproduce import papers as library
from tonari.reproduce.figures import Paper
from tonari.reproduce.here import look
from tonari.reproduce.make import REPORT, make
from tonari.suggestion import did_you_mean
from tonari.views.reproduce import show

MATRICES = (
    "A folder with the papers' matrices (aug2dc.mtx.gz, Andrews.mtx.gz, tube2.mtx.gz, ...), which "
    "are not shipped."
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(reproduce)


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAPER...",
            help="Only these: " + ", ".join(library.MODULES) + ".",
            show_default=False,
            autocompletion=values(*library.MODULES),
        ),
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Small sizes and few rounds, for two minutes.")
    ] = False,
    folder: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Where rows are kept, and the report is written."),
    ] = Path("build/reproduce"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the rows that are kept in the folder.")
    ] = False,
    mpi: Mpi = "",
    matrices: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help=MATRICES, show_default=False)
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="A row for each figure, for programs, and no report."),
    ] = False,
) -> None:
    """Makes the figures of five papers again, and says where they agree.

    Each figure of their evaluations stands beside the published numbers, with a
    sentence that is computed from both. What ran here is marked apart from what was
    simulated for many ranks. Rows are kept, so an interrupted run goes on where it was.

    Example:  tonari reproduce

    Example:  tonari reproduce --short traeff --folder short
    """
    chosen = _chosen(names or [])
    here = look(short, mpi, matrices, folder)
    outcomes = make(chosen, here, folder, report=not json, fresh=fresh)
    if json:
        output.print_json([one.row() for one in outcomes])
    else:
        show(outcomes)
        print(f"written: {folder / REPORT}", file=sys.stderr)
    failed = [
        f"{one.paper.key} {one.figure.number} {step}" for one in outcomes for step in one.failed
    ]
    if failed:
        raise Error(
            f"{len(failed)} of the commands failed, which the report names and a next run tries "
            f"again: {', '.join(failed)}",
            INTERNAL,
        )


def _chosen(names: Sequence[str]) -> list[Paper]:
    for name in names:
        if name not in library.MODULES:
            raise Error(
                f"there is no paper '{name}'; there are {', '.join(library.MODULES)}"
                + did_you_mean(name, library.MODULES),
                ARGUMENT,
            )
    wanted = [not names or module in names for module in library.MODULES]
    return [paper for paper, take in zip(library.papers(), wanted, strict=True) if take]
