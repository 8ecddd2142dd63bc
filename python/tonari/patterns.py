# SPDX-License-Identifier: BSD-3-Clause
"""The names of patterns, and what is said about a pattern that has none of them and is no file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tonari.errors import FILE, Error
from tonari.suggestion import nearest

OFFSETS = {
    "moore": "moore:d:r",
    "star": "star:d:r",
    "octant": "octant:d[:r]",
    "shells": "shells:d:r1,r2",
}
GRAPHS = {
    "random": "random:P",
    "hotspot": "hotspot",
    "hotspot-in": "hotspot-in",
    "scale-free": "scale-free:K",
    "clique": "clique:K",
}


def check_pattern(pattern: str, kinds: dict[str, str], instead: Iterable[str] = ()) -> None:
    """Refuses what has none of these names and is no file.

    kinds    names and how patterns of them are written
    instead  names that stand for something else, each with `tonari bench ` in front of it
    """
    name, colon, rest = pattern.partition(":")
    if name in kinds or Path(pattern).exists():
        return
    meant = nearest(name, [*kinds, *instead])
    hint = ""
    if meant in kinds:
        hint = f"; did you mean {meant}{colon}{rest}?"
    elif meant:
        hint = f"; did you mean `tonari bench {meant}`?"
    written = ", ".join(kinds.values())
    raise Error(f"'{pattern}' is neither {written} nor a readable file of offsets{hint}", FILE)
