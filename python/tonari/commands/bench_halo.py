# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench halo: ghost exchanges of grids in every storage beside plain MPI, and steps of a
stencil with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tonari.benchmark import halo_plot
from tonari.benchmark.halo_summary import add_ratio_spread
from tonari.benchmark.launch import find_mpi, launch
from tonari.benchmark.plot import check_file
from tonari.benchmark.report import report
from tonari.commands.options import Json, Mpi, Output
from tonari.completion import values
from tonari.sizes import parse_size
from tonari.views import bench_halo as view

PROGRAM = "tonari_bench_halo"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench halo")(bench_halo)


def bench_halo(
    size: Annotated[
        str,
        typer.Option(
            metavar="N,N,...",
            help="Own cells of each rank's subdomain along each of three dimensions.",
        ),
    ] = "64",
    ghost: Annotated[
        int, typer.Option(min=1, metavar="N", help="Width of the ghosts in cells.")
    ] = 8,
    ranks: Annotated[int, typer.Option(min=1, max=65536, metavar="N", help="Processes.")] = 2,
    mpi: Mpi = "",
    stencil: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Points of the stencil: 7 or 125; none: exchanges only.",
            autocompletion=values("7", "125", "none"),
        ),
    ] = "7",
    brick: Annotated[
        int, typer.Option(metavar="N", help="Cells of a brick along each dimension: 4 or 8.")
    ] = 8,
    exchanges: Annotated[
        str,
        typer.Option(
            metavar="E,E,...",
            help="Names such as layout, or with their storage, such as mapped/layout; default: "
            "all.",
        ),
    ] = "",
    page: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Mapped regions are padded to multiples of it, such as 64KiB; 0: the system's "
            "page.",
        ),
    ] = "0",
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Timed rounds.")] = 200,
    max_time: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="S",
            help="Time limit in seconds, for each size: half for exchanges and half for steps.",
        ),
    ] = 20.0,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Repeat everything N times.")] = 1,
    json: Json = False,
    file: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw exchanges, computing, steps and padding over the size (.png, .svg, .pdf).",
        ),
    ] = None,
) -> None:
    """Times ghost exchanges of a periodic 3-d grid, by tonari and by MPI.

    Beside each other stand arrays, bricks and mapped bricks, plain packing, MPI's datatypes, and
    the floor.

    Example:  tonari bench halo --size 64 --ghost 8 --ranks 2 --mpi openmpi

    Example:  tonari bench halo --size 16,32,64,128 --stencil 125
    --exchanges pack,datatypes,network,brick/layout,memmap,zero-byte --plot halo.svg
    """
    if plot:
        check_file(plot)
    chosen = find_mpi(mpi, PROGRAM)
    arguments = [
        "--size",
        size,
        "--ghost",
        str(ghost),
        "--stencil",
        stencil,
        "--brick",
        str(brick),
        "--page",
        str(parse_size(page, "--page")),
    ]
    arguments += ["--rounds", str(rounds), "--max-time", str(max_time)]
    arguments += ["--exchanges", exchanges] if exchanges else []

    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for number in range(repeat):
            rows += [
                row | {"repeat": number}
                for row in launch(chosen, ranks, arguments, progress=status.update)
            ]
    add_ratio_spread(rows)
    report(rows, json=json, file=file, plot=plot, draw=halo_plot.draw, show=view.show)
