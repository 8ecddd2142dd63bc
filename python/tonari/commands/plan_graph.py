# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan --graph: the same for a directed graph from a file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tonari import output
from tonari.graph_report import algorithms_for, check_rank, json_row, make_question, make_report
from tonari.graphs import read_graph
from tonari.views.graph import show

THREADS = 2  # each plans and prices one algorithm: a few hundred bytes per edge


@dataclass(frozen=True)
class GraphOptions:
    """Those of the command; ranks, rank and machine may be None."""

    ranks: int | None
    node_ranks: int
    op: str
    bytes: int
    algorithm: str
    variants: bool
    machine: str | None
    rank: int | None
    prove: bool
    full: bool
    json: bool
    weights: bool = False


def plan_graph(path: str, options: GraphOptions) -> None:
    """Reads the graph, asks every algorithm about it, and prints."""
    names = list(algorithms_for(options.algorithm))
    with output.status(f"reading {path}") as status:
        graph = read_graph(path, options.ranks)
        check_rank(graph, options.rank)
        question = make_question(
            graph,
            options.op,
            bytes=options.bytes,
            machine=options.machine,
            node_ranks=options.node_ranks,
            forced=bool(options.algorithm),
            weighted=options.weights,
        )
        status.update(f"planning and pricing {graph.ranks:,} ranks")
        with ThreadPoolExecutor(
            THREADS
        ) as pool:  # the extension runs without the interpreter's lock
            each = list(
                pool.map(
                    lambda name: question.analyze(name, "always" if options.prove else "small"),
                    names,
                )
            )
    answers = [row for rows in each for row in rows]
    report = make_report(
        graph,
        question,
        options.op,
        options.bytes,
        answers,
        options.algorithm,
        options.variants,
        options.weights,
    )
    if options.json:
        output.print_json(json_row(report, row) for row in report.rows)
    else:
        show(report, path, options.machine, options.rank, options.full)
