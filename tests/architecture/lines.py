# SPDX-License-Identifier: BSD-3-Clause
"""No line is longer than 100 columns: usage: lines.py SOURCE_ROOT. Prints every longer one and
exits with 1.

Rows of tables and what cannot be broken (a path, a link, a word, in shell and CMake a string) may
be longer.
"""

import re
import sys
from pathlib import Path

WIDTH = 100
FOLDERS = ["src", "include", "bench", "tests", "examples", "python", "tools", "cmake", "docs"]
FOLDERS += ["packaging"]
KINDS = {".cpp", ".hpp", ".c", ".h", ".py", ".md", ".sh", ".cmake", ".txt", ".f90", ".F90", ".inc"}
DATA = ["tests/data", "tests/goldens", "src/layout/surface_orders.inc"]
NO_JOINED_STRINGS = {".sh", ".cmake", ".txt"}  # a string there is a word
WORD = re.compile(r"\S+")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|\S+')
TABLE = re.compile(r"^\s*\|")
DRAWN = re.compile(r"^  class [\w,]+ core$")  # by tools/draw_architecture.py: one word to Mermaid


def sources(root: Path):
    yield from sorted(path for path in root.iterdir() if path.suffix in KINDS)
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in KINDS)


def may_be_longer(line: str, kind: str) -> bool:
    words = (STRING if kind in NO_JOINED_STRINGS else WORD).findall(line)
    unbreakable = max(map(len, words), default=0) > WIDTH - 20
    return bool(TABLE.match(line) or DRAWN.match(line) or unbreakable)


def problems(root: Path):
    count = 0
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(tuple(DATA)):
            continue
        count += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > WIDTH and not may_be_longer(line, path.suffix):
                yield f"{name}:{number}: {len(line)} columns"
    if count == 0:
        yield f"there are no sources in {root}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or f"no line is longer than {WIDTH} columns")
    sys.exit(bool(found))
