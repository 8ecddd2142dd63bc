# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari simulate --sweep`, made for 80 columns, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from tonari import machines, output
from tonari.benchmark import style
from tonari.sweep import PARAMETERS, Sweep, Turn


def show(title: str, sweeps: Sequence[Sweep], machine: str) -> None:
    """A table for each size of blocks, and where the fastest changes."""
    console = output.console()
    for sweep in sweeps:
        console.print(
            f"[bold]{escape(title)}[/]: {sweep.op} on {sweep.ranks:,} ranks, {_sizes(sweep)} of "
            f"{output.size(sweep.bytes)}\n"
        )
        console.print(_table(sweep))
        console.print("\n" + "\n".join(sentences(sweep)) + "\n")
    console.print(
        "A column is one parameter times a factor, the others as they are, of "
        + (
            escape(machines.name_of(machine))
            if machine
            else "a generic\nmachine; --machine FILE describes another"
        )
        + ". Of each algorithm the fastest variant counts."
    )


def _sizes(sweep: Sweep) -> str:
    """Whose size it is."""
    return "ghosts" if sweep.op == "halo" else "blocks"


def _table(sweep: Sweep) -> Any:
    table = output.table("times", *PARAMETERS)
    for factor in dict.fromkeys(point.factor for point in sweep.points):
        best = [point.fastest for point in sweep.points if point.factor == factor]
        cells = [f"{time.algorithm} {output.time(time.predicted_us)}" for time in best]
        table.add_row(factor_text(factor), *map(escape, cells))
    return table


def sentences(sweep: Sweep) -> list[str]:
    """Where it turns, or that it does not."""
    said = []
    for parameter in PARAMETERS:
        turns = [turn for turn in sweep.turns if turn.parameter == parameter]
        if not turns:
            (name, *_) = {p.fastest.algorithm for p in sweep.points if p.parameter == parameter}
            said.append(f"{parameter}: {name} is the fastest everywhere.")
        said += [f"{parameter}: {_turn(turn)}" for turn in turns]
    return said


def _turn(turn: Turn) -> str:
    return (
        f"{turn.after} is faster than {turn.before} from {turn.factor:.2g} times on, "
        f"{turn.seconds:.2g} s."
    )


def factor_text(factor: float) -> str:
    return f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"


def draw(sweeps: Sequence[Sweep], title: str, file: Path) -> None:
    style.save(make(sweeps, title), file)


def make(sweeps: Sequence[Sweep], title: str) -> Any:
    """The figure: a row for each size, a column for each parameter; a line per algorithm."""
    figure, axes = style.make_figure(len(sweeps), len(PARAMETERS), 5.0, 3.8)
    missing: list[str] = []
    for row, sweep in zip(axes, sweeps, strict=True):
        for axis, parameter in zip(row, PARAMETERS, strict=True):
            missing += _panel(axis, sweep, parameter)
    caption = (
        f"{style.left_out(missing, '--algorithms', axes.size)} Dotted: where the fastest changes."
    )
    return style.finish(figure, title, caption.strip())


def _panel(axis: Any, sweep: Sweep, parameter: str) -> list[str]:
    points = [point for point in sweep.points if point.parameter == parameter]
    lines: dict[str, list[style.Point]] = {}
    for point in points:
        for time in point.times:
            lines.setdefault(time.algorithm, []).append((point.factor, time.predicted_us))
    drawn, missing = style.choose(lines, [point.fastest.algorithm for point in points])
    for name, look in style.looks(drawn).items():
        axis.plot(*zip(*lines[name], strict=True), label=name, **look.of_line())
    for turn in sweep.turns:
        if turn.parameter == parameter:
            axis.axvline(turn.factor, color=style.GRAY, linestyle=":", label="_turn")
    factors = [point.factor for point in points]
    axis.set_xscale("log", base=2)
    axis.set_xticks(factors, [factor_text(factor) for factor in factors])
    axis.set_xticks([], minor=True)
    axis.set(yscale="log", xlabel=f"times {parameter}", ylabel="µs")
    axis.set_title(f"{_sizes(sweep)} of {output.short_size(sweep.bytes)}")
    return missing
