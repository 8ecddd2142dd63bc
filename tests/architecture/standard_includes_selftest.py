# SPDX-License-Identifier: BSD-3-Clause
"""The check for standard headers notices what it is for."""

import tempfile
from pathlib import Path

from standard_includes import complaints

INCLUDED = "#include <vector>\nstd::vector<int> a;\n"
RIGHT = [
    {"plan/a.hpp": INCLUDED},
    {
        "plan/a.hpp": "#include <vector>\n",
        "plan/a.cpp": '#include "plan/a.hpp"\nstd::vector<int> a;',
    },
    {"plan/a.cpp": "// std::vector\nint a;\n"},
    # one of several headers that have it
    {"plan/a.cpp": "#include <set>\nstd::size_t a = std::size(b);\n"},
]
WRONG = [
    {"plan/a.cpp": "#include <map>\nstd::vector<int> a;\n"},
    # the header of another unit
    {"plan/a.hpp": "#include <vector>\n", "plan/b.cpp": "std::vector<int> a;\n"},
    {"plan/a.cpp": "#include <vector>\nstd::unheard_of a;\n"},
]


def found(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(complaints(Path(folder)))


for files in RIGHT:
    assert not found(files), (files, found(files))
for files in WRONG:
    assert len(found(files)) == 1, (files, found(files))
print(f"{len(RIGHT)} right and {len(WRONG)} wrong trees told apart")
