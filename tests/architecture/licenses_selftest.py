# SPDX-License-Identifier: BSD-3-Clause
"""The check of licenses notices what it is for."""

from licenses import IDENTIFIER, problems
from tell_apart import tell_apart

RIGHT = [
    ("src/plan/a.hpp", f"// {IDENTIFIER}\n// a plan"),
    ("include/tonari/a.h", f"/* {IDENTIFIER} */"),
    ("tools/a.sh", f"#!/bin/sh\n# {IDENTIFIER}\n"),
]
WRONG = [
    ("src/plan/a.hpp", f"// a plan\n// {IDENTIFIER}"),
    ("src/plan/a.cpp", "// SPDX-License-Identifier: MIT"),
    ("tools/a.sh", f"#!/bin/sh\n\n# {IDENTIFIER}\n"),
    ("tests/CMakeLists.txt", "set(a b)"),
    ("python/tonari/a.py", '"""a"""'),
]

tell_apart(problems, RIGHT, WRONG, "licenses")
