# SPDX-License-Identifier: BSD-3-Clause
"""Messages per rank before and after: ranks sorted by how many they send or receive, a line per
scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari.benchmark import style


def draw(answers: list[Any], title: str, file: Path) -> None:
    style.save(make(answers, title), file)


def make(answers: list[Any], title: str) -> Any:
    """The figure. The lines end side by side, at the ranks that send nothing: a legend stands where
    there is nothing of them, above."""
    figure, axes = style.make_figure(1, 2, 6.5, 4.8)
    drawn = shown(answers)
    found = style.looks(answer.scheme for answer in drawn)
    for axis, what in zip(axes.flat, ("sent", "received")):
        for answer in drawn:
            counts = sorted(getattr(answer, what), reverse=True)
            look = found[answer.scheme].of_line() | {"marker": "None"}
            axis.step(range(len(counts)), counts, where="mid", label=answer.scheme, **look)
        axis.set(title=f"messages {what}", xlabel="ranks, the busiest first", ylim=(0, None))
        axis.legend(fontsize=style.SMALL, loc="upper right")
    axes[0, 0].set_ylabel("messages of a rank")
    axes[0, 1].sharey(axes[0, 0])
    return style.finish(figure, Path(title).name)


def shown(answers: list[Any]) -> list[Any]:
    """Of store and forward those with the most and the fewest words; of balanced its default."""
    forward = [answer for answer in answers if answer.scheme.startswith("store-and-forward/")]
    left_out = forward[1:-1]
    return [answer for answer in answers if not answer.variant and answer not in left_out]
