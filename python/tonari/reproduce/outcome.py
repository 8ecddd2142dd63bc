# SPDX-License-Identifier: BSD-3-Clause
"""What came of a figure: its points and its verdict, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tonari.reproduce import published
from tonari.reproduce.claims import Missing
from tonari.reproduce.figures import Figure, Paper, Point, Published, Verdict
from tonari.reproduce.run import Made
from tonari.reproduce.sweeps import Sweep, swept

FAILED, LEFT_OUT = "failed", "left out"


@dataclass(frozen=True)
class Outcome:
    """One figure as the report shows it."""

    paper: Paper
    figure: Figure
    published: Sequence[Published]
    points: Sequence[Point]
    verdict: Verdict | None  # none where no judge can be asked
    missing: str  # then: why
    left_out: bool  # it is not made here, and nothing failed
    failed: Mapping[str, str]  # steps, and what their commands said
    commands: Sequence[tuple[str, ...]]
    sweeps: Sequence[Sweep]

    @property
    def kind(self) -> str:
        """Of the verdict, or FAILED or LEFT_OUT."""
        if self.verdict:
            return self.verdict.kind
        return LEFT_OUT if self.left_out else FAILED

    @property
    def sentence(self) -> str:
        return self.verdict.sentence if self.verdict else self.missing

    def row(self) -> dict[str, Any]:
        """For programs."""
        return {
            "paper": self.paper.key,
            "figure": self.figure.number,
            "outcome": self.kind,
            "sentence": self.sentence,
            "reason": self.verdict.reason if self.verdict else "",
            "failed": ", ".join(self.failed),
        }


def _missing(made: Made, gap: str) -> str:
    who = ", ".join(made.failed)
    return f"{who} failed, so {gap}" if who else gap


def outcome(made: Made) -> Outcome:
    """Asks the figure's judge."""
    figure = made.figure
    printed = published.read(figure.published)
    points: Sequence[Point] = ()
    verdict, missing = None, made.left_out
    if not missing:
        try:
            points = figure.points(made.of_steps)
            verdict = figure.judge(printed, points)
        except Missing as gap:
            missing = _missing(made, str(gap))
        except (LookupError, ValueError):
            if not made.failed:
                raise  # a mistake of the judge
            missing = _missing(made, "its numbers are not all there")
    commands = [("tonari", *step.arguments) for step in (*made.steps, *made.sweeps)]
    sweeps = [
        swept(step.name, made.rows[step.name]) for step in made.sweeps if step.name in made.rows
    ]
    return Outcome(
        made.paper,
        figure,
        printed,
        points,
        verdict,
        missing,
        bool(made.left_out),
        made.failed,
        commands,
        sweeps,
    )
