# SPDX-License-Identifier: BSD-3-Clause
"""Includes point downwards only: usage: includes.py SOURCE_ROOT. Prints every wrong include and
exits with 1."""

import re
import sys
from pathlib import Path

from rooms import CORE, FLOOR, room_of, sources

QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>")


def wrong_include(room: str, line: str) -> str:
    """What is wrong with this line of a file in `room`; empty if nothing."""
    if angled := ANGLED.match(line):
        public = angled[1].startswith(("mpi", "tonari/"))
        return f"the core must not know <{angled[1]}>" if public and room in CORE else ""
    if not (quoted := QUOTED.match(line)):
        return ""
    if quoted[1].startswith("tonari/") and room not in CORE:
        return ""  # the public header
    target = room_of(quoted[1])
    if not target:
        return f'"{quoted[1]}" must be written as "room/file" with a room of src/'
    if target != room and FLOOR[target] >= FLOOR[room]:
        return f'{room} must not include "{quoted[1]}": {target} is not below it'
    return ""


def problems(root: Path):
    count = 0
    for room, path in sources(root):
        count += 1
        if not room:
            yield f"{path}: tests/architecture/rooms.py does not list its room"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if problem := wrong_include(room, line):
                yield f"{path}:{number}: {problem}"
    if count == 0:
        yield f"there are no sources in {root}/src"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "all includes point downwards")
    sys.exit(bool(found))
