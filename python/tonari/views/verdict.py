# SPDX-License-Identifier: BSD-3-Clause
"""The last lines of a benchmark: its verdict."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def show(console: Console, sentences: list[str]) -> None:
    """One sentence after the other, each on lines of its own."""
    for sentence in sentences:
        console.print(Text(sentence, style="bold"))
