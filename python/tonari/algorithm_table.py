# SPDX-License-Identifier: BSD-3-Clause
"""The table of algorithms, which the extension module has."""

from __future__ import annotations

from tonari.core import core
from tonari.errors import Error

APPLY_TO = ("offsets", "graphs", "in place")


def list_algorithms(applies_to: str) -> list[str]:
    """The names of those that apply to offsets, graphs or "in place"."""
    return [row.name for row in core().algorithms() if applies_to in row.applies_to]


def _sentence(applies_to: str) -> str:
    """For --help, which also works where the extension module was not built."""
    try:
        return ", ".join(list_algorithms(applies_to))
    except Error:
        return "the algorithms of docs/features.md"


NAMES = {kind: _sentence(kind) for kind in APPLY_TO}
