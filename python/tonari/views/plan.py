# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari plan`, made for 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tonari import machines, output
from tonari.closed_forms import volume_allgather_paper
from tonari.grids import describe
from tonari.neighborhood import Exchange
from tonari.report import Report, form_of
from tonari.views.neighborhood import picture

MOST_LINES = 40
WIDTH = 80
PROOF = """Proved for each of them:
  well-formed   every send meets one receive, block for block of equal size
  no deadlock   even if every send waits for its receive
  no races      whatever touches the same block is ordered
  clean memory  send buffers untouched, nothing read before it is written
  delivery      every block ends where it belongs, and nothing else changes"""


def show(report: Report, pattern: str, options: dict[str, Any]) -> None:
    """Prints everything. options: those of Neighborhood.exchange, chosen_grid (by us, not the user)
    and full."""
    console = output.console()
    _title(console, report, pattern, options)
    console.print(_table(report))
    _notes(console, report, options)
    _section3(console, report)
    _proof(console, report)
    _drawing(console, report, options)


def _title(console: Console, report: Report, pattern: str, options: dict[str, Any]) -> None:
    near = report.near
    console.print(
        f"[bold]{escape(pattern)}[/]: {len(near.offsets):,} neighbors, {report.op}, blocks "
        f"of {output.size(options['bytes'])},"
        f" {describe(near.dims, near.periodic)}"
    )
    if options["chosen_grid"]:
        console.print(
            "(chosen so that no two offsets meet and nothing wraps around; --dims for yours)",
            style="dim",
        )
    if drawn := picture(near.offsets):
        console.print("\n" + drawn + "\n", markup=False)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("  algorithm")
    for name in ("rounds", "messages", "blocks", "bytes", "time", "pays below"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ok", justify="center")
    for row in report.rows:
        table.add_row(
            ("▸ " if row is report.chosen else "  ") + _label(row),
            f"{row.rounds:,}",
            f"{row.messages:,}",
            f"{row.volume_blocks:,}",
            output.size(row.bytes),
            output.time(row.predicted_us),
            pays_below(row),
            "✓" if form_of(report, row) else "",
            style="bold" if row is report.chosen else "",
        )
    return table


def _label(row: Any) -> str:
    """Algorithm and variant, as far as the column of rounds does not tell it."""
    return (
        row.algorithm
        if row.variant in ("", f"{row.rounds} rounds")
        else f"{row.algorithm} ({row.variant})"
    )


def print_objections(console: Console, report: Any) -> None:
    """Why algorithms are not planned, or planned because they were asked for."""
    for row in report.refused:
        console.print(f"not here: [bold]{row.algorithm}[/]: {escape(row.reason)}")
    against = {row.algorithm: row.unpaying for row in report.rows if row.unpaying}
    for algorithm, reason in against.items():
        console.print(f"not expected to pay: [bold]{algorithm}[/]: {escape(reason)}")


def pays_below(row: Any) -> str:
    """The block size up to which the row is faster than linear."""
    if row.algorithm == "linear":
        return ""
    if row.crossover_bytes is None:  # not known
        return ""
    return {0: "never", -1: "always"}.get(row.crossover_bytes) or output.size(row.crossover_bytes)


def _notes(console: Console, report: Report, options: dict[str, Any]) -> None:
    print_objections(console, report)
    console.print()
    machine = machines.name_of(options["machine"] or "") or "a generic machine (--machine)"
    console.print(
        f"Counts: what one rank sends. Time: predicted for {escape(machine)}. "
        "ok: rounds and blocks are those of closed formulas.",
        style="dim",
    )


def _section3(console: Console, report: Report) -> None:
    console.print()
    if not report.section3:
        console.print(
            "Closed formulas: not checked, they hold on larger grids and away from borders."
        )
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("torus")
    table.add_column("formula", justify="right")
    table.add_column("plan", justify="right")
    table.add_column("")
    for c in report.section3:
        table.add_row(f"{c.symbol}  {c.meaning}", f"{c.formula:,}", f"{c.planned:,}", "✓")
    console.print(table)
    paper = volume_allgather_paper(report.near.offsets)
    if paper != report.section3[2].formula:
        console.print(
            f"W is {paper:,} in Träff et al. (2016), who deliver nothing on the way along a line.",
            style="dim",
        )


def _proof(console: Console, report: Report) -> None:
    if report.proved_on is None:
        return
    console.print(
        "\nThe reference executor ran all ranks of a "
        f"{describe(report.proved_on.dims, report.proved_on.periodic)}:"
    )
    for label in report.proved:
        console.print(f"  ✓ {label}")
    console.print(PROOF)


def _drawing(console: Console, report: Report, options: dict[str, Any]) -> None:
    row, near = report.chosen, report.near
    position = ",".join(map(str, report.exchange.position))
    whose = "every rank" if all(near.periodic) else f"rank {report.exchange.rank} at ({position})"
    console.print(f"\n[bold]{_label(row)}[/] on {whose}; blocks: s to send, r received, t between")
    print_lines(console, _narrow(report.exchange, row).splitlines(), options["full"])


def print_lines(console: Console, lines: list[str], full: bool) -> None:
    """A drawing, cut unless it is to be full."""
    shown = lines if full else lines[:MOST_LINES]
    console.print("\n".join(shown) or "nothing to send", markup=False, soft_wrap=True)
    if len(shown) < len(lines):
        console.print(f"... {len(lines) - len(shown):,} more lines (--full)", style="dim")


def _narrow(exchange: Exchange, row: Any) -> str:
    """The drawing with as many blocks named per message as fit."""
    for most_blocks in (4, 3, 2, 1):
        text = exchange.draw(row.algorithm, row.variant, most_blocks=most_blocks)
        if max(map(len, text.splitlines()), default=0) <= WIDTH:
            break
    return text
