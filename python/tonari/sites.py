# SPDX-License-Identifier: BSD-3-Clause
"""Where in a program a call stands: from its debug information by addr2line, else from its symbols
by nm, else the file and the address in it."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path


def site(file: str, offset: int) -> str:
    """solver.c:120 where there is debug information, exchange+0x1c where there are symbols only,
    else program+0x1b2c."""
    return _line(file, offset) or _symbol(file, offset) or f"{Path(file).name}+{offset:#x}"


def function(file: str, offset: int) -> str:
    """The name of the function that calls; empty if nobody knows."""
    return _short(_addr2line(file, offset)[0])


def _short(name: str) -> str:
    """Of C++ functions without parameters."""
    return name.replace("(anonymous namespace)::", "").partition("(")[0]


@lru_cache(maxsize=None)
def _addr2line(file: str, offset: int) -> tuple[str, str]:
    """Function, and file:line, as the tool writes them; empty where it does not know."""
    said = _said("addr2line", "-f", "-C", "-e", file, f"{offset:#x}").splitlines()
    return tuple("" if line.startswith("??") else line for line in said[:2]) if said else ("", "")


def _line(file: str, offset: int) -> str:
    found = re.match(r"(?:.*/)?([^/:]+:\d+)", _addr2line(file, offset)[1])
    return found[1] if found and not found[1].startswith("??") else ""


def _symbol(file: str, offset: int) -> str:
    before = [symbol for symbol in _functions(file) if symbol[0] <= offset]
    if not before:
        return ""
    start, name = max(before)
    return f"{_short(name)}+{offset - start:#x}"


@lru_cache(maxsize=None)
def _functions(file: str) -> tuple[tuple[int, str], ...]:
    """Where functions begin, and their names."""
    rows = re.findall(r"^([0-9a-f]+) [tTwW] (.+)$", _said("nm", "-C", file), re.MULTILINE)
    return tuple((int(start, 16), name) for start, name in rows)


def _said(tool: str, *words: str) -> str:
    if not shutil.which(tool):
        return ""
    return subprocess.run([tool, *words], capture_output=True, text=True).stdout
