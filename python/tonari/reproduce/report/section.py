# SPDX-License-Identifier: BSD-3-Clause
"""The part of the report that is about one figure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from html import escape

from tonari.reproduce.claims import number
from tonari.reproduce.figures import SHAPE, Paper, Point, Published
from tonari.reproduce.outcome import Outcome
from tonari.reproduce.published import TEXT
from tonari.reproduce.report.plots import Drawing, drawings, panels, sweep_drawings


SHOWN = 6  # claims of a figure, before the others are opened


def anchor(paper: Paper, number: str) -> str:
    """Where in the page the figure is."""
    return re.sub(r"[^a-z0-9.]+", "-", f"{paper.key}-{number}".lower())


def css(kind: str) -> str:
    """The class of an outcome."""
    return "shape" if kind == SHAPE else kind.replace(" ", "-")


def chip(outcome: Outcome, text: str = "") -> str:
    """What came of a figure, in color; it leads there."""
    target = anchor(outcome.paper, outcome.figure.number)
    words = f"{text}: {outcome.kind}" if text else outcome.kind
    return f'<a class="chip {css(outcome.kind)}" href="#{target}">{escape(words)}</a>'


def section(outcome: Outcome) -> str:
    """Verdict, claim, plots, then the numbers and the commands to open."""
    figure = outcome.figure
    title = f"{figure.number}: {figure.title}"
    parts = [
        f'<h3 id="{anchor(outcome.paper, figure.number)}">{escape(title)}</h3>',
        _verdict(outcome),
        f"<p><b>Claimed:</b> {escape(figure.claim)}</p>",
        f'<p class="quiet">{escape(figure.note)}</p>' if figure.note else "",
        *(_failure(step, said) for step, said in outcome.failed.items()),
        _plots(list(drawings(outcome))),
        _details("Our numbers, and published ones below them", _tables(outcome)),
        _details("What the paper says", _published(outcome.published)),
        *(_sweep(outcome)),
        _details("Commands", _commands(outcome)),
    ]
    return "\n".join(part for part in parts if part)


def _verdict(outcome: Outcome) -> str:
    return f'<div class="verdict {css(outcome.kind)}">{chip(outcome)} {_told(outcome)}</div>'


def _told(outcome: Outcome) -> str:
    """The first claims, and the others to open."""
    verdict = outcome.verdict
    if not verdict:
        return escape(outcome.missing)
    reason = f" <i>{escape(verdict.reason)}</i>" if verdict.reason else ""
    rest = claims(verdict.claims[SHOWN:])
    count = len(verdict.claims) - SHOWN
    more = _details(f"{count} more claim{'s' if count > 1 else ''}", rest)
    return f"{escape(verdict.head)}{reason}{claims(verdict.claims[:SHOWN])}{more}"


def claims(some: Sequence[tuple[str, str]]) -> str:
    """A line for each, with its kind before it."""
    lines = "".join(
        f'<li><span class="mark {css(kind)}">{escape(kind)}</span>{escape(said)}</li>'
        for kind, said in some
    )
    return f'<ul class="claims">{lines}</ul>' if lines else ""


def _failure(step: str, said: str) -> str:
    return f'<p class="failed-text">{escape(step)} failed: {escape(said)}</p>'


def _plots(some: Sequence[Drawing]) -> str:
    if not some:
        return ""
    return f'<div class="plots">{"".join(map(_plot, some))}</div>'


def _plot(drawing: Drawing) -> str:
    text = json.dumps(drawing, allow_nan=False).replace("</", "<\\/")
    return f'<div class="plot"><script type="application/json">{text}</script></div>'


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{body}</details>" if body else ""


def _tables(outcome: Outcome) -> str:
    return "".join(_table(outcome, panel) for panel in panels(outcome))


def _table(outcome: Outcome, panel: str) -> str:
    """A row for each x, a column for each line."""
    own = [point for point in outcome.points if point.panel == panel]
    printed = [point for point in outcome.published if point.panel == panel]
    columns = list(dict.fromkeys((point.series, point.how) for point in own))
    columns += [
        (s, "")
        for s in dict.fromkeys(p.series for p in printed)
        if s not in {series for series, _ in columns}
    ]
    lines = list(dict.fromkeys(point.x for point in (*own, *printed)))
    lines = sorted(lines, key=str) if outcome.figure.plot.matrix else lines
    head = "".join(
        f"<th>{escape(series)}<br><small>{escape(how or 'published')}</small></th>"
        for series, how in columns
    )
    body = "".join(
        f"<tr><td>{escape(_label(x))}</td>"
        + "".join(f"<td>{_cell(own, printed, series, how, x)}</td>" for series, how in columns)
        + "</tr>"
        for x in lines
    )
    corner = escape(outcome.figure.plot.x)
    return (
        f"<p><b>{escape(panel)}</b>, {escape(outcome.figure.plot.y)}</p>"
        f'<div class="scroll"><table class="numbers"><tr><th>{corner}</th>{head}</tr>{body}'
        "</table></div>"
    )


def _cell(
    own: Sequence[Point], printed: Sequence[Published], series: str, how: str, x: float | str
) -> str:
    ours = [point for point in own if (point.series, point.how, point.x) == (series, how, x)]
    theirs = [point for point in printed if (point.series, point.x) == (series, x)]
    shown = [number(point.y) for point in ours[:1]]
    shown += [f"<small>{number(point.y)} published</small>" for point in theirs[:1]]
    return "<br>".join(shown)


def _label(x: float | str) -> str:
    return x if isinstance(x, str) else number(x)


def _published(rows: Sequence[Published]) -> str:
    """Claims of the text whole; of a table its place is enough."""
    claims = [row for row in rows if row.panel == TEXT]
    places = dict.fromkeys((row.page, row.place) for row in rows if row.panel != TEXT)
    parts = [
        f"<li>{escape(row.series)}: {number(row.y)} {escape(row.unit)} "
        f'<span class="quiet">({escape(_place(row.page, row.place))}: '
        f"{escape(row.text)})</span></li>"
        for row in claims
    ]
    parts += [f"<li>numbers of {escape(_place(page, place))}</li>" for page, place in places]
    return f"<ul>{''.join(parts)}</ul>" if parts else ""


def _place(page: str, place: str) -> str:
    return f"{place}, page {page}" if page else place


def _sweep(outcome: Outcome) -> list[str]:
    if not outcome.sweeps:
        return []
    told = "".join(f"<p>{escape(sweep.sentence)}</p>" for sweep in outcome.sweeps)
    some = [drawing for sweep in outcome.sweeps for drawing in sweep_drawings(sweep)]
    return [f"<p><b>Where it turns</b> (simulated):</p>{told}", _details("Plots", _plots(some))]


def _commands(outcome: Outcome) -> str:
    lines = "\n".join(shlex.join(command) for command in outcome.commands)
    return f"<pre>{escape(lines)}</pre>" if lines else ""
