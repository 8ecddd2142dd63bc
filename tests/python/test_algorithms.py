# SPDX-License-Identifier: BSD-3-Clause
"""Everything that lists algorithms lists those of the one table (src/planners/registry.cpp)."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from tonari.algorithm_table import APPLY_TO, NAMES, list_algorithms
from tonari.core import core

SOURCE = Path(__file__).resolve().parents[2]
ROWS = core().algorithms()
ACCENTS = {r"\"": "\u0308", r"\c": "\u0327", r"\'": "\u0301", r"\~": "\u0303"}


def text_of(file: str) -> str:
    return (SOURCE / file).read_text(encoding="utf-8")


def table_rows(file: str) -> list[str]:
    return [line for line in text_of(file).splitlines() if line.startswith("|")]


def decode(latex: str) -> str:
    """{\\"a} and {\\c{s}} as messages."""
    messages = re.sub(r"\{(\\[\"c'~])\{?(\w)\}?\}", lambda m: m[2] + ACCENTS[m[1]], latex)
    return unicodedata.normalize("NFC", messages)


def papers() -> set[str]:
    """Family names and year of every entry of papers.bib, as in Träff 2016."""
    found = set()
    for entry in re.split(r"^@", decode(text_of("docs/papers.bib")), flags=re.MULTILINE):
        author = re.search(r"author\s*=\s*\{(.*)\}", entry)
        year = re.search(r"year\s*=\s*\{(\d+)\}", entry)
        if author and year:
            first = author[1].split(" and ")[0].strip("{}")
            found.add(f"{first.split()[-1]} {year[1]}")
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tables_of_documents_have_every_algorithm(row):
    in_place = "in place" in row.applies_to
    first = "docs/explanation/in-place.md" if in_place else "docs/features.md"
    for file in (first, "docs/benchmark.md"):
        assert any(f"`{row.name}`" in line for line in table_rows(file)), file


@pytest.mark.parametrize("name", list_algorithms("graphs"))
def test_its_page_has_every_algorithm_for_graphs(name):
    rows = table_rows("docs/explanation/algorithms.md")
    assert any(line.startswith(f"| `{name}` |") for line in rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_header_lists_every_algorithm(row):
    header = text_of("include/tonari/tonari.h")
    listed = header[header.index("tonari_algorithm (TONARI_ALGORITHM)") :]
    if "in place" not in row.applies_to:
        listed = listed[: listed.index("tonari_channel ")]
    assert re.search(rf"(?<![\w-]){row.name}(?![\w-])", listed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_papers_are_those_of_the_bibliography(row):
    named = re.findall(r"\w+ \d{4}", row.paper)
    assert named or row.paper == "ours"
    assert set(named) <= papers()


def test_every_algorithm_applies_to_something_and_says_what_it_does():
    for row in ROWS:
        assert row.summary
        assert set(row.applies_to) <= set(APPLY_TO) and row.applies_to
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_names_in_help_are_those_of_the_table():
    for kind in APPLY_TO:
        assert NAMES[kind].split(", ") == list_algorithms(kind)


def test_earlier_names_are_accepted():
    current = core().current_name
    assert current("colouring") == "coloring"
    assert current("common-neighbourhood/pairs") == "common-neighborhood/pairs"
    for earlier in ("forward-3", "topology:3", "store-and-forward/dims3"):
        assert current(earlier) == "store-and-forward/3"
    assert all(current(row.name) == row.name for row in ROWS)
