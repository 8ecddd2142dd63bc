# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari share --front` of several files, made for 80 columns."""

from __future__ import annotations

from rich.table import Table

from tonari import output
from tonari.front_means import Mean, Ratio


def show(rows: list[Mean], patterns: int) -> None:
    """Prints the means."""
    console = output.console()
    console.print(f"[bold]Geometric means of {patterns} patterns[/]\n")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    names = ("scheme", "most", "words", "fewest most", "words", "most", "fewest words")
    for name in names:
        table.add_column(name, justify="left" if name == "scheme" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.scheme,
            f"{row.messages:,.1f}",
            f"{row.words:.2f}",
            *_ratio(row.few_messages),
            *_ratio(row.few_words),
        )
    console.print(table)
    console.print(
        "\nmost: messages of the busiest sender; words relative to direct. Then balanced, relative "
        "to the scheme: for each pattern the setting of the fewest messages at no more words, and "
        "that of the fewest words at no more messages. none: some pattern has no such setting.",
        style="dim",
    )


def _ratio(ratio: Ratio | None) -> tuple[str, str]:
    return (f"{ratio.messages:.2f}", f"{ratio.words:.2f}") if ratio else ("none", "")
