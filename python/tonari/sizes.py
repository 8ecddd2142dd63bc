# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of bytes as people write them. The library reads TONARI_INPLACE_MEMORY by the same rule
(read_size in src/base/setting.cpp); benchmark programs get plain numbers."""

from __future__ import annotations

import re

import typer

SIZE = re.compile(r"(\d{1,40})(?:([kmg])(?:ib)?)?", re.ASCII | re.IGNORECASE)
FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_size(text: str, option: str) -> int:
    """4096, 64K, 4KiB, 1MiB: a unit is a power of 1024, and its case does not matter."""
    found = SIZE.fullmatch(text)
    if not found:
        raise typer.BadParameter(
            f"{option} is '{text}'; it must be a number of bytes, such as 4096, 64K or 1MiB"
        )
    return int(found[1]) * FACTORS[(found[2] or "").lower()]


def plain_sizes(text: str, option: str) -> str:
    """Several, with commas between them, as a program of the benchmark takes them."""
    return ",".join(str(parse_size(part, option)) for part in text.split(","))
