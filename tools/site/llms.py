# SPDX-License-Identifier: BSD-3-Clause
"""llms.txt beside the site, as llmstxt.org has it: the pages of docs/index.md by its headings, each
with its title and its first sentence, for readers that are programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from stage import FENCE, ITEM, SECTION, Stage

COMMENT = re.compile(r"<!--.*?-->", re.S)
ELEMENT = re.compile(r"<(\w+)>.*?</\1>", re.S)
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NO_PROSE = ("#", "|", "*", "-", ">")


def write(stage: Stage, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    (output / "llms.txt").write_text(text_of(stage), encoding="utf-8")


def text_of(stage: Stage) -> str:
    index = stage.root / "docs/index.md"
    words = index.read_text(encoding="utf-8")
    lines = ["# tonari", "", f"> {first_sentence(words)}"]
    for title, body in SECTION.findall(words):
        lines += ["", f"## {title}", "", *entries(stage, index.parent, body)]
    return "\n".join(lines) + "\n"


def entries(stage: Stage, folder: Path, body: str) -> Iterator[str]:
    for title, target in ITEM.findall(body):
        page = Path(os.path.normpath(folder / target))
        sentence = first_sentence(page.read_text(encoding="utf-8"))
        yield f"- [{title}]({stage.place(page).with_suffix('.html')}): {sentence}"


def first_sentence(markdown: str) -> str:
    """Of the first paragraph that is prose, in one line and without links."""
    plain = ELEMENT.sub("", COMMENT.sub("", FENCE.sub("", markdown)))
    for part in plain.split("\n\n"):
        paragraph = " ".join(part.split())
        if paragraph and not paragraph.startswith(NO_PROSE):
            words = LINKED.sub(r"\1", paragraph).replace("**", "")
            return re.split(r"(?<=[.!?]) (?=[A-Za-z`])", words)[0]
    raise ValueError("a page of the site has no sentence; begin it with what a reader gains")
