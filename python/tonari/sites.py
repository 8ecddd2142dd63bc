# SPDX-License-Identifier: BSD-3-Clause
"""Where in a program a call stands: from its debug information by addr2line, else from the symbol
whose code has it by nm, else the file and the address in it. Never the nearest symbol."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


def site(file: str, offset: int) -> str:
    """solver.c:120 where there is debug information, exchange+0x1c where there are symbols only,
    else program+0x1b2c."""
    return _line(file, offset) or _symbol(file, offset) or f"{Path(file).name}+{offset:#x}"


def function(file: str, offset: int) -> str:
    """The name of the function that calls; empty if nobody knows. Without debug information
    addr2line names the symbol before the place, in whichever function that is."""
    if _line(file, offset):
        return _short(_addr2line(file, offset)[0])
    return (
        _symbol(file, offset).rpartition("+")[0] or _symbol(file, offset, "-D").rpartition("+")[0]
    )


def _short(name: str) -> str:
    """Of C++ functions without parameters."""
    return name.replace("(anonymous namespace)::", "").partition("(")[0]


_known: dict[tuple[str, int], tuple[str, str]] = {}


def look_up(places: Iterable[tuple[str, int]]) -> None:
    """Finds many places at once: addr2line reads the debug information of a large program for
    seconds each time that it is called."""
    offsets: dict[str, list[int]] = defaultdict(list)
    for file, offset in dict.fromkeys(places):
        if (file, offset) not in _known:
            offsets[file].append(offset)
    for file, wanted in offsets.items():
        said = _said("addr2line", "-f", "-C", "-e", file, *map(hex, wanted)).splitlines()
        for k, offset in enumerate(wanted):
            two = said[2 * k : 2 * k + 2]
            known = ["" if line.startswith("??") else line for line in two]
            _known[file, offset] = (known[0], known[1]) if len(known) == 2 else ("", "")


def _addr2line(file: str, offset: int) -> tuple[str, str]:
    """Function, and file:line, as the tool writes them; empty where it does not know."""
    look_up([(file, offset)])
    return _known[file, offset]


def _line(file: str, offset: int) -> str:
    found = re.match(r"(?:.*/)?([^/:]+:\d+)", _addr2line(file, offset)[1])
    return found[1] if found and not found[1].startswith("??") else ""


def _symbol(file: str, offset: int, *which: str) -> str:
    for start, size, name in _functions(file, *which):
        if start <= offset < start + size:
            return f"{_short(name)}+{offset - start:#x}"
    return ""


@lru_cache(maxsize=None)
def _functions(file: str, *which: str) -> tuple[tuple[int, int, str], ...]:
    """Where functions begin, how long they are, and their names; by -D those that are exported."""
    said = _said("nm", "-S", "-C", *which, file)
    rows = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] (.+)$", said, re.MULTILINE)
    return tuple((int(start, 16), int(size, 16), name) for start, size, name in rows)


def _said(tool: str, *words: str) -> str:
    if not shutil.which(tool):
        return ""
    return subprocess.run([tool, *words], capture_output=True, text=True).stdout
