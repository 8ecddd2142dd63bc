# SPDX-License-Identifier: BSD-3-Clause
"""The report on five papers, beside the pages of the site: the one that `make reproduce` has made,
or else one of all that needs no MPI, which is simulated and planned here."""

from __future__ import annotations

import shutil
from pathlib import Path

NAME = "five-papers.html"


def write(pages: Path, build: Path) -> None:
    """build: the build tree, where `make reproduce` leaves its report."""
    from tonari.reproduce.figures import Here
    from tonari.reproduce.make import REPORT, make
    from tonari.reproduce.papers import papers

    measured = build / "reproduce" / REPORT
    if not whole(measured):
        folder = build / "reproduce-simulated"
        make(papers(), Here(mpis=(), scratch=folder), folder)
        measured = folder / REPORT
    shutil.copy(measured, pages / NAME)


def whole(report: Path) -> bool:
    """Whether it is there, of this version, with all papers, and nothing in it failed."""
    from tonari import __version__
    from tonari.reproduce.papers import papers
    from tonari.reproduce.report.page import paper_heading, version_line

    if not report.is_file():
        return False
    text = report.read_text(encoding="utf-8")
    wanted = [version_line(__version__), *(paper_heading(paper) for paper in papers())]
    return all(line in text for line in wanted) and 'class="failed-text"' not in text
