# SPDX-License-Identifier: BSD-3-Clause
"""The readable forms of `tonari settings`."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from rich.text import Text

from tonari import output

COLUMNS = ("variable", "info key", "meaning", "values", "default", "ranks")


def show(rows: list[Any]) -> None:
    """A paragraph each, for 80 columns."""
    console = output.console()
    for row in rows:
        names = [name for name in (row.variable, row.key) if name]
        console.print(Text("  ".join(names), style="bold"))
        for line in _lines(row):
            console.print(
                fill(line, 78, initial_indent="    ", subsequent_indent="    "), markup=False
            )
        console.print()
    console.print(Text("A variable wins over the key.", style="dim"))


def _lines(row: Any) -> list[str]:
    alike = "the same on all ranks" if row.alike else "may differ between ranks"
    default = f"; default: {row.default}" if row.default else ""
    return [_sentence(row.help), f"{row.values}{default}", f"For {row.where}; {alike}."]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def markdown(rows: list[Any]) -> str:
    """The rows as a table."""
    lines = [_cells(COLUMNS), _cells("---" for _ in COLUMNS)]
    for row in rows:
        names = (_code(row.variable), _code(row.key))
        ranks = "the same" if row.alike else "may differ"
        lines.append(_cells((*names, row.help, row.values, row.default, ranks)))
    return "\n".join(lines)


def _code(name: str) -> str:
    return f"`{name}`" if name else ""


def _cells(texts: Any) -> str:
    return "| " + " | ".join(texts) + " |"
