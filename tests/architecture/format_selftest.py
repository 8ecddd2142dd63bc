# SPDX-License-Identifier: BSD-3-Clause
"""The check of formatting notices what it is for: usage: format_selftest.py SOURCE_ROOT BUILD."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, BUILD = map(Path, sys.argv[1:])
FOLDERS = ["src", "include", "bench", "tests", "examples", "python", "tools", "packaging"]
RIGHT = [("src/a.cpp", "int f() { return 1; }\n"), ("python/a.py", 'a = "b"\n')]
WRONG = [("tests/a.hpp", "int f(){return 1;}\n"), ("tools/a.py", "a = 'b'\n")]


def passes(name: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        for each in FOLDERS:
            Path(folder, each).mkdir()
        for each in (".clang-format", "pyproject.toml", "tools/format.sh"):
            shutil.copy(ROOT / each, Path(folder, each))
        Path(folder, "include/a.h").write_text("int f(void);\n")
        Path(folder, name).write_text(text)
        command = [Path(folder, "tools/format.sh"), "--check"]
        done = subprocess.run(command, env=os.environ | {"BUILD": str(BUILD)}, capture_output=True)
        return done.returncode == 0


for name, text in RIGHT:
    assert passes(name, text), name
for name, text in WRONG:
    assert not passes(name, text), name
print(f"{len(RIGHT)} right and {len(WRONG)} wrong files told apart")
