# SPDX-License-Identifier: BSD-3-Clause
"""Every function that a public header declares has a definition in src/ that a search for its name
and a parenthesis finds: usage: definitions.py SOURCE_ROOT. Macros make none: grep, tags and
debuggers do not see through them. Functions in front of the MPI (src/preload/symbols.txt), which
come in pairs, are arguments of a macro: it takes the full name, and .ctags.d tells ctags of it."""

import re
import sys
from pathlib import Path

from rooms import sources
from symbols import COMMENT, declared

DIRECTIVE = re.compile(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TAGGED = re.compile(r"^-D(TONARI_\w+)\(name,", re.MULTILINE)
DEFINED = re.compile(r"^\w[^\n(;{}]*?(\w+)\([^;(){}]*\)\s*(?:noexcept\s*)?\{", re.MULTILINE)


def defined(text: str) -> set[str]:
    return set(DEFINED.findall(DIRECTIVE.sub("", COMMENT.sub("", text))))


def in_front(root: Path) -> set[str]:
    """The names of the list; Fortran has three for each function, of which the shortest counts."""
    listed = root / "src/preload/symbols.txt"
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    names = {line.split()[0] for line in lines if not line.startswith("#")}
    return {re.sub(r"^(mpi_\w+?)(_f08|_f08ts)?_$", r"\1", name) for name in names}


def defined_in_front(root: Path) -> set[str]:
    tags = root / ".ctags.d/tonari.ctags"
    macros = TAGGED.findall(tags.read_text(encoding="utf-8")) if tags.is_file() else []
    uses = re.compile(rf"^(?:{'|'.join(macros)})\(\s*(\w+)", re.MULTILINE) if macros else None
    found = set()
    for _, path in sources(root):
        text = DIRECTIVE.sub("", COMMENT.sub("", path.read_text(encoding="utf-8")))
        found |= set(DEFINED.findall(text)) | set(uses.findall(text) if uses else [])
    return found


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


def problems_in_front(root: Path):
    names = in_front(root)
    if not names:
        yield f"{root}/src/preload/symbols.txt lists no function"
    for name in sorted(names - defined_in_front(root)):
        yield f"no source puts {name} in front of the MPI under its full name, for ctags, too"


if __name__ == "__main__":
    root = Path(sys.argv[1])
    wrong = [*problems(root), *problems_in_front(root)]
    print("\n".join(wrong) or "all functions of the public headers and in front of MPI are found")
    sys.exit(bool(wrong))
