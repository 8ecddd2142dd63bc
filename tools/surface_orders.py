#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes src/layout/surface_orders.inc: python tools/surface_orders.py >
src/layout/surface_orders.inc, with build/python in PYTHONPATH."""

from __future__ import annotations

from textwrap import fill

from _tonari_core import search_surface_order

SECONDS = 60.0  # per number of dimensions; milliseconds are enough

print("// SPDX-License-Identifier: BSD-3-Clause")
print(
    "// The orders of surface regions with the fewest messages that surface_search.hpp finds. "
    "Written by tools/surface_orders.py."
)
print("constexpr std::uint8_t surface_orders[] = {")
for dims in range(1, 6):
    found = search_surface_order(dims, SECONDS)
    print(f"    // {dims}-d: {found.messages} messages, {found.bound} at least")
    print(
        fill(
            ", ".join(map(str, found.regions)) + ",",
            150,
            initial_indent=" " * 4,
            subsequent_indent=" " * 4,
        )
    )
print("};")
