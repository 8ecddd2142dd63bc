# SPDX-License-Identifier: BSD-3-Clause
"""A C++ header of include/tonari as a page of the reference: what a program can use of it, with the
comments that stand there, and without bodies, private members and what is in namespace detail.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from prose import strip_comment, to_rst

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
TYPE = re.compile(r"\b(?:class|struct|enum|union)\b[^;(=]*$")
HEAD = re.compile(
    r"(?P<template>template <[^{};]*>\s*)?(?P<kind>class|struct) (?:\[\[\w+\]\] )?(?P<name>\w+)"
    r"(?P<rest>[^;{]*)\{"
)
COMMENT = re.compile(r"(?:[ \t]*//[^\n]*\n)+")
# What a header shows of those that it includes from a folder.
PARTS = {
    "stencil.hpp": [
        f"stencil/{stem}.hpp"
        for stem in ("shapes", "bricks", "apply_array", "apply_bricks", "expansion")
    ],
    "matrix_file.hpp": ["matrix/part.hpp"],
}


def match_brace(text: str, at: int) -> int:
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    while True:
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def interface(text: str) -> str:
    """What is in namespace tonari but not in a namespace within it."""
    start = text.index("inline namespace api0 {")
    inside = text[text.index("\n", start) + 1 : text.index("}  // namespace api0")]
    while found := re.search(r"^namespace \w+ \{", inside, re.M):
        end = match_brace(inside, inside.index("{", found.start()))
        inside = inside[: found.start()] + inside[inside.index("\n", end) + 1 :]
    return inside


def without_private(text: str) -> str:
    """Of one class: what stands before `private:`, which comes last."""
    private = r"\n*^( *) private:\n.*?(?=^\1 public:|^\1\};)"
    return re.sub(private, "\n", text, flags=re.S | re.M)


def without_bodies(text: str) -> str:
    """Functions end with a semicolon instead of a body; lists of initializers are left out, too."""
    done, at, start, parens = [], 0, 0, 0
    while at < len(text):
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
        elif text[at] in "()":
            parens += 1 if text[at] == "(" else -1
            at += 1
        elif text[at] == ":" and not parens and _begins_initializers(text, at):
            done.append(text[start:at].rstrip() + ";")
            at = start = _behind_initializers(text, at)
        elif text[at] == "{" and not parens and not TYPE.search(_head(text, at)):
            done.append(text[start:at].rstrip())
            at = start = match_brace(text, at)
            done.append("" if text[at : at + 1] == ";" else ";")
        else:
            at += 1
    return "".join(done) + text[start:]


def _head(text: str, at: int) -> str:
    """What stands between the last end of something and `at`, comments left out."""
    before = re.sub(r"//[^\n]*", "", text[:at])
    begin = max(before.rfind(mark) for mark in ";}{") + 1
    return re.sub(r"template <.*?>\s", "", before[begin:], flags=re.S)


def _begins_initializers(text: str, at: int) -> bool:
    single = text[at - 1] != ":" and text[at + 1 : at + 2] != ":"
    return single and bool(re.search(r"\)\s*(?:noexcept\s*)?$", text[:at]))


def _behind_initializers(text: str, at: int) -> int:
    """Members are followed by their values in parentheses or braces, the body by nothing."""
    parens = 0
    while text[at] != "{" or parens or text[:at].rstrip()[-1].isalnum() or text[at - 1] == "_":
        parens += {"(": 1, ")": -1}.get(text[at], 0)
        at = match_brace(text, at) if text[at] == "{" and not parens else at + 1
    return match_brace(text, at)


def items(text: str) -> Iterator[tuple[str, str]]:
    """Comment and code, one after the other; code without a comment has an empty one."""
    at = 0
    while at < len(text):
        if text[at] == "\n":
            at += 1
            continue
        comment = COMMENT.match(text, at)
        begin = comment.end() if comment else at
        end = _end_of_item(text, begin)
        yield (comment[0] if comment else ""), text[begin:end].strip("\n")
        at = end


def _end_of_item(text: str, at: int) -> int:
    parens = 0
    while at < len(text):
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
        elif text[at] == "{" and not parens:
            at = match_brace(text, at)
            if text[at : at + 1] != ";" and re.match(r"[ \t]*\n", text[at:]):
                return at
        elif text[at] == ";" and not parens:
            line = text.find("\n", at)
            return len(text) if line < 0 else line
        else:
            parens += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return at


def _code(text: str) -> str:
    short = re.sub(r"\n{3,}", "\n\n", text.strip("\n"))
    return ".. code-block:: c++\n\n" + textwrap.indent(short, "   ") + "\n"


def _class(head: re.Match[str], comment: str, code: str) -> str:
    template = " ".join((head["template"] or "").split())
    name = f"{template} tonari::{head['name']}".strip()
    body = to_rst(strip_comment(comment.strip("\n"))) if comment else ""
    code = re.sub(r" : (?:public )?detail::[^{;]*(?= \{|;)", "", code)  # how it is made
    shown = body + "\n" + _code(without_bodies(without_private(code)))
    return f".. cpp:{head['kind']}:: {name}\n\n{textwrap.indent(shown, '   ')}\n"


def synopsis(text: str) -> Iterator[str]:
    """Classes have entries of their own; functions between them share a listing."""
    functions = ""
    for comment, code in items(interface(text)):
        head = HEAD.match(code)
        if not head:
            functions += ("\n" if comment else "") + comment + without_bodies(code) + "\n"
            continue
        if functions:
            yield _code(functions)
        functions = ""
        yield _class(head, comment, code)
    if functions:
        yield _code(functions)


def about(text: str) -> str:
    """The comment about the file, which follows the line of the license."""
    comment = COMMENT.match(text, text.index("\n") + 1)
    assert comment
    return to_rst(strip_comment(comment[0].strip("\n")))


def page(header: Path) -> str:
    """The whole page, as reStructuredText."""
    name = f"tonari/{header.name}"
    parts = [f"{name}\n{'=' * len(name)}", f".. code-block:: c++\n\n   #include <{name}>"]
    parts += _parts(header, "")
    for part in PARTS.get(header.name, []):
        parts += _parts(header.parent / part, f"tonari/{part}")
    return "\n\n".join(parts) + "\n"


def _parts(header: Path, title: str) -> Iterator[str]:
    text = header.read_text(encoding="utf-8")
    if title:
        yield f"{title}\n{'-' * len(title)}"
    yield about(text)
    if "inline namespace api0 {" in text:
        yield from synopsis(text)
