# SPDX-License-Identifier: BSD-3-Clause
"""CITATION.cff is what the Citation File Format 1.2.0 asks for, and its references are those of
docs/papers.bib."""

from __future__ import annotations

import copy
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

SOURCE = Path(__file__).resolve().parents[2]
# The five papers that tonari is made of.
PAPERS = ["Traff2016", "Zhao2021", "Hoefler2012", "Duymus2021", "Hofmann2013"]
REQUIRED = {"cff-version", "message", "title", "authors"}
KEYS = REQUIRED | {"abstract", "type", "version", "license", "keywords", "references"}
KEYS |= {"date-released", "doi", "repository-code", "url"}
REFERENCE_REQUIRED = {"type", "title", "authors"}
REFERENCE_KEYS = REFERENCE_REQUIRED | {"year", "conference", "institution", "publisher"}
REFERENCE_KEYS |= {"thesis-type", "doi", "url"}
PERSON, ENTITY = {"family-names", "given-names"}, {"name"}
TYPES = {"article", "conference-paper", "report", "thesis"}
ACCENTS = {'"': "\u0308", "'": "\u0301", "c": "\u0327"}


def keys(found: dict[str, Any], required: set[str], known: set[str], where: str) -> list[str]:
    lost = [f"{where} has no {key}" for key in sorted(required - found.keys())]
    more = [f"{where} has an unknown key {key}" for key in sorted(found.keys() - known)]
    empty = [f"{where}: {key} is empty" for key, value in found.items() if not value]
    return lost + more + empty


def people(authors: list[dict[str, str]], where: str) -> list[str]:
    """Each author is a person or an entity."""
    kinds = [PERSON if "family-names" in author else ENTITY for author in authors]
    return [
        problem
        for author, kind in zip(authors, kinds, strict=True)
        for problem in keys(author, kind, kind, f"an author of {where}")
    ]


def of_reference(reference: dict[str, Any]) -> list[str]:
    where = str(reference.get("title", "a reference without title"))
    found = keys(reference, REFERENCE_REQUIRED, REFERENCE_KEYS, where)
    if reference.get("type") not in TYPES:
        found.append(f"{where} is of type {reference.get('type')}")
    for part in {"conference", "institution", "publisher"} & reference.keys():
        found += keys(reference[part], ENTITY, ENTITY, f"the {part} of {where}")
    return found + people(reference.get("authors", []), where)


def problems(citation: dict[str, Any]) -> list[str]:
    found = keys(citation, REQUIRED, KEYS, "the file") + people(citation["authors"], "tonari")
    if citation["cff-version"] != "1.2.0":
        found.append(f"the format is {citation['cff-version']}")
    return found + [p for reference in citation["references"] for p in of_reference(reference)]


def plain(tex: str) -> str:
    r"""Characters for {\"a} and {\c{s}}; other braces only keep capitals."""
    accented = re.compile(r"\{?\\([\"'c])\{?(\w)\}?\}?")
    text = accented.sub(lambda m: unicodedata.normalize("NFC", m[2] + ACCENTS[m[1]]), tex)
    return re.sub(r"\s+", " ", re.sub(r"[{}]", "", text)).strip()


def bibliography(text: str) -> dict[str, dict[str, str]]:
    """Fields of the entries whose names are given, by entry."""
    entries = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL)
    field = re.compile(r"^  (\w+)\s*= \{(.*?)\},?$", re.MULTILINE | re.DOTALL)
    return {name: dict(field.findall(body)) for name, body in entries}


def as_in_bibliography(reference: dict[str, Any]) -> tuple[str, str, list[str]]:
    names = [f"{a['given-names']} {a['family-names']}" for a in reference["authors"]]
    return reference["title"], str(reference["year"]), names


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    return yaml.safe_load((SOURCE / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_file_is_valid(citation: dict[str, Any]) -> None:
    assert problems(citation) == []


def test_the_license_is_the_one_in_the_file(citation: dict[str, Any]) -> None:
    text = (SOURCE / "LICENSE").read_text(encoding="utf-8")
    assert citation["license"] == "BSD-3-Clause"
    assert text.startswith("BSD 3-Clause License\n\nCopyright (c) 2026, the tonari authors\n")
    for clause in ("1. Redistributions of source", "2. Redistributions in binary", "3. Neither"):
        assert clause in text


def test_references_are_the_five_papers(citation: dict[str, Any]) -> None:
    known = bibliography((SOURCE / "docs/papers.bib").read_text(encoding="utf-8"))
    wanted = [
        (plain(known[p]["title"]), known[p]["year"], plain(known[p]["author"]).split(" and "))
        for p in PAPERS
    ]
    assert sorted(map(as_in_bibliography, citation["references"])) == sorted(wanted)


def test_accents() -> None:
    assert plain(r"Jesper Larsson Tr{\"a}ff") == "Jesper Larsson Träff"
    assert plain(r"Mustafa Duymu{\c{s}} and {MPI}") == "Mustafa Duymuş and MPI"


BENDS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("the file has no message", lambda c: c.pop("message")),
    ("the file has an unknown key licence", lambda c: c.update(licence="MIT")),
    ("the file: title is empty", lambda c: c.update(title="")),
    ("the format is 1.1.0", lambda c: c.update({"cff-version": "1.1.0"})),
    (
        "an author of tonari has an unknown key nickname",
        lambda c: c["authors"][0].update(nickname="x"),
    ),
    ("is of type paper", lambda c: c["references"][0].update(type="paper")),
    ("a reference without title has no title", lambda c: c["references"][1].pop("title")),
    ("has no given-names", lambda c: c["references"][2]["authors"][0].pop("given-names")),
    ("the conference of", lambda c: c["references"][2].update(conference={"place": "x"})),
]


@pytest.mark.parametrize(("sentence", "bend"), BENDS)
def test_a_wrong_file_is_noticed(
    citation: dict[str, Any], sentence: str, bend: Callable[[dict[str, Any]], Any]
) -> None:
    bent = copy.deepcopy(citation)
    bend(bent)
    assert any(sentence in problem for problem in problems(bent)), problems(bent)
