# SPDX-License-Identifier: BSD-3-Clause
"""CONTRIBUTING.md and docs/architecture.md name what exists: files, symbols in them, rooms."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
DOCUMENTS = ["CONTRIBUTING.md", "docs/architecture.md", "docs/adr/README.md"]
RECIPES = ["planner for offsets", "planner for graphs", "channel", "setting"]
RECIPES += ["function to the C interface", "command"]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*+-]+(/[\w.*+-]+)*/?")
SUFFIXES = (".bib", ".c", ".cpp", ".h", ".hpp", ".md", ".py", ".sh", ".toml", ".txt")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Pair:
    """A file, and what a table says is in it."""

    file: str
    symbols: tuple[str, ...]


def prose(document: str) -> str:
    """Without blocks of code."""
    return FENCED.sub("", (SOURCE / document).read_text(encoding="utf-8"))


def is_path(word: str) -> bool:
    """Names of files are written from the root; what a build makes is not in the checkout."""
    named = "/" in word or word.endswith(SUFFIXES)
    return named and PATH.fullmatch(word) is not None and not word.startswith("build/")


def paths(text: str) -> list[str]:
    return [word for word in QUOTED.findall(text) if is_path(word)]


def exists(path: str) -> bool:
    return any(SOURCE.glob(path)) if "*" in path else (SOURCE / path).exists()


def missing_paths(text: str) -> list[str]:
    return [path for path in paths(text) if not exists(path)]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(text: str) -> Iterator[dict[str, str]]:
    """Of all tables, by the titles of their columns."""
    titles: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            titles = []
        elif not titles:
            titles = cells(line)
        elif not line.startswith("|---"):
            yield dict(zip(titles, cells(line), strict=True))


def pairs(text: str) -> list[Pair]:
    found = [row for row in rows(text) if {"file", "symbols"} <= row.keys()]
    return [Pair(row["file"].strip("`"), tuple(QUOTED.findall(row["symbols"]))) for row in found]


def code(path: Path) -> str:
    """Comments of C++ do not count; public headers are documented in theirs."""
    text = path.read_text(encoding="utf-8")
    return COMMENT.sub("", text) if path.suffix in {".cpp", ".hpp"} else text


def wrong(pair: Pair) -> list[str]:
    path = SOURCE / pair.file
    if not path.is_file():
        return [f"there is no file {pair.file}"]
    if not pair.symbols:
        return [f"nothing is to be looked for in {pair.file}"]
    text = code(path)
    lost = [s for s in pair.symbols if not re.search(rf"(?<!\w){re.escape(s)}(?!\w)", text)]
    return [f"there is no {symbol} in {pair.file}" for symbol in lost]


def wrong_pairs(text: str) -> list[str]:
    return [problem for pair in pairs(text) for problem in wrong(pair)]


def rooms() -> list[str]:
    sys.path.insert(0, str(SOURCE / "tests/architecture"))
    try:
        from rooms import FLOOR  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    return [f"src/{room}/" for room in FLOOR]


def described_rooms(text: str) -> list[str]:
    return [row["room"].strip("`") for row in rows(text) if "room" in row]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    assert paths(prose(document))
    assert missing_paths(prose(document)) == []


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_symbols_are_in_their_files(document: str) -> None:
    assert len(pairs(prose(document))) >= 20
    assert wrong_pairs(prose(document)) == []


def test_every_room_is_described_once() -> None:
    assert sorted(described_rooms(prose("docs/architecture.md"))) == sorted(rooms())


@pytest.mark.parametrize("what", RECIPES)
def test_every_recipe_is_a_table(what: str) -> None:
    """With a test among its files: what is added is also shown to work."""
    _, heading, rest = prose("CONTRIBUTING.md").partition(f"\n### Add a {what}\n")
    assert heading
    files = [pair.file for pair in pairs(rest.partition("\n##")[0])]
    assert any(file.startswith("tests/") for file in files)
    assert not all(file.startswith("tests/") for file in files)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_lines_are_short(document: str) -> None:
    """Tables and drawings excepted."""
    lines = prose(document).splitlines()
    assert [line for line in lines if len(line) > 100 and not line.startswith("|")] == []


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("`src/plan/plan.hpp`, `src/plan/` and `docs/adr/*.md`", []),
        ("`build/tests/core_tests`, `balanced/both ends`, `tonari_wait`, `mpiexec`", []),
        ("`src/plan/plan.cxx`", ["src/plan/plan.cxx"]),
        ("`src/attic/`", ["src/attic/"]),
        ("`plan.hpp`", ["plan.hpp"]),
        ("`docs/adr/9*.md`", ["docs/adr/9*.md"]),
    ],
)
def test_missing_paths_are_noticed(text: str, problems: list[str]) -> None:
    assert missing_paths(text) == problems


HEAD = "| file | symbols | x |\n|---|---|---|\n"


@pytest.mark.parametrize(
    ("row", "problems"),
    [
        ("`src/plan/plan.hpp` | `Plan`, `Slice`", []),
        ("`src/plan/plan.hpp` | `Pla`", ["there is no Pla in src/plan/plan.hpp"]),
        ("`src/plan/plan.hpp` | `datatype`", ["there is no datatype in src/plan/plan.hpp"]),
        ("`src/plan/plan.hpp` | Plan", ["nothing is to be looked for in src/plan/plan.hpp"]),
        ("`src/plan/plan.cxx` | `Plan`", ["there is no file src/plan/plan.cxx"]),
        ("`src/plan/` | `Plan`", ["there is no file src/plan/"]),
    ],
)
def test_missing_symbols_are_noticed(row: str, problems: list[str]) -> None:
    """A word of a comment is no symbol, nor is a part of a longer name."""
    other = "| other | table |\n|---|---|\n| a | b |\n"
    assert wrong_pairs(f"{HEAD}| {row} | y |\n\n{other}") == problems
