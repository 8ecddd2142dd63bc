# SPDX-License-Identifier: BSD-3-Clause
"""tonari conformance: what an MPI gets wrong in neighborhood collectives."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tonari import output, preload
from tonari.benchmark.launch import find_mpi
from tonari.commands.options import Json
from tonari.completion import values
from tonari.conformance import PROGRAM, try_all
from tonari.errors import ARGUMENT, Error
from tonari.views.conformance import show

COMMAND = (
    "What starts the ranks: mpiexec -n 5. Put -- before it; default: 5 ranks of the first MPI."
)
ONLY = "Only exchanges whose call, topology or data have this in their names."


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(conformance)


def conformance(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND...", help=COMMAND, show_default=False)
    ] = None,
    mpi: Annotated[
        str,
        typer.Option(
            metavar="MPI",
            help="openmpi, mpich or abi, as built for; default: the launcher's.",
            autocompletion=values("openmpi", "mpich", "abi"),
        ),
    ] = "",
    in_front: Annotated[
        bool, typer.Option("--preload", help="With the library of `tonari run` before the MPI.")
    ] = False,
    brief: Annotated[bool, typer.Option("--short", help="Fewer topologies, less data.")] = False,
    only: Annotated[str, typer.Option(metavar="TEXT", help=ONLY)] = "",
    patience: Annotated[
        int, typer.Option(min=1, metavar="SECONDS", help="What an exchange may take.")
    ] = 10,
    json: Json = False,
) -> None:
    """Tells what an MPI gets wrong in neighborhood collectives and all-to-alls.

    Every form of every operation runs on many topologies with blocks that tell
    where they come from. The exit status is 1 if anything is wrong.

    Example:  tonari conformance -- mpiexec -n 5

    Example:  tonari conformance --preload --short --json -- mpiexec -n 3
    """
    words = list(command or [])
    kind = preload.kind_of(words) if words else ""
    if words and not kind:
        raise Error(f"{words[0]} is no launcher of ranks: say, for example, mpiexec -n 5", ARGUMENT)
    built = find_mpi(mpi or (kind if kind != "slurm" else ""), PROGRAM)
    launch = words or [built.mpiexec, "-n", "5"]
    kind = kind or preload.kind_of(launch)

    def start(options: list[str]) -> list[str]:
        full = [*launch, str(built.program), *options]
        if not in_front:
            return full
        library = preload.before(preload.library_for(built.name))
        return preload.with_variables(full, kind, {"LD_PRELOAD": library})

    rows = try_all(start, _options(brief, only, patience))
    _tell(rows, json)


def _options(brief: bool, only: str, patience: int) -> list[str]:
    words = ["--patience", str(patience)]
    return words + (["--short"] if brief else []) + (["--only", only] if only else [])


def _tell(rows: list[dict[str, Any]], json: bool) -> None:
    if json:
        output.print_json(rows)
    else:
        show(rows)
    raise typer.Exit(int(any(row["wrong"] for row in rows)))
