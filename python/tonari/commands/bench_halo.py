# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench halo: ghost exchanges of grids in every storage beside plain MPI, and steps of a
stencil with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tonari.benchmark import halo_plot
from tonari.benchmark.halo_summary import add_ratio_spread
from tonari.benchmark.launch import Mpi as Program
from tonari.benchmark.launch import Rows, find_mpi, launch
from tonari.benchmark.plot import check_file
from tonari.benchmark.report import report
from tonari.commands.options import Json, Mpi, Output
from tonari.completion import values
from tonari.errors import ARGUMENT, Error
from tonari.sizes import parse_size
from tonari.views import bench_halo as view
from tonari.views import bench_halo_device as device_view

PROGRAM = "tonari_bench_halo"
ON_DEVICE = "tonari_bench_halo_device"


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
    ranks: Annotated[
        int | None,
        typer.Option(min=1, max=65536, metavar="N", help="Processes; default: 2, with --device 1."),
    ] = None,
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
    device: Annotated[
        str,
        typer.Option(
            metavar="D",
            help="In memory of a GPU that one rank has alone: cuda, simulated (no GPU, times mean "
            "nothing), or auto, the first of them that is there.",
            autocompletion=values("auto", "cuda", "simulated"),
        ),
    ] = "",
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

    Example:  tonari bench halo --device auto --size 16,32,64,128,256,512
    """
    common = ["--size", size, "--ghost", str(ghost)]
    common += ["--rounds", str(rounds), "--max-time", str(max_time)]
    if device:
        _only_on_the_host(
            {
                "--ranks": ranks not in (None, 1),
                "--brick": brick != 8,
                "--exchanges": bool(exchanges),
                "--page": page != "0",
                "--plot": bool(plot),
            }
        )
        common += ["--device", device, "--stencils", stencil]
        rows = _repeated(find_mpi(mpi, ON_DEVICE), 1, common, repeat)
        report(rows, json=json, file=file, plot=None, draw=halo_plot.draw, show=device_view.show)
        return
    if plot:
        check_file(plot)
    page_bytes = str(parse_size(page, "--page"))
    common += ["--stencil", stencil, "--brick", str(brick), "--page", page_bytes]
    common += ["--exchanges", exchanges] if exchanges else []
    rows = _repeated(find_mpi(mpi, PROGRAM), ranks or 2, common, repeat)
    add_ratio_spread(rows)
    report(rows, json=json, file=file, plot=plot, draw=halo_plot.draw, show=view.show)


def _only_on_the_host(given: dict[str, bool]) -> None:
    for option, was_given in given.items():
        if was_given:
            raise Error(
                f"{option} is not for --device, which has one rank, bricks of 8 cells, all "
                f"exchanges and the device's page: leave out {option}",
                ARGUMENT,
            )


def _repeated(chosen: Program, ranks: int, arguments: list[str], repeat: int) -> Rows:
    rows: Rows = []
    with Console(stderr=True).status("starting") as status:
        for number in range(repeat):
            found = launch(chosen, ranks, arguments, progress=status.update)
            rows += [row | {"repeat": number} for row in found]
    return rows
