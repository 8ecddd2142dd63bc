# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari share`, made for 80 columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from tonari import machines, output
from tonari.communication import Communication
from tonari.sharing_front import Comparison, Point, points


def show(pattern: Communication, answers: list[Any], path: str, machine: str) -> None:
    """Prints everything about a pattern and the schemes for it."""
    console = output.console()
    console.print(f"[bold]{escape(path)}[/]: {escape(pattern.about)}")
    console.print(
        f"{pattern.ranks:,} ranks, {len(pattern.words):,} pairs of them, "
        f"{int(pattern.words.sum()):,} words\n"
    )
    console.print(_table(answers, pattern.ranks))
    console.print(
        "\naverage, most, recvs: messages that a rank sends on average, that the busiest "
        "sends, that the busiest receives; extra: those of the average between"
        " ranks that have nothing for each other. words, most: those of all and of the "
        "busiest sender, relative to direct. time: predicted under LogGP for"
        f" {escape(machines.name_of(machine) or 'a generic machine (--machine)')}, all blocks of "
        "their average size.",
        style="dim",
    )
    lost = [answer.scheme for answer in answers if answer.delivered != 1]
    console.print(
        f"[bold]not delivered:[/] {', '.join(lost)}"
        if lost
        else "All blocks are delivered by every scheme.",
        style="dim",
    )


def _table(answers: list[Any], ranks: int) -> Table:
    table = output.table(
        "scheme", "average", "most", "recvs", "extra", "words", "most", "stages", "time"
    )
    for answer in answers:
        table.add_row(
            label(answer),
            f"{answer.avg_messages:,.1f}",
            f"{answer.max_messages:,}",
            f"{answer.max_recv:,}",
            f"{answer.overhead_messages / ranks:,.1f}",
            f"{answer.words:.2f}",
            f"{answer.max_words:.2f}",
            f"{answer.stages}",
            output.time(answer.predicted_us),
        )
    return table


def show_front(front: list[Comparison], files: dict[Point, Path], by_name: bool) -> None:
    """Prints what balanced has for each of the other schemes: fewer messages for as many words, and
    fewer words for as many messages. Then what runs each: a schedule, where there is a file, or
    else a name, where programs plan the pattern."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    numbers = ("most", "words")
    for name in ("scheme", *numbers, *numbers, "few messages", *numbers, "few words"):
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    for row in front:
        table.add_row(
            label(row.scheme),
            f"{row.scheme.max_messages:,}",
            f"{row.scheme.words:.2f}",
            *_point(row.fewest_messages),
            *_point(row.fewest_words),
        )
    console = output.console()
    console.print()
    console.print(table)
    console.print(
        "\nbalanced with the setting that has the fewest messages at no more words than the "
        "scheme, and with that of the fewest words at no more messages. A setting is "
        "stages/price/limit of words, the last two where there is one; or <= and a limit alone, "
        "for the best of several within it. What runs them:",
        style="dim",
    )
    for point in points(front):
        run = point.setting() if by_name else "by a schedule: --schedule FOLDER writes it"
        if point in files:
            run = f"tonari_schedule={files[point]}"
        console.print(f"{point.short():12} {run}", soft_wrap=True, markup=False, highlight=False)


def _point(found: tuple[Point, Any] | None) -> tuple[str, str, str]:
    if found is None:
        return "", "", "none"
    setting, answer = found
    return f"{answer.max_messages:,}", f"{answer.words:.2f}", setting.short()


def label(answer: Any) -> str:
    return f"{answer.scheme}, {answer.variant}" if answer.variant else answer.scheme
