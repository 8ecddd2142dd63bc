# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench inplace: exchanges in place beside MPI's own, time and memory side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tonari.algorithm_table import NAMES
from tonari.benchmark import inplace_plot
from tonari.benchmark.launch import find_mpi, launch, process_counts
from tonari.benchmark.plot import check_file
from tonari.benchmark.report import report
from tonari.commands.options import Json, Mpi, Output
from tonari.completion import values
from tonari.sizes import parse_size, plain_sizes
from tonari.views import bench_inplace as view

PROGRAM = "tonari_bench_inplace"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench inplace")(bench_inplace)


def bench_inplace(
    total_bytes: Annotated[
        str,
        typer.Option(metavar="SIZE", help="Sum of the sizes of a rank's blocks, such as 64MiB."),
    ] = "1MiB",
    ranks: Annotated[
        str, typer.Option(metavar="N,N,...", help="Processes; one run for each number.")
    ] = "2",
    mpi: Mpi = "",
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE,...",
            help="Budgets of temporary memory, one row each; default: 64KiB,1MiB,8MiB.",
        ),
    ] = "",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="A,A,...",
            help="native-out-of-place, native-inplace, sendrecv-replace; tonari's auto, one-shot, "
            f"{NAMES['in place']}; default: all but auto and one-shot.",
        ),
    ] = "",
    channel: Annotated[
        str, typer.Option(metavar="C,...", help="auto, shared, p2p-packed, one row each.")
    ] = "auto",
    sizes: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="random: uniformly random for each pair of ranks; or equal.",
            autocompletion=values("random", "equal"),
        ),
    ] = "random",
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of the random sizes.")
    ] = 1,
    general: Annotated[
        bool,
        typer.Option(
            "--general", help="Also a redistribution whose send and receive sizes differ."
        ),
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Timed rounds.")] = 200,
    max_time: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="S",
            help="Time limit in seconds, for each number of ranks and kind of exchange.",
        ),
    ] = 20.0,
    json: Json = False,
    file: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Draw time and memory over ranks (.png, .svg, .pdf)."
        ),
    ] = None,
) -> None:
    """Measures time and memory of all-to-all exchanges in place, by tonari and by MPI.

    Beside each other stand tonari with several budgets of memory, MPI's own exchange in place, and
    MPI's with a second buffer.

    Example:  tonari bench inplace --total-bytes 64MiB --ranks 2,4,8 --mpi openmpi
    --plot inplace.svg

    Example:  tonari bench inplace --total-bytes 1000000 --ranks 8 --memory 4KiB,64KiB
    --algorithms native-inplace,hierarchical-sets
    """
    counts = process_counts(ranks)
    if plot:
        check_file(plot)
    chosen = find_mpi(mpi, PROGRAM)
    arguments = [
        "--total-bytes",
        str(parse_size(total_bytes, "--total-bytes")),
        "--channel",
        channel,
        "--sizes",
        sizes,
        "--seed",
        str(seed),
    ]
    arguments += ["--rounds", str(rounds), "--max-time", str(max_time)]
    arguments += ["--memory", plain_sizes(memory, "--memory")] if memory else []
    arguments += ["--algorithms", algorithms] if algorithms else []
    arguments += ["--general"] if general else []

    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for count in counts:
            rows += launch(chosen, count, arguments, progress=status.update)
    report(rows, json=json, file=file, plot=plot, draw=inplace_plot.draw, show=view.show)
