# SPDX-License-Identifier: BSD-3-Clause
"""Every function that a public header declares has a definition in src/ that a search for its name
and a parenthesis finds: usage: definitions.py SOURCE_ROOT. Macros make none: grep, tags and
debuggers do not see through them."""

import re
import sys
from pathlib import Path

from rooms import sources
from symbols import COMMENT, declared

DIRECTIVE = re.compile(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
DEFINED = re.compile(r"^\w[^\n(;{}]*?(\w+)\([^;(){}]*\)\s*(?:noexcept\s*)?\{", re.MULTILINE)


def defined(text: str) -> set[str]:
    return set(DEFINED.findall(DIRECTIVE.sub("", COMMENT.sub("", text))))


def problems(root: Path):
    headers = sorted(root.glob("include/tonari/*.h"))
    names = declared([path.read_text(encoding="utf-8") for path in headers])
    if not names:
        yield f"no header in {root}/include/tonari declares a function"
    found = set()
    for _, path in sources(root):
        found |= defined(path.read_text(encoding="utf-8"))
    for name in sorted(names - found):
        yield f"no source defines {name} under its own name; write it out, without a macro"


if __name__ == "__main__":
    wrong = list(problems(Path(sys.argv[1])))
    print("\n".join(wrong) or "all functions of the public headers are written out")
    sys.exit(bool(wrong))
