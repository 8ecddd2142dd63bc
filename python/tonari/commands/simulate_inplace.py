# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate inplace: how long exchanges in place would take on many ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from tonari.algorithm_table import NAMES
from tonari.benchmark.plot import check_file
from tonari.commands.options import Json, Machine, counts
from tonari.commands.simulate import Plot, Sweep, simulate_and_print
from tonari.simulation import NATIVE, read_machine
from tonari.sizes import parse_size
from tonari.swaps import IN_PLACE, swap_algorithms, swap_jobs


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("simulate inplace")(simulate_inplace)


def simulate_inplace(
    ranks: Annotated[str, typer.Option(metavar="P,P,...", help="Numbers of ranks.")] = "64",
    total_bytes: Annotated[
        str,
        typer.Option(metavar="SIZE", help="Sum of the sizes of a rank's blocks, all equal."),
    ] = "1MiB",
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE,...",
            help="Temporary memory of a rank, one row each; at least one block has room.",
        ),
    ] = "0",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="A,A,...",
            help=f"native: the MPI's own, out of place; {NAMES[IN_PLACE]}; default: all.",
        ),
    ] = "",
    machine: Machine = "",
    sweep: Sweep = False,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """How long an exchange in place takes on many ranks, in each order of swaps, without MPI.

    Each rank swaps a block with each other one. What leaves is copied out of the
    way first; with more memory, more swaps run at a time.

    Example:  tonari simulate inplace --ranks 64,256,1024 --total-bytes 64MiB

    Example:  tonari simulate inplace --ranks 128 --total-bytes 1MiB --sweep --plot sweep.svg
    """
    if plot and not sweep:
        raise typer.BadParameter("--plot draws what --sweep finds: give both")
    if plot:
        check_file(plot)
    model = read_machine(machine, None)
    total = parse_size(total_bytes, "--total-bytes")
    memories = [parse_size(size, "--memory") for size in memory.split(",")]
    names = swap_algorithms(algorithms.split(",") if algorithms else [], NATIVE)
    jobs = [
        job for count in counts(ranks) for job in swap_jobs(count, total, memories, names, machine)
    ]
    simulate_and_print("exchange", jobs, model, machine, sweep=sweep, plot=plot, json=json)
