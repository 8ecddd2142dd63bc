# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench: tonari beside MPI's own collectives and plain messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tonari.algorithm_table import NAMES
from tonari.benchmark import plot as plotting
from tonari.benchmark.launch import find_mpi, launch
from tonari.benchmark.presets import PRESETS, Run
from tonari.benchmark.report import report
from tonari.benchmark.summary import add_ratio_spread
from tonari.commands import predictions as modeled
from tonari.commands import regret as default
from tonari.commands.options import GRAPHS as SOME_GRAPHS
from tonari.commands.options import GRIDS, OPERATIONS, TUNES, Hosts, Json, Mpi, Output, Repeat
from tonari.completion import values
from tonari.patterns import GRAPHS, OFFSETS, check_pattern
from tonari.sizes import plain_sizes
from tonari.suggestion import did_you_mean
from tonari.views import bench as view

OTHERS = ("inplace", "halo", "spmv", "sparse")  # commands of their own


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(bench)


def bench(
    pattern: Annotated[
        str,
        typer.Argument(
            help="moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 or a file of offsets; graphs: "
            "random:P, hotspot, hotspot-in, scale-free:K, clique:K. Not with --preset.",
            autocompletion=values(*OTHERS, *GRIDS, *SOME_GRAPHS),
        ),
    ] = "",
    op: Annotated[
        str,
        typer.Option(
            metavar="OP",
            help="alltoall, alltoallv, alltoallw, allgather, allgatherv or allgatherw.",
            autocompletion=OPERATIONS,
        ),
    ] = "alltoall",
    bytes: Annotated[
        str,
        typer.Option(
            metavar="SIZE,...",
            help="Sizes of a block, such as 8,4KiB; in v and w forms of the largest one.",
        ),
    ] = "",
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1, max=65536, metavar="N", help="Processes; default: 2, or as many as hosts."
        ),
    ] = None,
    mpi: Mpi = "",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="A,A,...",
            help=f"auto, one-shot, {NAMES['offsets']}, tonari-native, tonari-irecv, or "
            "with a channel: torus/p2p-typed, linear/shared, linear/onesided, linear/shared/view,"
            " auto/start-with, auto/two-requests, auto/group, auto/requests;"
            f" on graphs {NAMES['graphs']};"
            " native, native-nonblocking, native-persistent, irecv, irecv-persistent; floor; "
            "or all.",
        ),
    ] = "",
    dims: Annotated[
        str,
        typer.Option(metavar="3x3x3", help="The grid of ranks; default: from MPI_Dims_create."),
    ] = "",
    mesh: Annotated[bool, typer.Option("--mesh", help="No dimension is periodic.")] = False,
    layout: Annotated[
        str,
        typer.Option(
            metavar="L",
            help="contiguous, strided (w forms) or halo (alltoallw, its default).",
            autocompletion=values("contiguous", "strided", "halo"),
        ),
    ] = "",
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Timed rounds.")] = 200,
    max_time: Annotated[
        float,
        typer.Option(min=0.0, metavar="S", help="Time limit in seconds, for each block size."),
    ] = 20.0,
    tune: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="tonari_tune of the candidate auto: auto, online, off, model or measure.",
            autocompletion=TUNES,
        ),
    ] = "auto",
    repeat: Repeat = 1,
    hosts: Hosts = 0,
    preset: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="Runs that papers show: " + ", ".join(PRESETS) + ".",
            autocompletion=values(*PRESETS),
        ),
    ] = "",
    setup: Annotated[
        bool,
        typer.Option(
            "--setup", help="Time how long making neighborhoods and requests takes instead."
        ),
    ] = False,
    regret: Annotated[
        bool,
        typer.Option(
            "--regret",
            help="Compare the default with each way that it may choose instead; without a PATTERN "
            "on several patterns and numbers of ranks.",
        ),
    ] = False,
    predictions: Annotated[
        bool,
        typer.Option(
            "--predictions",
            help="Compare what the cost model predicts with what is measured; without a PATTERN "
            "on several patterns and numbers of ranks.",
        ),
    ] = False,
    machine: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="With --predictions: a machine file from `tonari calibrate`; default: the library "
            "measures for itself.",
        ),
    ] = "",
    work: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000,
            metavar="US",
            help="Microseconds that each rank computes before each exchange; times include them.",
        ),
    ] = 0,
    json: Json = False,
    file: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Draw time over block size (.png, .svg, .pdf)."),
    ] = None,
) -> None:
    """Times exchanges by tonari, MPI's neighborhood collectives and plain messages.

    All candidates run in one process, round by round, and every result is verified.

    Example:  tonari bench moore:3:1 --bytes 8,512,4KiB --ranks 2 --mpi openmpi

    Example:  tonari bench moore:3:1 --bytes 8,512 --hosts 27 --output hosts.json

    Example:  tonari bench --preset fig2 --plot fig2.svg

    Example:  tonari bench --regret --mpi openmpi --repeat 3

    Example:  tonari bench --predictions --mpi openmpi --ranks 8

    Other exchanges have commands of their own: bench inplace, bench halo, bench spmv and bench
    sparse.
    """
    bytes = plain_sizes(bytes, "--bytes") if bytes else ""
    grid = ["--dims", dims] if dims else []
    grid += ["--mesh"] if mesh else []
    grid += ["--layout", layout] if layout else []
    grid += ["--work", str(work)] if work else []
    effort = ["--rounds", str(rounds), "--max-time", str(max_time), *grid]
    if machine and not predictions:
        raise typer.BadParameter("--machine goes with --predictions")
    if regret and predictions:
        raise typer.BadParameter("give either --regret or --predictions")
    if regret or predictions:
        option = "--regret" if regret else "--predictions"
        default.refuse(preset, setup, plot, algorithms, tune != "auto", option=option)
        cases = default.choose_cases(pattern, ranks, hosts, OTHERS, option=option)
        chosen = find_mpi(mpi or ("openmpi" if hosts else ""))
    if predictions:
        modeled.compare(chosen, cases, op, bytes, effort, repeat, machine, json=json, file=file)
        return
    if regret:
        default.compare(chosen, cases, op, bytes, effort, repeat, json=json, file=file)
        return
    runs = _runs(pattern, op, bytes, algorithms, preset, setup)
    setup = runs[0].setup
    if plot:
        plotting.check_file(plot)
        if setup:
            raise typer.BadParameter("--setup has no block sizes to plot over")
    chosen = find_mpi(mpi or ("openmpi" if hosts else ""))
    common = [*effort, "--tune", tune]

    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("starting") as status:
        for again in range(repeat):
            for run in runs:
                suffix = f" ({again + 1} of {repeat})" if repeat > 1 else ""
                found = launch(
                    chosen,
                    ranks or hosts or 2,
                    run.arguments() + common,
                    hosts,
                    lambda line, suffix=suffix: status.update(line + suffix),
                )
                rows += [row | {"hosts": hosts, "repeat": again} for row in found]
    if not setup:
        add_ratio_spread(rows)
    report(
        rows,
        json=json,
        file=file,
        plot=plot,
        draw=plotting.draw,
        show=view.show_setup if setup else view.show,
    )


def _runs(
    pattern: str, op: str, bytes: str, algorithms: str, preset: str, setup: bool
) -> list[Run]:
    if pattern in OTHERS:
        raise typer.BadParameter(
            f"write `tonari bench {pattern}` first and its options behind it; they are not "
            "those of bench"
        )
    if bool(pattern) == bool(preset):
        raise typer.BadParameter("give either a pattern, for example moore:3:1, or --preset")
    if pattern:
        check_pattern(pattern, OFFSETS | GRAPHS, OTHERS)
    if not preset:
        return [Run(pattern, op, bytes or "8", algorithms, setup)]
    if preset not in PRESETS:
        raise typer.BadParameter(
            f"there is no preset '{preset}'; there are {', '.join(PRESETS)}"
            + did_you_mean(preset, PRESETS)
        )
    given = {key: value for key, value in (("bytes", bytes), ("algorithms", algorithms)) if value}
    return [replace(run, **given) for run in PRESETS[preset]]
