# SPDX-License-Identifier: BSD-3-Clause
"""Comments of headers as reStructuredText.

A comment has paragraphs, code that is indented, bullets, and rows that begin with a
term: a parameter, a key, a value. What belongs to a term is indented more than it is.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

CODE = re.compile(r"//|(?=.*(?:::|[(=_])).*(?:;(?:\s*//.*)?|\{)$")  # the first line of code
DRAWN = "|"  # a line of a drawing has some
NAME = re.compile(
    r"(?<![\w`])((?:tonari/)?\w+\.h(?:pp)?\b|(?:tonari|TONARI|cdag|MPIX?|Iso|ISO|_mm)_\w+(?:\(\))?|\w+_\w+(?:\(\))?|\w+\[[^\]]*\]|TONARI_\*_\w+|\w+_(?![\w*]))"
)
ROW = re.compile(r"(?P<term>\S.*?)(?:(?P<gap> {2,})(?P<text>\S.*))?$")
MARKS = re.compile(r"([*`|\\])")
SCOPE = re.compile(r"\[(collective[^\]]*)\] ?(?=[A-Z]|$)")
QUOTED = re.compile(r"`(\w+)`")
PARAGRAPH = re.compile(r"Errors\b|Info keys|Start\.|Conventions")


def strip_comment(comment: str) -> list[str]:
    """The lines of `/* ... */` or of lines of `//`, without what marks them."""
    if comment.startswith("//"):
        return [line.strip()[2:].removeprefix(" ") for line in comment.splitlines()]
    body = comment.removeprefix("/*").removesuffix("*/")
    first, *rest = body.splitlines() or [""]
    lines = [first.strip(), *(re.sub(r"^\s*\* ?", "", line).rstrip() for line in rest)]
    return lines if lines[-1] else lines[:-1]


def to_rst(lines: list[str]) -> str:
    """A whole comment."""
    return "\n".join(_blocks(lines)).strip() + "\n"


def inline(text: str) -> str:
    """Names become literals, and nothing else means anything to reStructuredText."""
    text = SCOPE.sub(lambda m: f"\0{m[1].capitalize()}.\1", QUOTED.sub(r"\1", text))
    parts = NAME.split(text)
    done = [f"``{part}``" if k % 2 else MARKS.sub(r"\\\1", part) for k, part in enumerate(parts)]
    return "".join(_apart(done)).replace("\0", "**").replace("\1", "** ").rstrip()


def _apart(parts: list[str]) -> Iterator[str]:
    """A literal begins and ends at a space or a mark: else an escaped space stands between."""
    for k, part in enumerate(parts):
        if k % 2 == 0 or not part:
            yield part
            continue
        before, after = parts[k - 1], parts[k + 1]
        yield ("\\ " if re.search(r"[^\s('\"/-]$", before) else "") + part
        if re.match(r"[^\s.,:;!?)'\"/-]", after):
            yield "\\ "


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: list[str]) -> Iterator[str]:
    """Paragraphs at the left, and what is indented between them."""
    k = 0
    while k < len(lines):
        if not lines[k].strip():
            k += 1
            continue
        end = _end(lines, k)
        if _indent(lines[k]):
            yield from _indented(lines[k:end])
        elif lines[k].startswith("- "):
            yield from _bullets(lines[k:end])
        else:
            yield inline(" ".join(line.strip() for line in lines[k:end]))
        yield ""
        k = end


def _end(lines: list[str], start: int) -> int:
    """Where the block ends that begins here."""
    deep, bullet = _indent(lines[start]) > 0, lines[start].startswith("- ")
    k = start + 1
    while k < len(lines):
        line = lines[k]
        if not line.strip() and not (deep and k + 1 < len(lines) and _indent(lines[k + 1])):
            return k
        if line.strip() and not bullet and (_indent(line) > 0) != deep:
            return k
        if bullet and not _indent(line) and not line.startswith("- "):
            return k
        if not deep and not bullet and PARAGRAPH.match(line):
            return k
        k += 1
    return k


def _indented(lines: list[str]) -> Iterator[str]:
    least = min(_indent(line) for line in lines if line.strip())
    lines = [line[least:] for line in lines]
    if lines[0].startswith("- "):
        yield from _bullets(lines)
    elif CODE.match(lines[0]) or DRAWN in lines[0]:
        language = "text" if DRAWN in lines[0] else "c++"
        yield from [f".. code-block:: {language}", "", textwrap.indent("\n".join(lines), "   ")]
    elif _is_rows(lines):
        yield from _rows(lines)
    else:
        yield from _blocks(lines)


def _bullets(lines: list[str]) -> Iterator[str]:
    for item in _split(lines, lambda line: line.startswith("- ")):
        text = [item[0][2:], *(line[2:] if _indent(line) >= 2 else line for line in item[1:])]
        yield textwrap.indent("\n".join(_blocks(text)), "  ").replace("  ", "- ", 1).rstrip()
        yield ""


def _is_rows(lines: list[str]) -> bool:
    """Terms with a text behind two spaces, or alone above what is indented."""
    first = ROW.match(lines[0])
    return bool(first and first["gap"]) or (len(lines) > 1 and _indent(lines[1]) > 0)


def _rows(lines: list[str]) -> Iterator[str]:
    for row in _split(lines, lambda line: _indent(line) == 0):
        head = ROW.match(row[0])
        assert head
        below = [line for line in row[1:] if line.strip()]
        starts = [head.start("text")] if head["gap"] else []
        column = min([*starts, *map(_indent, below)], default=0)
        text = ([head["text"]] if head["gap"] else []) + [line[column:] for line in row[1:]]
        yield _term(head["term"])
        yield textwrap.indent("\n".join(_blocks(text)), "   ").rstrip()
        yield ""


def _term(text: str) -> str:
    words = re.split(r"(, | \(|\))", text)
    plain = [f"``{word}``" if re.fullmatch(r"[\w/-]+", word) else word for word in words]
    return "".join(plain) if any("``" in word for word in plain) else inline(text)


def _split(lines: list[str], begins) -> Iterator[list[str]]:
    part: list[str] = []
    for line in lines:
        if line.strip() and begins(line) and part:
            yield part
            part = []
        part.append(line)
    if part:
        yield part
