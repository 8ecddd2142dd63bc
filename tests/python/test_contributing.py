# SPDX-License-Identifier: BSD-3-Clause
"""CONTRIBUTING.md, docs/architecture.md and the READMEs of rooms name what exists: files, symbols,
rooms."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
DOCUMENTS = ["CONTRIBUTING.md", "docs/architecture.md", "docs/adr/README.md"]
RECIPES = ["planner for offsets", "planner for graphs", "channel", "setting"]
RECIPES += ["family of exchanges", "function to the C interface", "command"]
FAMILIES = ["neighborhood", "grid", "blocks", "vector", "in_place", "sparse"]
CHANNELS = ["native", "onesided", "p2p", "shared", "streams"]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*+-]+(/[\w.*+-]+)*/?")
SUFFIXES = (".bib", ".c", ".cpp", ".h", ".hpp", ".md", ".py", ".sh", ".toml", ".txt")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")
FILE_CELL = re.compile(r"^(\|[^|\n]*\|)[^|\n]*\|", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
TYPES = "type or function"  # the first column of a room's table; the second one is `file`


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


def room_of(file: str) -> str:
    """The innermost one, where rooms lie in each other."""
    return max((room for room in rooms() if file.startswith(room)), key=len, default="")


def is_defined(name: str, text: str) -> bool:
    """A type by its definition: `class Plan;` is none. A function also by its declaration."""
    type_ = rf"\b(?:class|struct|enum|using)\s+(?:class\s+)?{name}\b(?!\s*;)"
    return re.search(rf"{type_}|(?<!\w){name}\s*\(", text) is not None


def wrong_type(room: str, row: dict[str, str]) -> list[str]:
    file = room + row["file"].strip("`")
    names = QUOTED.findall(row[TYPES])
    if room_of(file) != room or not (SOURCE / file).is_file():
        return [f"{room} has no file {row['file']}"]
    if not names:
        return [f"nothing is to be looked for in {file}"]
    text = code(SOURCE / file)
    return [f"{file} does not define {name}" for name in names if not is_defined(name, text)]


def types(text: str) -> list[dict[str, str]]:
    return [row for row in rows(text) if {TYPES, "file"} <= row.keys()]


def wrong_types(room: str, text: str) -> list[str]:
    return [problem for row in types(text) for problem in wrong_type(room, row)]


@cache
def known_names() -> frozenset[str]:
    """All names in the code of the library and of its headers."""
    files = [p for folder in ("src", "include") for p in (SOURCE / folder).rglob("*.[ch]*")]
    return frozenset(name for path in files for name in NAME.findall(code(path)))


def unknown_names(text: str) -> list[str]:
    return [w for w in QUOTED.findall(text) if NAME.fullmatch(w) and w not in known_names()]


def anchors(document: Path) -> set[str]:
    """As forges make them of headings."""
    headings = HEADING.findall(document.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lost_links(room: str, text: str) -> list[str]:
    """Links that lead from the folder of the room to no file, or to no heading of it."""
    lost = []
    for target, anchor in LINK.findall(text):
        path = SOURCE / room / target
        if not path.is_file() or (anchor and anchor not in anchors(path)):
            lost.append(f"{target}#{anchor}" if anchor else target)
    return lost


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


@pytest.mark.parametrize("room", rooms())
def test_every_room_has_a_readme_that_is_true(room: str) -> None:
    """In its table, files are those of the folder; elsewhere they are written from the root."""
    text = prose(f"{room}README.md")
    elsewhere = FILE_CELL.sub(r"\1|", text)
    assert types(text)
    assert wrong_types(room, text) == []
    assert missing_paths(elsewhere) == []
    assert unknown_names(elsewhere) == []
    assert lost_links(room, text) == []


@pytest.mark.parametrize("room", rooms())
def test_rooms_can_be_read_in_a_day(room: str) -> None:
    """Larger ones have a second idea; but every planner is one of the same idea."""
    files = [
        file
        for file in (SOURCE / room).rglob("*.[ch]pp")
        if room_of(str(file.relative_to(SOURCE))) == room
    ]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    assert 0 < lines <= 5000 or room.startswith("src/planners/")


@pytest.mark.parametrize("family", FAMILIES)
def test_families_have_the_files_of_their_recipe(family: str) -> None:
    recipe = prose("CONTRIBUTING.md").split("### Add a family of exchanges\n")[1].split("### ")[0]
    files = re.findall(r"^\| `src/blocks/(\w+)\.[ch]pp`", recipe, re.MULTILINE)
    assert len(files) == 6
    lacking = {
        row["family"]: QUOTED.findall(row["has no"]) for row in rows(recipe) if "family" in row
    }
    assert list(lacking) == ["`src/in_place/`", "`src/sparse/`"]
    missing = [name for name in files if not exists(f"src/{family}/{name}.cpp")]
    assert missing == lacking.get(f"`src/{family}/`", [])


def test_channels_name_their_files_alike() -> None:
    """All folders have their files in the list, and no other folder has one of such a name."""
    recipe = prose("CONTRIBUTING.md").split("### Add a channel\n")[1].split("### ")[0]
    listed = {
        row["name"].strip("`"): QUOTED.findall(row["folders"])
        for row in rows(recipe)
        if "folders" in row
    }
    assert len(listed) == 5
    assert sorted({folder for folders in listed.values() for folder in folders}) == CHANNELS
    assert sorted(p.name for p in (SOURCE / "src/channels").iterdir() if p.is_dir()) == CHANNELS
    for name, folders in listed.items():
        assert [
            c
            for c in CHANNELS
            if any(exists(f"src/channels/{c}/{name}.{s}") for s in ("cpp", "hpp"))
        ] == folders


FUNCTION = r"^\w[\w:<>,&* ]*?[ &*]({})\("


def entered(file: str, callers: list[str]) -> set[str]:
    """Functions that the file's header declares without a body, and that others call."""
    declared = re.findall(
        FUNCTION.format(r"\w+") + r"[^{;]*;", code((SOURCE / file).with_suffix(".hpp")), re.M
    )
    texts = [code(SOURCE / caller) for caller in callers if caller != file]
    return {
        name
        for name in declared
        for text in texts
        if re.search(rf"^ .*\b{name}\(", text, re.M)
        and not re.search(FUNCTION.format(name), text, re.M)
    }


def walks(text: str) -> list[list[dict[str, str]]]:
    """The tables of calls; each begins with the program."""
    found: list[list[dict[str, str]]] = []
    for row in rows(text):
        if row.get("from") == "the program":
            found.append([])
        if "from" in row:
            found[-1].append(row | {"file": row["file"].strip("`"), "from": row["from"].strip("`")})
    return found


def unit(file: str) -> str:
    return file.rpartition(".")[0]


def test_the_walk_of_a_call_enters_few_files_more_than_twice() -> None:
    """Those that do are the ones that the page names."""
    text = prose("docs/architecture.md")
    files = [row["file"] for row in walks(text)[0]]
    assert len(files) > 40
    often = {file for file in files if files.count(file) > 2}
    named = [row["entered three times"] for row in rows(text) if "entered three times" in row]
    assert sorted(f"`{file}`" for file in often) == sorted(named)
    assert all(files.count(file) == 3 for file in often)


@pytest.mark.parametrize("walk", walks(prose("docs/architecture.md")), ids=["init", "one-shot"])
def test_rows_of_a_walk_are_called_from_rows_before(walk: list[dict[str, str]]) -> None:
    for k, row in enumerate(walk[1:], 1):
        assert row["from"] in [before["file"] for before in walk[:k]], row
        symbol = QUOTED.findall(row["symbols"])[0]
        assert re.search(rf"\b{symbol}\b", code(SOURCE / row["from"])), row


def test_the_walk_of_a_call_leaves_out_no_function() -> None:
    """Of the files that join a call to its plan."""
    walk = walks(prose("docs/architecture.md"))[0]
    files = [row["file"] for row in walk]
    for file in set(files[1:]):
        if file.startswith(("src/neighborhood/", "src/engine/run/")):
            listed = {
                symbol
                for row in walk
                if unit(row["file"]) == unit(file)
                for symbol in QUOTED.findall(row["symbols"])
            }
            assert entered(file, files) <= listed, file


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


@pytest.mark.parametrize(
    ("row", "problems"),
    [
        ("`Plan`, `Slice` | `plan.hpp`", []),
        ("`Wiring`, `wire` | `wiring.hpp`", ["src/plan/ has no file `wiring.hpp`"]),
        ("`Plan`, `Plant` | `plan.hpp`", ["src/plan/plan.hpp does not define Plant"]),
        ("`Plan` | `builder.hpp`", ["src/plan/builder.hpp does not define Plan"]),
        ("Plan | `plan.hpp`", ["nothing is to be looked for in src/plan/plan.hpp"]),
    ],
)
def test_types_that_are_elsewhere_are_noticed(row: str, problems: list[str]) -> None:
    """A header that uses a type does not define it."""
    text = f"| {TYPES} | file | x |\n|---|---|---|\n| {row} | y |\n"
    assert wrong_types("src/plan/", text) == problems


def test_types_of_an_inner_room_are_noticed() -> None:
    row = {TYPES: "`Relay`", "file": "`graphs/relay.hpp`"}
    assert wrong_type("src/planners/graphs/", row | {"file": "`relay.hpp`"}) == []
    assert wrong_type("src/planners/", row) == ["src/planners/ has no file `graphs/relay.hpp`"]


@pytest.mark.parametrize(
    ("declared", "defined"),
    [
        ("class Plan;", False),
        ("friend class Plan;", False),
        ("class Plan final : public Object {", True),
        ("enum class Plan : int {", True),
        ("using Plan = int;", True),
        ("struct Planner { Plan plan; };", False),
        ("Layout Plan(int count);", True),
    ],
)
def test_what_defines_a_name(declared: str, defined: bool) -> None:
    assert is_defined("Plan", declared) == defined


def test_unknown_names_are_noticed() -> None:
    """What has a blank is a command, say; paths are looked at elsewhere."""
    text = "`Plan`, `MPI_Finalize`, `tonari run`, `src/plan/`, `PlanOfMine`"
    assert unknown_names(text) == ["PlanOfMine"]


def test_lost_links_are_noticed() -> None:
    good = "[a](../../CONTRIBUTING.md#add-a-function-to-the-c-interface) [b](plan.hpp)"
    assert lost_links("src/plan/", good) == []
    bad = "[a](../../CONTRIBUTING.md#add-a-room) [b](../CONTRIBUTING.md)"
    lost = ["../../CONTRIBUTING.md#add-a-room", "../CONTRIBUTING.md"]
    assert lost_links("src/plan/", bad) == lost
