# SPDX-License-Identifier: BSD-3-Clause
"""The check for cycles notices what it is for."""

import tempfile
from pathlib import Path

from cycles import problems

RIGHT = [
    {"plan/a.hpp": "", "plan/a.cpp": "plan/a.hpp"},  # a unit includes its own header
    {"plan/a.cpp": "plan/b.hpp", "plan/b.hpp": "", "plan/b.cpp": "plan/b.hpp"},
    {"plan/a.cpp": "plan/c.hpp plan/b.hpp", "plan/b.cpp": "plan/c.hpp", "plan/c.hpp": ""},
]
WRONG = [
    {"plan/a.hpp": "plan/b.hpp", "plan/b.hpp": "plan/a.hpp"},
    # one header above, one source file below
    {"plan/a.hpp": "plan/b.hpp", "plan/b.hpp": "", "plan/b.cpp": "plan/a.hpp"},
    {"plan/a.cpp": "plan/b.hpp", "plan/b.cpp": "engine/c.hpp", "engine/c.hpp": "plan/a.hpp"},
    {},
]


def complaints(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, included in files.items():
            path = Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'#include "{file}"\n' for file in included.split()))
        return list(problems(Path(folder)))


for files in RIGHT:
    assert not complaints(files), files
for files in WRONG:
    assert complaints(files), files
TWO = {"plan/a.hpp": "plan/b.hpp", "plan/b.hpp": "plan/a.hpp"}
TWO |= {"plan/c.hpp": "plan/d.hpp", "plan/d.hpp": "plan/c.hpp"}
assert len(complaints(TWO)) == 2
print(f"{len(RIGHT)} right and {len(WRONG)} wrong trees told apart")
