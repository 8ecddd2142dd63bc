# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate: how long an exchange would take on many ranks, event by event."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tonari import output
from tonari.benchmark.plot import check_file
from tonari.commands.options import OF_BLOCKS, Blocks, Json, Machine, Mesh, one_of, pattern_or
from tonari.commands.plan import DIMS
from tonari.core import core
from tonari.simulation import (
    Job,
    goal_job,
    json_row,
    left_out,
    read_machine,
    simulate_jobs,
)
from tonari.simulation_jobs import check_ranks, jobs_on_graph, jobs_on_grid
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
EACH = " --every-rank runs each of them, and finds the same times."
PLOT = "--sweep: draw times over factors (.png, .svg, .pdf)."
Sweep = Annotated[bool, typer.Option("--sweep", help=SWEEP)]
Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help=PLOT, show_default=False)]

Pattern = pattern_or("inplace", "halo")


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
    sweep: Sweep = False,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """How long an exchange takes on up to millions of ranks, by every algorithm, without MPI.

    Plans are run event by event under LogGP: each rank has a processor and a
    network interface. On a torus where all ranks do the same at the same time,
    one of them says what all do, to the bit. Other exchanges have commands of
    their own: simulate inplace and simulate halo.

    Example:  tonari simulate moore:3:1 --ranks 1000000 --bytes 8

    Example:  tonari simulate moore:3:1 --ranks 8000 --algorithms linear --every-rank --json

    Example:  tonari simulate moore:3:1 --ranks 4096 --bytes 512 --sweep --plot sweep.svg

    Example:  tonari simulate --graph matrix.mtx.gz --ranks 4096 --bytes 8,1KiB
    """
    if [bool(pattern), bool(graph), bool(from_goal)].count(True) != 1:
        raise typer.BadParameter("give a pattern, --graph FILE or --from-goal FILE")
    one_of("--op", op, OF_BLOCKS)
    model = read_machine(machine, seed)
    check_ranks(ranks or 1)
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
        jobs = jobs_on_graph(graph, ranks, op, sizes, asked, machine, every_algorithm)
    else:
        jobs = jobs_on_grid(pattern, ranks, dims, mesh, op, sizes, asked, machine, every_algorithm)
    title = pattern or graph or from_goal
    if sweep:
        return _sweep(title, jobs, model, machine, plot, json)
    rows = simulate_jobs(jobs, model, every_rank, goal)
    if json:
        output.print_json(json_row(row) for row in rows)
    else:
        show(title, rows, machine, [] if every_algorithm else left_out(jobs, rows), EACH)


def simulate_and_print(
    title: str,
    jobs: list[Job],
    model: Any,
    machine: str,
    *,
    sweep: bool,
    plot: Path | None,
    json: bool,
) -> None:
    """What commands for one kind of exchange do with its jobs."""
    if sweep:
        return _sweep(title, jobs, model, machine, plot, json)
    rows = simulate_jobs(jobs, model, False)
    if json:
        output.print_json(json_row(row) for row in rows)
    else:
        show(title, rows, machine)


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
