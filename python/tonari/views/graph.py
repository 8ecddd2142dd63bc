# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari plan --graph`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tonari import machines, output
from tonari.graph_report import Degrees, GraphReport, proof_of, reason_of
from tonari.views.plan import PROOF, pays_below, print_lines, print_objections

SMALL = 16  # ranks: up to this many are drawn without being asked
WIDTH = 80


def show(report: GraphReport, path: str, machine: str | None, rank: int | None, full: bool) -> None:
    """Prints everything. rank: whose plan is drawn; None: that of the busiest, if the graph is
    small."""
    console = output.console()
    _title(console, report, path)
    console.print(_table(report))
    _notes(console, report, machine)
    _choice(console, report)
    _proof(console, report)
    if rank is not None or report.graph.ranks <= SMALL:
        _drawing(console, report, report.facts.busiest if rank is None else rank, full)


def _title(console: Console, report: GraphReport, path: str) -> None:
    graph, facts = report.graph, report.facts
    console.print(
        f"[bold]{escape(path)}[/]: {escape(graph.about)}; {report.op}, blocks of "
        f"{output.size(report.bytes)}\n"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_row(
        "ranks",
        f"{graph.ranks:,} on {report.question.nodes:,} "
        f"node{'s' if report.question.nodes != 1 else ''}",
    )
    table.add_row("edges", f"{facts.edges:,}{_specials(report)}")
    table.add_row("sends to", _range(facts.out))
    table.add_row("receives from", _range(facts.into))
    if graph.weights is not None and len(graph.weights):
        w = graph.weights
        table.add_row(
            "weights",
            f"{w.min():,.0f} to {w.max():,.0f}, on average {w.mean():,.0f} "
            + (
                "(times --bytes is the size of an edge's block)"
                if report.weighted
                else "(--weights would use them; now all blocks have --bytes)"
            ),
        )
    console.print(table)
    console.print()


def _specials(report: GraphReport) -> str:
    facts = report.facts
    counts = [
        (facts.self_edges, "from a rank to itself"),
        (facts.repeats, "repeated"),
        (facts.isolated, "ranks isolated"),
    ]
    return "".join(f"; {count:,} {what}" for count, what in counts if count)


def _range(degrees: Degrees) -> str:
    return f"{degrees.least:,} to {degrees.most:,} other ranks, median {degrees.median:,g}"


def _table(report: GraphReport) -> Table:
    crossed = any(
        row.crossover_bytes is not None and row.algorithm != "linear" for row in report.rows
    )
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("  algorithm")
    for name in (
        "rounds",
        "sends",
        "recvs",
        "blocks",
        "messages",
        "time",
        *(["pays below"] if crossed else []),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            ("▸ " if row is report.chosen else "  ") + _label(row),
            f"{row.rounds:,}",
            f"{row.max_messages:,}",
            f"{row.max_recv:,}",
            f"{row.volume_blocks:,}",
            f"{row.total_messages:,}",
            output.time(row.predicted_us),
            *([pays_below(row)] if crossed else []),
            style="bold" if row is report.chosen else "",
        )
    return table


def _label(row: Any) -> str:
    return f"{row.algorithm} ({row.variant})" if row.variant else row.algorithm


def _notes(console: Console, report: GraphReport, machine: str | None) -> None:
    print_objections(console, report)
    console.print()
    console.print(
        "sends, recvs, blocks: messages out, messages in and blocks out of the rank that has "
        "most of each; messages: of all ranks; rounds: steps if a"
        " rank sends and receives one at a time. Time: predicted for "
        f"{escape(machines.name_of(machine or '') or 'a generic machine (--machine)')}.",
        style="dim",
    )


def _choice(console: Console, report: GraphReport) -> None:
    console.print(
        f"\nIt would choose [bold]{escape(_label(report.chosen))}[/]: {escape(reason_of(report))}."
    )
    if report.colors:
        bound = report.question.degree
        quality = (
            "as few as possible"
            if report.colors == bound
            else f"{report.colors / bound:.2f} times the bound"
        )
        console.print(
            f"Coloring: {report.colors:,} colors, {quality}; {bound:,} are the least, as "
            "some rank sends to, or receives from, that many others."
        )


def _proof(console: Console, report: GraphReport) -> None:
    console.print("\nThe reference executor, all ranks:")
    for row in report.rows:
        console.print(
            f"  {'✓' if row.proven else '·'} {_label(row)}: {proof_of(row)}",
            highlight=False,
            markup=False,
        )
    if any(row.proven for row in report.rows):
        console.print(PROOF)


def _drawing(console: Console, report: GraphReport, rank: int, full: bool) -> None:
    row = report.chosen
    console.print(
        f"\n[bold]{escape(_label(row))}[/] on rank {rank}; blocks: s to send, r received, t between"
    )
    print_lines(
        console, report.question.draw(row.algorithm, row.variant, rank, WIDTH).splitlines(), full
    )
