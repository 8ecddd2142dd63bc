# SPDX-License-Identifier: BSD-3-Clause
"""The check of line lengths notices what it is for."""

from lines import WIDTH, problems
from tell_apart import tell_apart

LONG = "word " * (WIDTH // 5 + 1)
RIGHT = [
    ("src/plan/a.hpp", "x" * 20 + " // " + "y" * (WIDTH - 24)),
    ("docs/a.md", f"| {LONG} |"),
    ("docs/a.md", f"see https://example.org/{'x' * WIDTH}"),
    ("tools/a.sh", f'die "{LONG}"'),
    ("tests/goldens/a.txt", LONG),
    ("src/layout/surface_orders.inc", LONG),
]
WRONG = [
    ("src/plan/a.hpp", f"// {LONG}"),
    ("src/plan/a.hpp", f'f("{LONG}");'),
    ("tools/a.sh", f"# {LONG}"),
    ("CMakeLists.txt", f"set(a {LONG})"),
    ("docs/a.md", LONG),
]

tell_apart(problems, RIGHT, WRONG, "lines", ("src/short.cpp", ""))
