# SPDX-License-Identifier: BSD-3-Clause
"""The whole page: plotly inlined, the first page, then each paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tonari import __version__
from tonari.errors import FILE, Error
from tonari.reproduce.figures import Here, Paper
from tonari.reproduce.outcome import Outcome
from tonari.reproduce.report.front import front, of_paper
from tonari.reproduce.report.section import section
from tonari.reproduce.report.style import SCRIPT, STYLE


def page(papers: Sequence[Paper], outcomes: Sequence[Outcome], here: Here, where: str) -> str:
    """As a text. where: a sentence about the machine."""
    parts = [
        "<h1>Five papers again</h1>",
        f'<p class="quiet">{version_line(__version__)} {escape(where)}</p>',
        front(papers, outcomes, here),
        *(_paper(paper, of_paper(paper, outcomes)) for paper in papers),
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>tonari reproduce</title><style>{STYLE}</style><script>{plotly()}</script>"
    )
    body = "\n".join(parts) + f"<script>{SCRIPT}</script>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def version_line(version: str) -> str:
    """How the page begins."""
    return f"tonari {escape(version)}."


def paper_heading(paper: Paper) -> str:
    """Where the part of a paper begins."""
    title = f"{paper.authors} {paper.year}: {paper.title}"
    return f'<h2 id="{paper.key}">{escape(title)}</h2>'


def _paper(paper: Paper, outcomes: Sequence[Outcome]) -> str:
    sections = "\n".join(section(one) for one in outcomes)
    return f"{paper_heading(paper)}\n{sections}"


def plotly() -> str:
    """Its script, for a page that needs no network."""
    check_plotly()
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def check_plotly() -> None:
    """Raises where it is not installed: better before hours of measuring than after them."""
    try:
        import plotly.offline  # noqa: F401
    except ImportError:
        raise Error(
            "the report needs plotly for its plots: run `pip install plotly`, or `make reproduce` "
            "in the sources, which installs it into the build tree; --json prints the sentences "
            "without it",
            FILE,
        ) from None
