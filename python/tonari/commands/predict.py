# SPDX-License-Identifier: BSD-3-Clause
"""tonari predict: which algorithm is the fastest at which scale and size, on which machine."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tonari import machines, output
from tonari.benchmark.plot import check_file
from tonari.benchmark.summary import write_text
from tonari.commands.options import OF_BLOCKS, Blocks, Json, Mesh, Pattern, counts, one_of
from tonari.commands.simulate import ALGORITHMS, ALL, GRAPH
from tonari.completion import values
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.prediction import Task, json_rows, predict
from tonari.simulation import read_machine
from tonari.simulation_jobs import check_ranks, jobs_on_graph, jobs_on_grid
from tonari.sizes import parse_size
from tonari.views import predict as view

RANKS = "Numbers of ranks; a graph's default: as many as it has."
MACHINE = "A machine file or one that is shipped, as often as you like; default: all of those."
DEFAULT_RANKS = "64,512,4096"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="predict")(predict_command)


def predict_command(
    pattern: Pattern = "",
    graph: Annotated[str, typer.Option("--graph", metavar="FILE", help=GRAPH)] = "",
    machine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help=MACHINE,
            show_default=False,
            autocompletion=values(*machines.names()),
        ),
    ] = None,
    ranks: Annotated[str, typer.Option(metavar="P,P,...", help=RANKS)] = "",
    mesh: Mesh = False,
    op: Blocks = "alltoall",
    bytes: Annotated[
        str, typer.Option(metavar="SIZE,SIZE,...", help="Sizes of a block, such as 64 or 4KiB.")
    ] = "8,64,512,4KiB,32KiB",
    algorithms: Annotated[str, typer.Option(metavar="A,A,...", help=ALGORITHMS)] = "",
    every_algorithm: Annotated[bool, typer.Option("--every-algorithm", help=ALL)] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw a map of the winners (.png, .svg, .pdf).",
            show_default=False,
        ),
    ] = None,
    csv_file: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the rows there too.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Which algorithm is the fastest at which scale and size, on machines that you do not have.

    Every cell is what `tonari simulate` finds. Shipped machines have public
    values only; what none was found for is that of the generic machine.

    Example:  tonari predict moore:3:1 --machine slingshot-11 --machine infiniband-hdr

    Example:  tonari predict moore:3:1 --ranks 64,4096 --bytes 8,4KiB --plot winners.svg
    """
    if bool(pattern) == bool(graph):
        raise typer.BadParameter("give a pattern or --graph FILE")
    if mesh and graph:
        raise typer.BadParameter("--mesh goes with a pattern")
    one_of("--op", op, OF_BLOCKS)
    sizes = [parse_size(size, "--bytes") for size in bytes.split(",")]
    numbers = _counts(ranks or ("" if graph else DEFAULT_RANKS))
    asked = [core().current_name(name) for name in algorithms.split(",")] if algorithms else []
    if plot:
        check_file(plot)

    def make(path: str, count: int | None) -> Task:
        if graph:
            jobs = jobs_on_graph(graph, count, op, sizes, asked, path, every_algorithm)
        else:
            jobs = jobs_on_grid(pattern, count, "", mesh, op, sizes, asked, path, every_algorithm)
        return Task(path, read_machine(path, None), jobs[0].ranks, jobs)

    wanted = [machines.find(word) for word in machine or machines.names()]
    tasks = [make(path, count) for path in dict.fromkeys(wanted) for count in numbers or [None]]
    kept = _with_room(tasks, named=bool(machine))
    points = predict(kept, sizes)
    rows = list(json_rows(points))
    if not points:
        raise Error(
            "no algorithm is expected to pay here; name one with --algorithms, or give "
            "--every-algorithm",
            ARGUMENT,
        )
    if csv_file:
        write_text(_as_csv(rows), csv_file)
    title = pattern or graph
    if plot:
        view.draw(points, f"{title}: the fastest {op}", plot)
    if json:
        return output.print_json(rows)
    view.show(title, points)
    if left := [task for task in tasks if task not in kept]:
        _tell_left_out(left)


def _counts(text: str) -> list[int]:
    found = counts(text) if text else []
    for count in found:
        check_ranks(count)
    return found


def _with_room(tasks: list[Task], *, named: bool) -> list[Task]:
    """Those whose machine has room for so many ranks. One that was named must have it."""
    kept = []
    for task in tasks:
        try:
            task.model.check_room(task.ranks)
        except Error:
            if named:
                raise
            continue
        kept.append(task)
    return kept


def _tell_left_out(tasks: Sequence[Task]) -> None:
    each = ", ".join(f"{machines.name_of(task.machine)} with {task.ranks:,}" for task in tasks)
    output.console().print(
        f"\nLeft out, because its network has no room for so many ranks: {each}."
    )


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
