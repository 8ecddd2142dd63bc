# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate halo: how long ghosts of cubes would take on many ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from tonari.benchmark.plot import check_file
from tonari.commands.options import Json, Machine, counts
from tonari.commands.simulate import Plot, Sweep, simulate_and_print
from tonari.halos import EXCHANGES, Cubes, halo_exchanges, halo_jobs
from tonari.simulation import read_machine
from tonari.sizes import parse_size


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("simulate halo")(simulate_halo)


def simulate_halo(
    size: Annotated[
        str,
        typer.Option(
            metavar="N,N,...", help="Own cells of each rank along each of three dimensions."
        ),
    ] = "64",
    ghost: Annotated[
        int, typer.Option(min=1, max=4096, metavar="N", help="Width of the ghosts in cells.")
    ] = 8,
    ranks: Annotated[
        int, typer.Option(min=1, metavar="P", help="Ranks, on a torus as even as they allow.")
    ] = 8,
    brick: Annotated[
        int, typer.Option(min=1, max=4096, metavar="N", help="Cells of a brick along a dimension.")
    ] = 8,
    page: Annotated[
        str,
        typer.Option(metavar="SIZE", help="memmap: regions are padded to multiples of it."),
    ] = "4KiB",
    exchanges: Annotated[
        str, typer.Option(metavar="E,E,...", help=f"{', '.join(EXCHANGES)}; default: all.")
    ] = "",
    machine: Machine = "",
    sweep: Sweep = False,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """How long an exchange of ghosts takes on many ranks, packed, in bricks or mapped, without MPI.

    pack sends a message to each neighbor, and copies rows of cells at both ends.
    basic and layout send contiguous pieces of bricks, memmap mapped pages.

    Example:  tonari simulate halo --size 16,64,256 --ranks 512

    Example:  tonari simulate halo --size 32 --ranks 8 --sweep --plot sweep.svg
    """
    if plot and not sweep:
        raise typer.BadParameter("--plot draws what --sweep finds: give both")
    if plot:
        check_file(plot)
    model = read_machine(machine, None)
    names = halo_exchanges(exchanges.split(",") if exchanges else [])
    cubes = Cubes(counts(size, "--size"), ghost, brick, parse_size(page, "--page"))
    jobs = halo_jobs(cubes, ranks, names, machine)
    simulate_and_print("cubes", jobs, model, machine, sweep=sweep, plot=plot, json=json)
