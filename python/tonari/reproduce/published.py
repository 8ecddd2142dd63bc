# SPDX-License-Identifier: BSD-3-Clause
"""The published numbers, read off the papers' tables and text into files of `published/`."""

from __future__ import annotations

import csv
from importlib.resources import files

from tonari.reproduce.figures import Published

TEXT = "text"  # the panel of what a paper's text claims; it is listed, and drawn nowhere
COLUMNS = ("panel", "series", "x", "y", "unit", "page", "place", "text")


def read(name: str) -> list[Published]:
    """The rows of published/NAME.csv."""
    place = files("tonari.reproduce") / "published" / f"{name}.csv"
    with place.open(encoding="utf-8", newline="") as file:
        return [_row(row) for row in csv.DictReader(file)]


def _row(row: dict[str, str]) -> Published:
    return Published(
        panel=row["panel"],
        series=row["series"],
        x=_number(row["x"]),
        y=float(row["y"]),
        unit=row["unit"],
        page=row["page"],
        place=row["place"],
        text=row["text"],
    )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
