# SPDX-License-Identifier: BSD-3-Clause
"""A C header of include/tonari as a page of the reference.

The headers are written to be read: one comment stands before what it describes, often several
functions. A page keeps that order. Functions, types and constants become objects of Sphinx's C
domain, so that names anywhere lead to them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prose import inline, strip_comment, to_rst

TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/)|(?P<macro>^#(?:[^\n]*\\\n)*[^\n]*)|(?P<blank>\n[ \t]*\n)", re.M | re.S
)
TITLE = re.compile(r"-{4} (.*?) -{4,}")
DEFINE = re.compile(r"#define ((?:TONARI|ISO)_\w+)(\([^)]*\))?")
EXPORTED = ("TONARI_API", "TONARI_PETSC_API")
HIDDEN = {*EXPORTED, "TONARI_UNNAMED", "TONARI_NULL_HANDLE", "TONARI_PETSC_CODE"}  # of headers only
ENUMERATOR = re.compile(r"(\w+)(?:\s*=\s*(-?\w+))?\s*(?:,|$)")


@dataclass
class Entry:
    """A comment, and what it describes."""

    comment: list[str] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)


def entries(text: str) -> Iterator[Entry]:
    """All of a header, from the comment about the file on."""
    text = re.sub(r'^#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n', "", text, flags=re.M)
    entry, at = Entry(), text.index("\n") + 1
    while at < len(text):
        found = TOKEN.match(text, at)
        if found and found["blank"]:
            yield entry
            entry, at = Entry(), found.end() - 1
        elif found and found["comment"]:
            if entry.declarations or entry.comment:
                yield entry
            entry, at = Entry(strip_comment(found["comment"])), found.end()
        elif found:
            entry = (
                entry if _macro(found["macro"]) or entry.declarations else _without(entry, found)
            )
            entry.declarations += _macro(found["macro"])
            at = found.end()
        elif text[at].isspace():
            at += 1
        else:
            declaration, at = _declaration(text, at)
            entry.declarations.append(declaration)
    yield entry


def _without(entry: Entry, found: re.Match[str]) -> Entry:
    """What a comment says of a macro that is left out is left out, too."""
    return Entry() if found["macro"].startswith("#if defined") else entry


def _macro(line: str) -> list[str]:
    """What a program may use; guards and the second of two definitions are left out later."""
    found = DEFINE.match(line)
    guard = found and found[1].endswith("_H")
    return (
        [f"#{found[1]}{found[2] or ''}"] if found and not guard and found[1] not in HIDDEN else []
    )


def _declaration(text: str, at: int) -> tuple[str, int]:
    """Up to the semicolon outside of braces, and a comment that stands behind it on its line."""
    depth, end = 0, at
    while text[end] != ";" or depth:
        if text.startswith("/*", end):
            end = text.index("*/", end) + 1
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    end += 1
    behind = re.match(r"[ \t]*/\*[^\n]*\*/", text[end:])
    return text[at : end + (behind.end() if behind else 0)], end + (behind.end() if behind else 0)


def page(header: Path) -> str:
    """The whole page, as reStructuredText."""
    name = f"tonari/{header.name}"
    lines, seen = (
        [name, "=" * len(name), "", f".. code-block:: c\n\n   #include <{name}>", ""],
        set(),
    )
    for entry in entries(header.read_text(encoding="utf-8")):
        lines += _section(entry, seen)
    return "\n".join(lines) + "\n"


def _section(entry: Entry, seen: set[str]) -> Iterator[str]:
    text = entry.comment
    if text and (title := TITLE.match(text[0])):
        yield from [title[1], "-" * len(title[1]), ""]
        text = text[1:]
    fresh = [d for d in dict.fromkeys(entry.declarations) if _name_of(d) not in seen]
    seen.update(map(_name_of, fresh))
    body = to_rst(text) if text else ""
    yield from _described(fresh, body) if fresh else [body]


def _name_of(declaration: str) -> str:
    return declaration if declaration.startswith("#") else " ".join(declaration.split())


def _described(declarations: list[str], body: str) -> Iterator[str]:
    """Functions share one description; a type or constants have theirs behind their own names."""
    functions = [d for d in declarations if _is_function(d)]
    if functions:
        signatures = [_signature(d) for d in functions]
        yield _directive("c:function", signatures, body)
        body = ""
    for declaration in (d for d in declarations if not _is_function(d)):
        yield from _other(declaration, body)
        body = ""


def _is_function(declaration: str) -> bool:
    return declaration.startswith(EXPORTED)


def _signature(declaration: str) -> str:
    """Without what a library exports by, and with the types that macros stand for."""
    words = declaration.split(";")[0].replace("TONARI_PETSC_CODE", "PetscErrorCode").split()
    return " ".join(word for word in words if word not in EXPORTED)


def _directive(kind: str, signatures: list[str], body: str) -> str:
    pad = " " * (len(kind) + 6)
    head = f".. {kind}:: " + ("\n" + pad).join(signatures)
    return head + "\n\n" + textwrap.indent(body, "   ") + "\n"


def _other(declaration: str, body: str) -> Iterator[str]:
    if declaration.startswith("#"):
        yield _directive("c:macro", [declaration[1:]], body)
    elif declaration.startswith("enum"):
        yield body
        yield from _enumerators(declaration)
    elif declaration.startswith("typedef struct {"):
        name = re.search(r"\}\s*(\w+);", declaration)
        assert name
        yield _directive("c:struct", [name[1]], body + "\n" + _code(declaration))
    elif declaration.startswith("typedef"):
        yield _directive("c:type", [declaration.split()[-1].rstrip(";")], body)
    else:
        raise ValueError(f"a declaration of a kind that no header had: {declaration}")


def _code(text: str) -> str:
    return ".. code-block:: c\n\n" + textwrap.indent(text, "   ") + "\n"


def _enumerators(declaration: str) -> Iterator[str]:
    inside = declaration[declaration.index("{") + 1 : declaration.rindex("}")]
    before: list[str] = []
    for line in _joined(inside).splitlines():
        comment = re.search(r"/\*(.*?)\*/", line)
        names = ENUMERATOR.findall(re.sub(r"/\*.*?\*/", "", line).strip())
        said = [*before, *([comment[1].strip()] if comment else [])]
        before = [] if names else said
        signatures = [name + (f" = {value}" if value else "") for name, value in names]
        if names:
            yield _directive("c:enumerator", signatures, inline(" ".join(said)))


def _joined(text: str) -> str:
    """Comments over several lines become one."""
    return re.sub(
        r"/\*.*?\*/", lambda m: " ".join(strip_comment(m[0])).join(("/* ", " */")), text, flags=re.S
    )
