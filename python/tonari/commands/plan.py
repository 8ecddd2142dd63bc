# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan: what each algorithm would do on a neighborhood."""

from __future__ import annotations

from typing import Annotated

import typer

from tonari import output
from tonari.commands.options import OF_BLOCKS, Blocks, Json, Machine, Mesh, one_of, pattern_or
from tonari.commands.plan_graph import GraphOptions, plan_graph
from tonari.completion import values
from tonari.core import core
from tonari.grids import dims_for_proof, parse_dims, parse_periodic
from tonari.neighborhood import Neighborhood, neighborhood
from tonari.report import json_row, make_report, prove_plans
from tonari.sizes import parse_size
from tonari.views.plan import show

DIMS = "Ranks along each dimension; default: large enough that nothing wraps around."
GRAPH = (
    "Instead of a pattern: an edge list, a METIS graph (.graph) or a Matrix Market file, plain "
    "or .gz."
)
RANKS = "--graph: number of ranks to partition the rows, or vertices, over."
NODE_RANKS = "--graph: number of consecutive ranks that share a node."
WEIGHTS = "--graph: the block of each edge has its weight times --bytes, not --bytes."
RANK = "Count and draw for this rank; default: the one in the middle, or with --graph the busiest."
ALGORITHM = "Draw this one instead of the one predicted fastest; --json, --graph: only this one."
STORAGE = (
    "Where forwarded blocks wait: separate, each in scratch memory of its own, or alternate, "
    "which takes less memory."
)
STORAGES = ("separate", "alternate")

Pattern = pattern_or("inplace")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(plan)


def plan(
    pattern: Pattern = "",
    graph: Annotated[str, typer.Option("--graph", metavar="FILE", help=GRAPH)] = "",
    ranks: Annotated[int | None, typer.Option(min=1, metavar="P", help=RANKS)] = None,
    node_ranks: Annotated[int, typer.Option(min=1, metavar="N", help=NODE_RANKS)] = 1,
    weights: Annotated[bool, typer.Option("--weights", help=WEIGHTS)] = False,
    op: Blocks = "alltoall",
    dims: Annotated[str, typer.Option(metavar="4x4x4", help=DIMS)] = "",
    mesh: Mesh = False,
    periodic: Annotated[
        str, typer.Option(metavar="1,0,1", help="Which dimensions are periodic.")
    ] = "",
    bytes: Annotated[
        str, typer.Option(metavar="SIZE", help="Size of a block, such as 64 or 4KiB.")
    ] = "64",
    algorithm: Annotated[str, typer.Option(metavar="A", help=ALGORITHM)] = "",
    variants: Annotated[
        bool,
        typer.Option("--variants", help="All variants, not only the fastest of each algorithm."),
    ] = False,
    machine: Machine = "",
    rank: Annotated[int | None, typer.Option(min=0, metavar="R", help=RANK)] = None,
    ports: Annotated[
        int, typer.Option(min=0, metavar="K", help="Messages of a rank at a time; 0: no limit.")
    ] = 0,
    storage: Annotated[
        str, typer.Option(metavar="S", help=STORAGE, autocompletion=values(*STORAGES))
    ] = "separate",
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Run all ranks in the reference executor and check what arrives."
        ),
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Draw all messages, however many.")] = False,
    json: Json = False,
) -> None:
    """Rounds, blocks, bytes and predicted time of every algorithm, without MPI.

    Checks the counts against closed formulas, and draws the rounds of one algorithm as text.

    "pays below" is the block size from which an algorithm is predicted to be slower than linear.
    In JSON it is crossover_bytes, where 0 means never faster, and -1 always.

    Example:  tonari plan moore:3:1 --bytes 64

    Example:  tonari plan star:3:2 --op allgather --dims 8x8x8 --mesh --json

    Example:  tonari plan --graph matrix.mtx.gz --ranks 512 --bytes 1024
    """
    if bool(pattern) == bool(graph):
        raise typer.BadParameter("give either a pattern or --graph FILE")
    block = parse_size(bytes, "--bytes")
    one_of("--op", op, OF_BLOCKS)
    one_of("--storage", storage, STORAGES)
    algorithm = core().current_name(algorithm)
    if graph:
        if dims or mesh or periodic or ports or storage != "separate":
            raise typer.BadParameter(
                "--dims, --mesh, --periodic, --ports and --storage go with a pattern, not "
                "with --graph"
            )
        options = GraphOptions(
            ranks,
            node_ranks,
            op,
            block,
            algorithm,
            variants,
            machine or None,
            rank,
            prove,
            full,
            json,
            weights,
        )
        return plan_graph(graph, options)
    if ranks is not None or node_ranks != 1 or weights:
        raise typer.BadParameter(
            "--ranks, --node-ranks and --weights go with --graph; a pattern takes --dims"
        )
    if mesh and periodic:
        raise typer.BadParameter("give either --mesh or --periodic")
    near = neighborhood(
        pattern,
        parse_dims(dims) if dims else None,
        parse_periodic(periodic) if periodic else not mesh,
    )
    options = {
        "op": op,
        "bytes": block,
        "machine": machine or None,
        "ports": ports,
        "storage": storage,
    }
    report = make_report(near, near.exchange(rank=rank, **options), op, algorithm, variants)
    if prove:
        place = (
            near
            if dims
            else Neighborhood(near.offsets, dims_for_proof(near.offsets), near.periodic)
        )
        prove_plans(report, place, place.exchange(**options), algorithm)
    if json:
        output.print_json(
            json_row(report, row) for row in report.rows if algorithm in ("", row.algorithm)
        )
    else:
        show(report, pattern, options | {"chosen_grid": not dims, "full": full})
