# SPDX-License-Identifier: BSD-3-Clause
"""Every source file says its license: usage: licenses.py SOURCE_ROOT. Prints those that do not and
exits with 1.

The identifier stands in the first line, or in the second one behind the name of an interpreter
(https://spdx.dev/learn/handling-license-info).
"""

import sys
from pathlib import Path

IDENTIFIER = "SPDX-License-Identifier: BSD-3-Clause"
FOLDERS = ["src", "include", "bench", "tests", "examples", "python", "tools", "cmake", "packaging"]
KINDS = {".cpp", ".hpp", ".c", ".h", ".inc", ".map", ".py", ".sh", ".cmake", ".f90", ".F90"}
BY_NAME = ["Makefile", "CMakeLists.txt", "tonari", ".ci/run"]


def sources(root: Path):
    yield from (root / name for name in BY_NAME if (root / name).exists())
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and (path.suffix in KINDS or path.name == "CMakeLists.txt"):
                yield path


def is_marked(text: str) -> bool:
    lines = text.splitlines()[:2]
    return any(IDENTIFIER in line for line in lines[: 2 if text.startswith("#!") else 1])


def problems(root: Path):
    count = 0
    for path in sources(root):
        count += 1
        if not is_marked(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: begin it with a comment: {IDENTIFIER}"
    if count == 0:
        yield f"there are no sources in {root}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "every source file says its license")
    sys.exit(bool(found))
