#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the rooms of src/ and who includes whom into docs/architecture.md, from the code.

tools/draw_architecture.py          puts the drawing between the markers
tools/draw_architecture.py --check  says whether it is there already; exits with 1 if it is not

Rooms and their floors are those of tests/architecture/rooms.py; nothing is known of them here.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/architecture"))

from rooms import CORE, FLOOR, FLOORS, room_of, sources  # noqa: E402

Arrow = tuple[str, str]

QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
BEGIN = "<!-- drawing: made by tools/draw_architecture.py -->"
END = "<!-- end of drawing -->"
WIDTH = 100  # of a line
LOOKS = "fill:#e8f1fa,stroke:#4a78a8,color:#102030"


def includes(root: Path) -> Counter[Arrow]:
    """How many times files of one room include headers of another one."""
    found: Counter[Arrow] = Counter()
    for room, path in sources(root):
        for included in QUOTED.findall(path.read_text(encoding="utf-8")):
            target = room_of(included)
            if room and target and target != room:
                found[room, target] += 1
    return found


def reachable(arrows: Iterable[Arrow], start: str) -> set[str]:
    """What a walk along arrows comes to."""
    below: dict[str, list[str]] = {}
    for a, b in arrows:
        below.setdefault(a, []).append(b)
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = set(below.get(waiting.pop(), [])) - seen
        seen |= fresh
        waiting += fresh
    return seen


def reduced(arrows: set[Arrow]) -> set[Arrow]:
    """Without those between rooms that other arrows connect (the transitive reduction)."""
    return {(a, b) for a, b in arrows if b not in reachable(arrows - {(a, b)}, a)}


def ground() -> set[str]:
    """The lowest floor: nearly everybody includes it, so its arrows would only hide the others."""
    return set(FLOORS[0])


def identifier(room: str) -> str:
    """Mermaid's own words are in lower case."""
    return re.sub(r"\W", "_", room).capitalize()


def floor(number: int, rooms: list[str]) -> list[str]:
    boxes = [f'    {identifier(room)}["{room}"]' for room in rooms]
    return [f'  subgraph Floor{number}["floor {number}"]', *boxes, "  end"]


def by_floor(arrow: Arrow) -> tuple[int, str, int, str]:
    a, b = arrow
    return -FLOOR[a], a, -FLOOR[b], b


def mermaid(counts: Counter[Arrow], shown: set[Arrow]) -> list[str]:
    """Floors from the top down, then arrows with their counts."""
    lines = ["```mermaid", "flowchart TB"]
    for number in range(len(FLOORS) - 1, 0, -1):
        lines += floor(number, FLOORS[number])
    for a, b in sorted(shown, key=by_floor):
        lines.append(f"  {identifier(a)} -->|{counts[a, b]}| {identifier(b)}")
    core = [identifier(room) for rooms in FLOORS[1:] for room in rooms if room in CORE]
    return [*lines, f"  classDef core {LOOKS}", f"  class {','.join(core)} core", "```"]


def legend(left_out: int) -> str:
    below = " and ".join(f"`{room}`" for room in FLOORS[0])
    return fill(
        "An arrow with the number n says that files of the upper room include headers of the "
        "lower one n times. Blue rooms are the core, which knows no MPI. Every room may include "
        f"the ground floor, {below}, which is left out. Also left out are {left_out} arrows that "
        "follow from others, because a chain of arrows connects the same rooms.",
        WIDTH,
    )


def drawing(root: Path) -> str:
    counts = includes(root)
    arrows = {arrow for arrow in counts if not ground() & set(arrow)}
    shown = reduced(arrows)
    lines = [*mermaid(counts, shown), "", legend(len(arrows) - len(shown))]
    return "\n".join([BEGIN, *lines, END])


def redrawn(text: str, picture: str) -> str:
    """The document with this picture between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there is no line '{BEGIN}' followed by '{END}'")
    return before + picture + after


def first_difference(old: str, new: str) -> str:
    pairs = zip([*old.splitlines(), ""], [*new.splitlines(), ""], strict=False)
    number, (was, now) = next((k, pair) for k, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number} is '{was}', the code says '{now}'"


def update(root: Path, document: Path, check: bool) -> str:
    """Draws, unless only a check is wanted. Returns what is wrong; empty if nothing."""
    old = document.read_text(encoding="utf-8")
    try:
        new = redrawn(old, drawing(root))
    except ValueError as error:
        return f"{document}: {error}"
    if new != old and check:
        return f"{document}: {first_difference(old, new)}; run tools/draw_architecture.py"
    document.write_text(new, encoding="utf-8")
    return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the architecture from the code.")
    parser.add_argument("--check", action="store_true", help="only say whether it is drawn")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the checkout to look at")
    options = parser.parse_args(arguments)
    document = options.root / "docs/architecture.md"
    wrong = update(options.root, document, options.check)
    print(wrong or f"{document} shows what the code says")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
