# SPDX-License-Identifier: BSD-3-Clause
"""How commands print: rows as JSON, sizes and times for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.status import Status
from rich.table import Table

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def console() -> Console:
    """Standard output; 80 columns where it is no terminal. Numbers are not colored one by one."""
    return Console(highlight=False)


def status(text: str) -> Status:
    """What is going on, on standard error while it lasts; nothing where that is no terminal."""
    return Console(stderr=True).status(text)


@contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error while it lasts, which what it gives moves by one; nothing where that
    is no terminal, or without a text."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not text or not console.is_terminal,
    ) as bar:
        task = bar.add_task(text, total=total)
        yield lambda: bar.advance(task)


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    """An array of flat objects, one per line, and nothing else."""
    sys.stdout.write(as_json(rows))


def as_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """The same as text."""
    lines = ",\n".join(" " + json.dumps(dict(row), allow_nan=False) for row in rows)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def size(count: int) -> str:
    """64 B, 1,664 B, 16.3 KiB, 4.1 GiB"""
    if count < 10_000:
        return f"{count:,} B"
    value, unit = float(count), 0
    while value >= 1000 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {UNITS[unit]}"


def short_size(count: int) -> str:
    """The same without a fraction where there is none: 4 KiB, 1 MiB, 100 B"""
    value, unit = count, 0
    while value and value % 1024 == 0 and unit < len(UNITS) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value:,} {UNITS[unit]}" if unit else size(count)


def time(microseconds: float) -> str:
    """4.2 µs, 12.5 ms"""
    if microseconds < 1e4:
        return f"{microseconds:.1f} µs"
    return f"{microseconds / 1e3:.1f} ms" if microseconds < 1e7 else f"{microseconds / 1e6:.1f} s"


def table(*columns: str) -> Table:
    """A table without lines: its first column to the left, then numbers to the right."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column(columns[0], no_wrap=True)
    for name in columns[1:]:
        made.add_column(name, justify="right", no_wrap=True)
    return made
