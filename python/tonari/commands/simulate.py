# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate: how long an exchange would take on many ranks, event by event."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Annotated, Any

import typer

from tonari import interruptible, output
from tonari.benchmark.plot import check_file
from tonari.commands.options import OF_BLOCKS, Blocks, Json, Machine, Mesh, Pattern, one_of
from tonari.commands.plan import DIMS
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.graph_report import make_question
from tonari.graphs import read_graph
from tonari.grids import balanced_dims, parse_dims
from tonari.neighborhood import neighborhood
from tonari.simulation import (
    MOST_RANKS,
    Job,
    check_memory,
    goal_job,
    graph_jobs,
    in_background,
    json_row,
    left_out,
    pattern_jobs,
    read_machine,
    simulate_jobs,
)
from tonari.sizes import parse_size
from tonari.sweep import json_rows, sweep_jobs
from tonari.views import sweep as sweep_view
from tonari.views.simulate import show

GRAPH = "Instead of a pattern: which rank sends to which, as `tonari plan --graph` reads it."
RANKS = "Number of ranks; a pattern's lie on a grid as even as they allow."
ALGORITHMS = "Only these; native: a message per block, as MPI libraries do; default: all."
SEED = "Where the machine has noise: of the phases of ranks; default: 1."
GOAL = "Write the schedule of the one algorithm there, as GOAL, which LogGOPSim reads."
FROM_GOAL = "Instead of a pattern: a schedule in GOAL, whose messages all pass the network."
EVERY = "Run every rank event by event, also where one rank would say what all do."
ALL = "Also algorithms that are not expected to pay here, wherever they are possible."
SWEEP = (
    "Which algorithm is the fastest with 1/16 to 16 times o, L or G of the network, and where "
    "that turns."
)
PLOT = "--sweep: draw times over factors (.png, .svg, .pdf)."
BYTES_OF_EDGE, BYTES_OF_RANK = 400.0, 300.0  # plan, schedule and simulation of ranks that differ


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(simulate)


def simulate(
    pattern: Pattern = "",
    graph: Annotated[str, typer.Option("--graph", metavar="FILE", help=GRAPH)] = "",
    ranks: Annotated[int | None, typer.Option(min=1, metavar="P", help=RANKS)] = None,
    dims: Annotated[str, typer.Option(metavar="4x4x4", help=DIMS.split(";")[0] + ".")] = "",
    mesh: Mesh = False,
    op: Blocks = "alltoall",
    bytes: Annotated[
        str, typer.Option(metavar="SIZE,SIZE,...", help="Sizes of a block, such as 64 or 4KiB.")
    ] = "64",
    algorithms: Annotated[str, typer.Option(metavar="A,A,...", help=ALGORITHMS)] = "",
    machine: Machine = "",
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, metavar="S", help=SEED, show_default=False)
    ] = None,
    goal: Annotated[str, typer.Option("--goal", metavar="FILE", help=GOAL)] = "",
    from_goal: Annotated[str, typer.Option("--from-goal", metavar="FILE", help=FROM_GOAL)] = "",
    every_rank: Annotated[bool, typer.Option("--every-rank", help=EVERY)] = False,
    every_algorithm: Annotated[bool, typer.Option("--every-algorithm", help=ALL)] = False,
    sweep: Annotated[bool, typer.Option("--sweep", help=SWEEP)] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help=PLOT, show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """How long an exchange takes on up to millions of ranks, by every algorithm, without MPI.

    Plans are run event by event under LogGP: each rank has a processor and a
    network interface. On a torus where all ranks do the same at the same time,
    one of them says what all do, to the bit.

    Example:  tonari simulate moore:3:1 --ranks 1000000 --bytes 8

    Example:  tonari simulate moore:3:1 --ranks 8000 --algorithms linear --every-rank --json

    Example:  tonari simulate moore:3:1 --ranks 4096 --bytes 512 --sweep --plot sweep.svg

    Example:  tonari simulate --graph matrix.mtx.gz --ranks 4096 --bytes 8,1KiB
    """
    if [bool(pattern), bool(graph), bool(from_goal)].count(True) != 1:
        raise typer.BadParameter("give a pattern, --graph FILE or --from-goal FILE")
    one_of("--op", op, OF_BLOCKS)
    model = read_machine(machine, seed)
    _check_ranks(ranks or 1)
    sizes = [parse_size(size, "--bytes") for size in bytes.split(",")]
    asked = [core().current_name(name) for name in algorithms.split(",")] if algorithms else []
    if not pattern and (dims or mesh):
        raise typer.BadParameter("--dims and --mesh go with a pattern")
    if from_goal and (ranks is not None or asked or goal):
        raise typer.BadParameter("--ranks, --algorithms and --goal do not go with --from-goal")
    if pattern and (ranks is None) == (not dims):
        raise typer.BadParameter("give either --ranks or --dims with a pattern")
    if sweep and (from_goal or goal or every_rank):
        raise typer.BadParameter("--from-goal, --goal and --every-rank do not go with --sweep")
    if plot and not sweep:
        raise typer.BadParameter("--plot draws what --sweep finds: give both")
    if plot:
        check_file(plot)
    if from_goal:
        jobs, model = [goal_job(from_goal)], core().without_classes(model)
    elif graph:
        jobs = _jobs_on_graph(graph, ranks, op, sizes, asked, machine, every_algorithm)
    else:
        jobs = _jobs_on_grid(pattern, ranks, dims, mesh, op, sizes, asked, machine, every_algorithm)
    title = pattern or graph or from_goal
    if sweep:
        return _sweep(title, jobs, model, machine, plot, json)
    rows = simulate_jobs(jobs, model, every_rank, goal)
    if json:
        output.print_json(json_row(row) for row in rows)
    else:
        show(title, rows, machine, [] if every_algorithm else left_out(jobs, rows))


def _sweep(
    title: str, jobs: list[Job], model: Any, machine: str, plot: Path | None, json: bool
) -> None:
    sweeps = sweep_jobs(jobs, model)
    if json:
        output.print_json(row for found in sweeps for row in json_rows(found))
    else:
        sweep_view.show(title, sweeps, machine)
    if plot:
        sweep_view.draw(sweeps, f"{title} on {jobs[0].ranks:,} ranks", plot)


def _check_ranks(ranks: int) -> None:
    if ranks > MOST_RANKS:
        raise Error(
            f"{ranks:,} ranks are more than the {MOST_RANKS:,} that a simulation has room for; "
            "use fewer",
            ARGUMENT,
        )


def _jobs_on_graph(
    path: str,
    ranks: int | None,
    op: str,
    sizes: list[int],
    asked: list[str],
    machine: str,
    every: bool,
) -> list[Job]:
    with output.status(f"reading {path}"):
        try:
            found = in_background(lambda: read_graph(path, ranks))
        except interruptible.Interrupted:
            raise interruptible.Interrupted(
                f"stopped; {path} is not read, and nothing is simulated"
            ) from None
    check_memory(
        BYTES_OF_EDGE * len(found.senders) + BYTES_OF_RANK * found.ranks, f"{found.ranks:,} ranks"
    )
    questions = [
        make_question(found, op, bytes=size, machine=machine or None, forced=every or bool(asked))
        for size in sizes
    ]
    return graph_jobs(questions, found.ranks, op, sizes, asked)


def _jobs_on_grid(
    pattern: str,
    ranks: int | None,
    dims: str,
    mesh: bool,
    op: str,
    sizes: list[int],
    asked: list[str],
    machine: str,
    every: bool,
) -> list[Job]:
    if dims:
        _check_ranks(prod(parse_dims(dims)))
    plain = neighborhood(pattern, (1,)).offsets
    grid = parse_dims(dims) if dims else balanced_dims(ranks or 1, plain.shape[1])
    near = neighborhood(pattern, grid, not mesh)
    count = prod(grid)
    if mesh:
        check_memory((BYTES_OF_EDGE * len(plain) + BYTES_OF_RANK) * count, f"{count:,} ranks")
    return pattern_jobs(near, count, op, sizes, asked, machine, every)
