# SPDX-License-Identifier: BSD-3-Clause
"""docs/adr/README.md lists every decision once, by its number and under its own title."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

DECISIONS = Path(__file__).resolve().parents[2] / "docs/adr"
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\(([^)]+)\) \| (.*) \|$", re.MULTILINE)
HEADING = re.compile(r"# (\d+)\. (.+)")
MOST_WORDS = 25


@dataclass(frozen=True)
class Entry:
    """A row of the index."""

    number: int
    title: str
    file: str
    decided: str


def index(folder: Path) -> list[Entry]:
    rows = ROW.findall((folder / "README.md").read_text(encoding="utf-8"))
    return [Entry(int(number), *words) for number, *words in rows]


def records(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def wrong_files(entries: list[Entry], files: list[str]) -> list[str]:
    listed = [entry.file for entry in entries]
    missing = [f"{file} is not in the index" for file in files if file not in listed]
    gone = [f"{file} is in the index, but is no file" for file in listed if file not in files]
    return missing + gone


def wrong_numbers(entries: list[Entry]) -> list[str]:
    numbers = [entry.number for entry in entries]
    if numbers == list(range(1, len(entries) + 1)):
        return []
    return [f"the index counts {numbers}, not from 1 to {len(entries)}"]


def wrong_record(entry: Entry, path: Path) -> list[str]:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    if not (heading := HEADING.fullmatch(first)):
        return [f"{path.name} begins with '{first}', not with '# number. title'"]
    found = []
    number, title = heading.groups()
    if not int(number) == entry.number == int(path.name.partition("-")[0]):
        found.append(f"{path.name} is number {number} by its heading, {entry.number} in the index")
    if title != entry.title:
        found.append(f"{path.name} has the title '{title}', the index says '{entry.title}'")
    return found


def wrong_sentence(entry: Entry) -> list[str]:
    """What was decided is told in one short sentence."""
    words = len(entry.decided.split())
    one = entry.decided.endswith(".") and ". " not in entry.decided
    fine = one and words <= MOST_WORDS
    return [] if fine else [f"'{entry.decided}' is not one sentence of {MOST_WORDS} words"]


def problems(folder: Path) -> list[str]:
    entries, paths = index(folder), {path.name: path for path in records(folder)}
    found = wrong_files(entries, list(paths)) + wrong_numbers(entries)
    for entry in entries:
        found += wrong_sentence(entry)
        if entry.file in paths:
            found += wrong_record(entry, paths[entry.file])
    return found


def test_the_index_lists_every_decision() -> None:
    assert len(index(DECISIONS)) >= 16
    assert problems(DECISIONS) == []


def row(number: int, title: str, file: str, decided: str = "It is so.") -> str:
    return f"| {number} | [{title}]({file}) | {decided} |\n"


@pytest.fixture
def house(tmp_path: Path) -> Callable[[str], list[str]]:
    """Two decisions; house(index) -> what is wrong with this index of them."""
    (tmp_path / "0001-a.md").write_text("# 1. First `a`\n\nText.\n", encoding="utf-8")
    (tmp_path / "0002-b.md").write_text("# 2. Second\n\nText.\n", encoding="utf-8")

    def check(text: str) -> list[str]:
        (tmp_path / "README.md").write_text(text, encoding="utf-8")
        return problems(tmp_path)

    return check


FIRST, SECOND = row(1, "First `a`", "0001-a.md"), row(2, "Second", "0002-b.md")
THIRD = row(3, "Third", "0003-c.md")
EXCHANGED = row(1, "Second", "0002-b.md") + row(2, "First `a`", "0001-a.md")


def test_a_right_index_passes(house: Callable[[str], list[str]]) -> None:
    assert house(FIRST + SECOND) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FIRST, "0002-b.md is not in the index"),
        (FIRST + SECOND + THIRD, "0003-c.md is in the index, but is no file"),
        (FIRST + row(3, "Second", "0002-b.md"), "counts [1, 3]"),
        (FIRST + SECOND + SECOND, "counts [1, 2, 2]"),
        (SECOND + FIRST, "counts [2, 1]"),
        (FIRST + row(2, "Second one", "0002-b.md"), "has the title 'Second'"),
        (EXCHANGED, "is number 2 by its heading"),
        (FIRST + row(2, "Second", "0002-b.md", "It is. So."), "is not one sentence"),
        (FIRST + row(2, "Second", "0002-b.md", "So " * 30 + "."), "is not one sentence"),
    ],
)
def test_a_wrong_index_is_noticed(
    house: Callable[[str], list[str]], text: str, sentence: str
) -> None:
    assert any(sentence in problem for problem in house(text)), house(text)


def test_a_record_without_its_heading_is_noticed(
    house: Callable[[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "0002-b.md").write_text("# Second\n", encoding="utf-8")
    assert any("begins with '# Second'" in problem for problem in house(FIRST + SECOND))
