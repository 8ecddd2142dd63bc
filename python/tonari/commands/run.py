# SPDX-License-Identifier: BSD-3-Clause
"""tonari run: an unmodified program, whose neighborhood collectives go through tonari."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tonari import jobs, output, preload
from tonari.completion import values
from tonari.views.run import show, warn

COMMAND = "What starts your program: mpiexec -n 8 ./app. Put -- before it."
MPI = Annotated[
    str,
    typer.Option(
        metavar="MPI",
        help="openmpi, mpich or abi; default: what the program is linked with.",
        autocompletion=values("openmpi", "mpich", "abi"),
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(run)


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help=COMMAND, show_default=False)
    ],
    explain: Annotated[
        bool, typer.Option("--explain", help="Say in the end what went where, by place of call.")
    ] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the rows there.")
    ] = None,
    mpi: MPI = "",
) -> None:
    """Runs a program as it is, and speeds up its neighborhood collectives.

    Blocking calls try both tonari and the MPI, and keep what is faster. Non-blocking
    calls on a node and persistent ones go through tonari, under Open MPI and under
    MPICH with UCX. All other calls go to the MPI. TONARI_PRELOAD=tonari or native
    decides for all calls.

    Example:  tonari run --explain -- mpiexec -n 8 ./app

    Example:  tonari run --json rows.json -- mpiexec -n 8 python app.py
    """
    kind = preload.kind_of(command)
    library = preload.library_of(command, kind, mpi)
    # Here, since nodes that share no other folder share the one where jobs are started.
    with tempfile.TemporaryDirectory(prefix=".tonari-run-", dir=Path.cwd()) as folder:
        variables = {"LD_PRELOAD": preload.before(library)} | preload.sign_in(folder)
        if explain or json:
            variables["TONARI_RUN_REPORT"] = folder
        status = jobs.status_of(preload.with_variables(command, kind, variables))
        loaded, ended = preload.was_loaded(folder), preload.has_ended(folder)
        rows = preload.rows(preload.read_records(Path(folder)))
    if json:
        json.write_text(output.as_json(rows), encoding="utf-8")
    if not loaded:
        warn(preload.LIBRARY, "the MPI did all calls")
    elif explain:
        show(rows, killed=status != 0 or not ended)
    raise typer.Exit(status)
