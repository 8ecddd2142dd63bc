# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench sparse: messages to ranks that do not expect them, beside what programs write."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from tonari.benchmark.launch import find_mpi, launch, process_counts
from tonari.benchmark.report import report
from tonari.commands.options import Json, Mpi, Output
from tonari.sizes import plain_sizes
from tonari.views import bench_sparse as view

PROGRAM = "tonari_bench_sparse"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench sparse")(bench_sparse)


def bench_sparse(
    bytes: Annotated[
        str,
        typer.Option(
            metavar="SIZE,...", help="Sizes of a message, such as 8,4KiB, rounded up to 8 bytes."
        ),
    ] = "8,1KiB,64KiB",
    targets: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random ranks that each rank sends to.")
    ] = 6,
    ranks: Annotated[
        str, typer.Option(metavar="N,N,...", help="Processes; one run for each number.")
    ] = "2",
    mpi: Mpi = "",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="A,A,...",
            help="counts, dense, plain-nbx; tonari's auto, in-flight, pairwise, nbx, personalized "
            "and store-and-forward/N with N from 1 to 3; default: all but pairwise and the last.",
        ),
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of the random targets.")
    ] = 1,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Timed rounds.")] = 200,
    max_time: Annotated[
        float,
        typer.Option(min=0.0, metavar="S", help="Time limit in seconds, for each size."),
    ] = 20.0,
    json: Json = False,
    file: Output = None,
) -> None:
    """Times messages to ranks that do not expect them, by tonari and by what programs write.

    Beside each other stand tonari_sparse_alltoallv, its form that does not block, an all-to-all of
    counts before plain messages or before MPI_Alltoallv, and NBX as its paper prints it.

    Example:  tonari bench sparse --bytes 8,4KiB --targets 3 --ranks 2,4,8 --mpi openmpi
    """
    counts = process_counts(ranks)
    chosen = find_mpi(mpi, PROGRAM)
    arguments = [
        "--bytes",
        plain_sizes(bytes, "--bytes"),
        "--targets",
        str(targets),
        "--seed",
        str(seed),
    ]
    arguments += ["--rounds", str(rounds), "--max-time", str(max_time)]
    arguments += ["--algorithms", algorithms] if algorithms else []

    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for count in counts:
            rows += launch(chosen, count, arguments, progress=status.update)
    report(rows, json=json, file=file, plot=None, draw=lambda *_: None, show=view.show)
