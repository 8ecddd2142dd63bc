# SPDX-License-Identifier: BSD-3-Clause
"""The field's words: usage: words.py SOURCE_ROOT. Sources, headers and documents cite papers by
author and year, spell as the MPI standard does, and use no private word that was replaced. Prints
every place that does otherwise and exits with 1."""

import re
import sys
from pathlib import Path

from lines import DATA, FOLDERS, KINDS

HERE = "tests/architecture/words.py"

CITATION = re.compile(
    r"\bpapers?[\s/#*]+0\d\d\b|[(;] ?0\d\d[,:] ?(?:§|[A-Z]|section)", re.IGNORECASE
)
PLAIN = "neighbour|colour|behaviour|favour|honour|centre|labelled|cancelled|signalled|artefact|catalogue"
STEMS = (
    "initial|serial|synchron|optim|minim|maxim|normal|general|special|organ|recogn|summar|vector|"
    "factor|parametr|final|real|util|emphas|categor|amort"
)
BRITISH = re.compile(
    rf"{PLAIN}|travell(?:ed|ing|er)|levell(?:ed|ing)|modell(?:ed|ing)|"
    rf"(?:{STEMS})is(?:e|ed|es|er|ing|ation)s?(?![a-z])|"
    r"analys(?:e|ed|ing)(?![a-z])|\blearnt\b|\bgrey\b",
    re.IGNORECASE,
)
# One of these is in each of its matches, and finding none in a file is fast.
PARTS_OF_BRITISH = [
    *PLAIN.split("|"),
    *(f"{stem}is" for stem in STEMS.split("|")),
    *("travell", "levell", "modell", "analys", "learnt", "grey"),
]
# The middle column of the project's glossary, and what stands for it today.
PRIVATE = {
    r"desks?": "send state or planning root",
    r"letters?": "message",
    r"shel(?:f|ves)": "request cache",
    r"landings?": "slot",
    r"settler?|settled": "rebalanced",
    r"likeness": "dedup key",
    r"repertoires?": "planner registry",
    r"gifts?": "delegated blocks",
    r"hopeful": "finalist",
    r"contestants": "wisdom version",
    r"drop twins": "remove duplicates",
    r"close door": "finish attach",
    r"look (?:a)?round": "query communicator or agree on limits",
    r"meet node": "initialize node",
    r"learn passing": "exchange forwarded sizes",
    r"stays? at home": "self block (copied locally)",
    r"dealt out": "partitioned",
    r"asked of nobody": "index without an owner",
    r"(?:made up nodes|nodes made up)": "emulated nodes",
    r"doubts?": "warning",
    r"dear": "expensive",
    r"his|him": "its",
}
WORD = re.compile(rf"(?<![a-z])(?:{'|'.join(PRIVATE)})(?![a-z])", re.IGNORECASE)
# Names that programs, scripts and files may have from earlier versions stay accepted, and those of
# MPI.
EARLIER = re.compile(
    r"tonari_halo_neighbours|TONARI_HALO_NEIGHBOURS|--neighbours|common-neighbourhood|colouring"
    r"|neighbours(?=[^\n]{0,30}(?:\n[^\n]{0,20})?earlier name)|\bdealt_out\b|\blevelled\b"
    r"|0009-edges-and-landings|MPI_(?:Status_set|Test)_cancelled"
)


def split_names(text: str) -> str:
    """Parts of identifiers become words; the lines stay."""
    text = re.sub(r"(?<=[a-z0-9])([A-Z])(?=[a-z])", r" \1", text)
    return re.sub(r"(?<=\w)_(?=\w)", " ", text)


def found(text: str):
    """The line number of each offence, and what is wrong."""
    text = EARLIER.sub(lambda name: "_" * len(name[0]), text)
    for match in CITATION.finditer(text):
        yield line_of(text, match), f"`{match[0]}`: cite by author and year"
    lower = text.lower()
    if any(part in lower for part in PARTS_OF_BRITISH):
        for match in BRITISH.finditer(text):
            yield line_of(text, match), f"`{match[0]}`: spell as the MPI standard does"
    for match in WORD.finditer(split_names(text)):
        yield line_of(text, match), f"`{match[0]}`: say {meant(match[0])}"


def line_of(text: str, match: re.Match) -> int:
    return text.count("\n", 0, match.start()) + 1


def meant(word: str) -> str:
    return next(say for old, say in PRIVATE.items() if re.fullmatch(old, word, re.IGNORECASE))


def files(root: Path):
    yield from sorted(path for path in root.iterdir() if path.suffix in KINDS)
    for folder in FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in KINDS | {".bib"})


def problems(root: Path):
    done = 0
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if name == HERE or name.startswith(tuple(DATA)):
            continue
        done += 1
        yield from (f"{name}:{n}: {why}" for n, why in found(path.read_text(encoding="utf-8")))
    if done == 0:
        yield f"there are no sources in {root}"


def selftest() -> None:
    right = [
        "// one hop per dimension (Duymuş 2021, §3.3)",
        "neighborhood, color, initialize, historical dearth of letterheads",
        "0041 bytes (000 001 002), paper by paper",
        "const int32_t* neighbours; /* its earlier name */",
    ]
    wrong = [
        "(paper 003, §3.3)",
        "// every algorithm of paper\n// 000",
        "links (003, §2.3)",
        "int colour_of(Neighbourhood n);",
        "initialise()",
        "class TreeDesk {",
        "drop_twins(candidates);",
        "std::vector<Landing> landings;",
        "nodes made up",
        "the rank and his messages",
    ]
    for text in right:
        assert not list(found(text)), (text, list(found(text)))
    british = [*PLAIN.split("|"), *(f"{stem}ise" for stem in STEMS.split("|"))]
    british += ["travelled", "levelling", "modelled", "analysed", "learnt", "grey"]
    for text in [*wrong, *british]:
        assert list(found(text)), text
    assert next(found("\ncolour"))[0] == 2


if __name__ == "__main__":
    selftest()
    complaints = list(problems(Path(sys.argv[1])))
    print("\n".join(complaints) or "all files use the field's words")
    sys.exit(bool(complaints))
