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
    if not measured.is_file():
        folder = build / "reproduce-simulated"
        make(papers(), Here(mpis=(), scratch=folder), folder)
        measured = folder / REPORT
    shutil.copy(measured, pages / NAME)
