# SPDX-License-Identifier: BSD-3-Clause
"""One module for each paper; each has a PAPER."""

from __future__ import annotations

from importlib import import_module

from tonari.reproduce.figures import Paper

MODULES = ("traeff", "hoefler", "duymus", "hofmann", "zhao")  # in the order of the report


def papers() -> list[Paper]:
    """All of them."""
    return [import_module(f"{__name__}.{module}").PAPER for module in MODULES]
