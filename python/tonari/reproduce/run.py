# SPDX-License-Identifier: BSD-3-Clause
"""Runs the steps of figures one after the other: what is timed has the machine for itself."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tonari import interruptible
from tonari.benchmark.launch import run_command
from tonari.errors import Error
from tonari.reproduce.figures import Figure, Here, LeftOut, Paper, Rows, Step
from tonari.reproduce.keep import Keep


@dataclass
class Made:
    """What came of a figure's commands."""

    paper: Paper
    figure: Figure
    left_out: str = ""  # why it is not made here
    steps: Sequence[Step] = ()
    sweeps: Sequence[Step] = ()
    rows: dict[str, Rows] = field(default_factory=dict)  # by step
    failed: dict[str, str] = field(default_factory=dict)  # by step: what the command said

    @property
    def key(self) -> str:
        return f"{self.paper.key}-{self.figure.number}"

    @property
    def of_steps(self) -> Mapping[str, Rows]:
        """Without those of sweeps."""
        return {step.name: self.rows[step.name] for step in self.steps if step.name in self.rows}


def plan(papers: Sequence[Paper], here: Here) -> list[Made]:
    """All figures, with the steps that they take here."""
    return [_planned(paper, figure, here) for paper in papers for figure in paper.figures]


def _planned(paper: Paper, figure: Figure, here: Here) -> Made:
    try:
        return Made(paper, figure, steps=figure.steps(here), sweeps=figure.sweeps(here))
    except LeftOut as reason:
        return Made(paper, figure, left_out=str(reason))


def forget(made: Sequence[Made], keep: Keep) -> None:
    """Removes the rows of these steps, and nothing else of the folder."""
    for one in made:
        for step in (*one.steps, *one.sweeps):
            keep.path(one.key, step).unlink(missing_ok=True)


def run(made: Sequence[Made], keep: Keep) -> None:
    """Runs what is not kept. A step that fails is named, and the others go on."""
    tasks = [(one, step) for one in made for step in (*one.steps, *one.sweeps)]
    missing = []
    for one, step in tasks:
        rows = keep.load(one.key, step)
        if rows is None:
            missing.append((one, step))
        else:
            one.rows[step.name] = rows
    try:
        with _bar(tasks, missing) as (show, advance):
            for one, step in missing:
                show(f"{one.paper.key} {one.figure.number}: {step.name}")
                _run(one, step, keep)
                advance(step.seconds)
    except KeyboardInterrupt:
        done = sum(len(one.rows) for one in made)
        raise interruptible.Interrupted(
            f"stopped; {done} of {len(tasks)} steps are kept in {keep.folder}, and the next run "
            "goes on from there"
        ) from None


def _run(one: Made, step: Step, keep: Keep) -> None:
    try:
        rows = call(step.arguments)
    except Error as error:
        one.failed[step.name] = str(error)
        return
    keep.save(one.key, step, rows)
    one.rows[step.name] = rows


def call(arguments: Sequence[str]) -> Rows:
    """What this command of tonari prints with --json. Raises Error with its sentence."""
    with tempfile.TemporaryDirectory(prefix="tonari-reproduce-") as folder:
        rows = Path(folder) / "rows.json"
        tonari = [sys.executable, "-m", "tonari", *arguments, "--json"]
        full = ["sh", "-c", 'rows=$1; shift; exec "$@" >"$rows"', "sh", str(rows), *tonari]
        try:
            run_command(full, dict(os.environ), "tonari", rows, lambda line: None)
        except Error as error:  # the command's own sentence stands behind its name
            raise Error(str(error).rpartition(": tonari: ")[2], error.code) from None
        return json.loads(rows.read_text(encoding="utf-8"))


class _bar:
    """A bar in seconds on standard error; without a terminal, a line for each step."""

    def __init__(self, tasks: Sequence[tuple[Made, Step]], missing: Sequence[object]) -> None:
        console = Console(stderr=True)
        self.lines = None if console.is_terminal else console
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.bar = Progress(
            *columns,
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        whole = sum(step.seconds for _, step in tasks)
        left = sum(task[1].seconds for task in missing)  # type: ignore[index]
        self.count, self.at = len(missing), 0
        self.task = self.bar.add_task("", total=whole, completed=whole - left)

    def __enter__(self) -> tuple[Callable[[str], None], Callable[[float], None]]:
        self.bar.start()
        return self._show, lambda seconds: self.bar.advance(self.task, seconds)

    def _show(self, text: str) -> None:
        self.at += 1
        if self.lines:
            self.lines.print(f"{self.at}/{self.count} {text}", highlight=False, soft_wrap=True)
        self.bar.update(self.task, description=text)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
