# SPDX-License-Identifier: BSD-3-Clause
"""What somebody who misspelled a name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like it; empty if none is much like it."""
    return next(iter(get_close_matches(name.lower(), list(known), 1)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses the name: "; did you mean torus?". Empty if no name is
    near."""
    meant = nearest(name, known)
    return f"; did you mean {meant}?" if meant else ""
