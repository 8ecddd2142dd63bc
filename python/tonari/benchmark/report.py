# SPDX-License-Identifier: BSD-3-Clause
"""How a command that has measured or counted ends: files and plots are written, then rows for
programs or a table for people."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark.summary import write

Rows = list[dict[str, Any]]


def report(
    rows: Rows,
    *,
    json: bool,
    file: Path | None,
    plot: Path | None,
    draw: Callable[[Rows, Path], None],
    show: Callable[[Rows], None],
) -> None:
    """json: rows on standard output, and nothing else; file, plot: where the rows and their picture
    go, too."""
    if file:
        write(rows, file)
    if plot:
        draw(rows, plot)
    if json:
        output.print_json(rows)
        return
    show(rows)
    for written in (file, plot):
        if written:
            print(f"written: {written}", file=sys.stderr)
