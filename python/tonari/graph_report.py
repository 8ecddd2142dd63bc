# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari plan --graph` finds out: facts about the graph, a row per algorithm, and which one
would be chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonari.algorithm_table import list_algorithms
from tonari.core import core
from tonari.errors import ALGORITHM, ARGUMENT, Error
from tonari.graphs import MOST_RANKS, Graph, distinct
from tonari.neighborhood import check_range


@dataclass(frozen=True)
class Degrees:
    """Distinct other ranks that a rank sends to, or receives from."""

    least: int
    median: float
    most: int


@dataclass(frozen=True)
class Facts:
    edges: int  # repeats and self edges included
    out: Degrees
    into: Degrees
    isolated: int  # ranks without an edge to or from another
    self_edges: int
    repeats: int  # edges beyond the first from one rank to another
    busiest: int  # the rank with the most edges


@dataclass
class GraphReport:
    """All that is printed, for people or for programs."""

    graph: Graph
    facts: Facts
    question: Any
    op: str
    bytes: int
    rows: list[Any]  # applicable algorithms
    refused: list[Any]  # the others, each with its reason
    chosen: Any  # the row predicted fastest
    weighted: bool  # blocks have the weights' sizes
    colors: int | None  # of the edges, if coloring is among the rows


def make_question(
    graph: Graph,
    op: str,
    *,
    bytes: int,
    machine: str | None,
    node_ranks: int = 1,
    forced: bool = False,
    weighted: bool = False,
) -> Any:
    """An exchange on the graph; for the arguments see tonari.Neighborhood.exchange. node_ranks: so
    many consecutive ranks share a node. forced: algorithms are planned wherever they are possible,
    whether or not they are expected to pay. weighted: the block of an edge has its weight times
    `bytes` bytes."""
    check_range("bytes", bytes, 2**63 - 1)
    check_range("--node-ranks", node_ranks, MOST_RANKS)
    if weighted and graph.weights is None:
        raise Error("--weights needs weights, and the graph has none", ARGUMENT)
    sizes = np.rint(graph.weights * bytes).astype(np.uint64) if weighted else None
    c = core()
    model = c.read_machine_file(machine) if machine else c.LogGP()
    return c.GraphQuestion(
        graph.ranks, graph.senders, graph.receivers, node_ranks, op, bytes, model, forced, sizes
    )


def algorithms_for(algorithm: str) -> Iterator[str]:
    """All algorithms for graphs, or the one named; raises with the list if there is none of that
    name."""
    names = list_algorithms("graphs")
    if algorithm and algorithm not in names:
        raise Error(
            f"there is no algorithm '{algorithm}' for graphs; choose one of {', '.join(names)}",
            ALGORITHM,
        )
    return (name for name in names if algorithm in ("", name))


def make_report(
    graph: Graph,
    question: Any,
    op: str,
    bytes: int,
    answers: list[Any],
    algorithm: str,
    variants: bool,
    weighted: bool = False,
) -> GraphReport:
    """answers: of question.analyze, all algorithms after each other; algorithm: the one asked for,
    or empty."""
    refused = [row for row in answers if row.reason]
    if algorithm and refused:
        raise Error(f"{algorithm} cannot be used here: {refused[0].reason}", ALGORITHM)
    rows = [row for row in answers if not row.reason]
    if not variants:
        rows = [
            min((r for r in rows if r.algorithm == name), key=lambda r: r.predicted_us)
            for name in dict.fromkeys(r.algorithm for r in rows)
        ]
    chosen = min(rows, key=lambda row: row.predicted_us)
    # In one of coloring's variants the colors are the stages; in another they only order the
    # messages.
    colors = max(
        (row.stages for row in answers if row.algorithm == "coloring" and not row.reason),
        default=None,
    )
    return GraphReport(
        graph, find_facts(graph), question, op, bytes, rows, refused, chosen, weighted, colors
    )


def check_rank(graph: Graph, rank: int | None) -> None:
    if rank is not None and rank >= graph.ranks:
        raise Error(
            f"there is no rank {rank}: the graph has ranks 0 to {graph.ranks - 1}", ARGUMENT
        )


def find_facts(graph: Graph) -> Facts:
    away = graph.senders != graph.receivers
    senders, receivers = graph.senders[away].astype(np.int64), graph.receivers[away]
    pairs = distinct(senders * graph.ranks + receivers)
    out = np.bincount(pairs // graph.ranks, minlength=graph.ranks)
    into = np.bincount(pairs % graph.ranks, minlength=graph.ranks)
    selfs = graph.senders[~away]
    return Facts(
        edges=len(graph.senders),
        out=_degrees(out),
        into=_degrees(into),
        isolated=int(np.count_nonzero((out == 0) & (into == 0))),
        self_edges=len(selfs),
        repeats=len(senders) - len(pairs) + len(selfs) - len(distinct(selfs)),
        busiest=int(np.argmax(out + into)),
    )


def _degrees(counts: np.ndarray) -> Degrees:
    return Degrees(int(counts.min()), float(np.median(counts)), int(counts.max()))


def proof_of(row: Any) -> str:
    return "proven" if row.proven else "too large to prove"


def reason_of(report: GraphReport) -> str:
    """Why the chosen one, in a sentence."""
    chosen, others = (
        report.chosen,
        [row for row in report.rows if row.algorithm != report.chosen.algorithm],
    )
    if not others:
        return f"{chosen.algorithm} is the only one to choose from"
    if not report.facts.edges:
        return "there is nothing to send"
    second = min(others, key=lambda row: row.predicted_us)
    if second.predicted_us <= chosen.predicted_us * 1.005:
        return f"no other is predicted to be faster; {second.algorithm} is as fast"
    linear = next((row for row in report.rows if row.algorithm == "linear"), None)
    if linear is None or chosen is linear:
        slower = second.predicted_us / chosen.predicted_us
        extra = " and sends more bytes" if second.total_blocks > chosen.total_blocks else ""
        return (
            f"predicted fastest: the next, {second.algorithm}, takes {slower:.2f} times as "
            f"long{extra}"
        )
    return (
        f"predicted {linear.predicted_us / chosen.predicted_us:.2f} times as fast as linear: "
        f"{_difference(chosen, linear)}"
    )


def _difference(row: Any, linear: Any) -> str:
    """What the row has less of than linear does; all else being equal, its order is better."""
    for name, what in (
        ("max_messages", "the busiest sender has"),
        ("max_recv", "the busiest receiver has"),
    ):
        here, there = getattr(row, name), getattr(linear, name)
        if here < there:
            return f"{what} {here:,} messages instead of {there:,}"
    if row.total_blocks < linear.total_blocks:
        return f"{row.total_blocks:,} blocks travel instead of {linear.total_blocks:,}"
    return "the same messages in an order in which receivers wait less"


def json_row(report: GraphReport, row: Any) -> dict[str, Any]:
    """A flat row; colors and bound are null for all but coloring, crossover_bytes where it would
    take too long to find."""
    coloring = row.algorithm == "coloring"
    return {
        "algorithm": row.algorithm,
        "variant": row.variant,
        "op": report.op,
        "ranks": report.graph.ranks,
        "edges": report.facts.edges,
        "nodes": report.question.nodes,
        "rounds": row.rounds,
        "stages": row.stages,
        "messages": row.max_messages,
        "max_messages": row.max_messages,
        "max_recv": row.max_recv,
        "total_messages": row.total_messages,
        "volume_blocks": row.volume_blocks,
        "total_blocks": row.total_blocks,
        "bytes": row.bytes,
        "predicted_us": row.predicted_us,
        "crossover_bytes": row.crossover_bytes,
        "colors": report.colors if coloring else None,
        "bound": report.question.degree if coloring else None,
        "proof": proof_of(row),
        "chosen": row is report.chosen,
    }
