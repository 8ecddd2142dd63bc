# SPDX-License-Identifier: BSD-3-Clause
"""What a figure of a paper is here: the commands that make it again, and who judges the outcome.

Nothing here runs or draws. A paper's module in `papers/` has a `PAPER`; published numbers are in
`published/`, one CSV for each figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]  # as the commands print them with --json

RAN, SIMULATED, PLANNED = "ran", "simulated", "planned"  # how a number came about
AGREES, SHAPE, DIFFERS = "agrees", "agrees in shape", "differs"  # from best to worst


@dataclass(frozen=True)
class Here:
    """What this machine has, and how much is wanted of it."""

    short: bool = False  # small sizes, for two minutes
    mpis: tuple[str, ...] = ("openmpi",)  # of the build; the first one runs most
    root: bool = False  # network namespaces can be made, which are hosts
    gpu: bool = False
    matrices: Path | None = None  # a folder of Matrix Market files, which no paper's can be shipped
    scratch: Path = Path("build/reproduce")  # where inputs that are made up may be written

    @property
    def hosts(self) -> bool:
        """Whether ranks can run on hosts of their own: Open MPI starts them there."""
        return self.root and "openmpi" in self.mpis

    def matrix(self, name: str) -> Path | None:
        """The file of this matrix, plain or packed."""
        folder = self.matrices
        files = [folder / f"{name}.mtx{end}" for end in ("", ".gz")] if folder else []
        return next((file for file in files if file.is_file()), None)


class LeftOut(Exception):
    """The figure cannot be made on this machine, for a reason in one sentence."""


@dataclass(frozen=True)
class Step:
    """One call of the command line, which prints rows with --json. Its rows are kept."""

    name: str  # within its figure
    arguments: tuple[str, ...]  # of tonari, without --json
    how: str  # RAN, SIMULATED or PLANNED
    seconds: float = 10.0  # about so long; the bar advances by it


@dataclass(frozen=True)
class Point:
    """One number, published or our own."""

    panel: str  # a plot or table of the figure, such as "26 neighbors"
    series: str  # a line or a column, such as "torus"
    x: float | str
    y: float
    how: str = ""  # empty for published ones
    low: float | None = None  # quartiles, or the least and the most
    high: float | None = None


@dataclass(frozen=True)
class Published(Point):
    """A row of a file in `published/`: a point that a table prints, which is drawn beside ours in
    the panel of the same name; or a claim of the text, in the panel "text"."""

    unit: str = ""
    page: str = ""  # of the paper; empty where its text here has no page numbers
    place: str = ""  # "Table 2", "Section 4, on Figure 2"
    text: str = ""  # the words that it was read off


@dataclass(frozen=True)
class Verdict:
    """Computed from numbers: change one, and the sentence changes."""

    kind: str  # AGREES, SHAPE or DIFFERS
    sentence: str
    reason: str = ""  # why it differs, or agrees in shape only
    head: str = ""  # how many claims are of which kind; empty for one claim
    claims: tuple[tuple[str, str], ...] = ()  # kind and sentence of each, the worst first


@dataclass(frozen=True)
class Plot:
    """How points are drawn: a panel each, lines by series."""

    x: str  # titles of the axes, with units
    y: str
    log_x: bool = True
    log_y: bool = True
    bars: bool = False  # instead of lines, for x that are words
    matrix: bool = False  # a cell for each series and x, with its number


@dataclass(frozen=True)
class Figure:
    """One table or figure of a paper, again."""

    number: str  # "Table 2", "Figure 9"
    title: str
    claim: str  # of the paper, in one sentence
    published: str  # NAME of published/NAME.csv
    steps: Callable[[Here], Sequence[Step]]  # raises LeftOut
    points: Callable[[Mapping[str, Rows]], Sequence[Point]]  # from the rows of each step that ran
    judge: Callable[[Sequence[Published], Sequence[Point]], Verdict]
    plot: Plot
    note: str = ""  # what is different here: ranks, machine, sizes
    # `simulate ... --sweep` calls, for claims about scale: the report says where they turn.
    sweeps: Callable[[Here], Sequence[Step]] = field(default=lambda here: ())


@dataclass(frozen=True)
class Unmade:
    """A figure that no machine without the paper's hardware or program can make."""

    number: str
    title: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """Its figures, and what the first page says of it."""

    key: str  # "traeff-2016"
    authors: str
    year: int
    title: str
    claimed: str  # one or two sentences
    beyond: str  # what tonari does that the paper does not
    figures: tuple[Figure, ...]
    unmade: tuple[Unmade, ...] = ()
    headline: str = ""  # the number of the figure whose sentence stands on the first page
