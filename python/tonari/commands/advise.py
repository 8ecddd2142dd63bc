# SPDX-License-Identifier: BSD-3-Clause
"""tonari advise: watches an unmodified program, and says which of its exchanges tonari would make
faster."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tonari import jobs, output, preload
from tonari.advice.exchanges import Job, read
from tonari.advice.page import page
from tonari.advice.rows import rows
from tonari.commands.run import COMMAND, MPI
from tonari.errors import FILE, Error
from tonari.views.advise import show
from tonari.views.run import warn


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(advise)


def advise(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help=COMMAND, show_default=False)
    ],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page there.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the rows there.")
    ] = None,
    mpi: MPI = "",
) -> None:
    """Watches a program as it is, and says where tonari would make it faster.

    The program runs as always. What it sends by MPI_Isend, MPI_Irecv, MPI_Sendrecv,
    persistent requests or MPI_Alltoallv is noted by place of call. In MPI_Finalize the
    exchanges that come again are replayed, by the MPI and by tonari in turns. The report
    names them by file and line, with the code that would replace them.

    Example:  tonari advise -- mpiexec -n 8 ./app

    Example:  tonari advise --html advice.html --json advice.json -- mpiexec -n 8 ./app
    """
    for file in (html, json):
        _check(file)
    kind = preload.kind_of(command)
    library = preload.library_of(command, kind, mpi, preload.WATCHING)
    # Here, since nodes that share no other folder share the one where jobs are started.
    with tempfile.TemporaryDirectory(prefix=".tonari-advise-", dir=Path.cwd()) as folder:
        variables = {"LD_PRELOAD": preload.before(library), "TONARI_ADVISE_REPORT": folder}
        status = jobs.status_of(preload.with_variables(command, kind, variables))
        job = read(preload.read_records(Path(folder)))
    _write(job, html, json)
    if job.ranks or status != 0:  # ranks that were killed have not told anything, either
        show(job)
    else:
        warn(preload.WATCHING, "nothing was watched")
    raise typer.Exit(status)


def _check(file: Path | None) -> None:
    """Before a run of hours, not after it."""
    if file and not file.absolute().parent.is_dir():
        raise Error(f"{file} cannot be written: there is no folder {file.parent}", FILE)


def _write(job: Job, html: Path | None, json: Path | None) -> None:
    if json:
        json.write_text(output.as_json(rows(job)), encoding="utf-8")
    if html:
        html.write_text(page(job), encoding="utf-8")
