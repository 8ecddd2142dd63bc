# SPDX-License-Identifier: BSD-3-Clause
"""compile_once.py: the same text is compiled once, wherever it lies; another text, other options or
a missing file are noticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).with_name("compile_once.py")
compiler = shutil.which("c++") or pytest.skip("there is no c++", allow_module_level=True)


class Trees:
    """Copies of a source with its header, and what they were compiled to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.known = folder, folder / "known"
        self.known.mkdir()

    def make(self, name: str, header: str = "inline int two() { return 2; }\n") -> Path:
        tree = self.folder / name
        tree.mkdir()
        (tree / "a.hpp").write_text(header)
        (tree / "a.cpp").write_text('#include "a.hpp"\nint f() { return two() + N; }\n')
        return tree

    def compile(self, tree: Path, *flags: str) -> int:
        command = [sys.executable, LAUNCHER, compiler, "-DN=1", f"-I{tree}", *flags]
        files = ["-MD", "-MT", "a.o", "-MF", "a.d", "-o", "a.o", "-c", tree / "a.cpp"]
        environment = os.environ | {"TONARI_COMPILED": str(self.known)}
        return subprocess.run([*command, *files], cwd=tree, env=environment).returncode

    def objects(self) -> list[Path]:
        return [path for path in self.known.iterdir() if not path.suffix]


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def test_the_same_text_is_compiled_once(trees: Trees) -> None:
    one, other = trees.make("one"), trees.make("other")
    assert trees.compile(one) == 0
    [known] = trees.objects()
    assert known.read_bytes() == (one / "a.o").read_bytes()
    known.write_bytes(b"what was kept")
    assert trees.compile(other) == 0
    assert (other / "a.o").read_bytes() == b"what was kept"
    assert str(other / "a.hpp") in (other / "a.d").read_text()


def test_another_text_and_other_options_are_compiled(trees: Trees) -> None:
    assert trees.compile(trees.make("one")) == 0
    assert trees.compile(trees.make("three", "inline int two() { return 3; }\n")) == 0
    assert len(trees.objects()) == 2
    assert trees.compile(trees.folder / "one", "-O1") == 0
    assert trees.compile(trees.folder / "one", "-UN", "-DN=2") == 0
    assert len(trees.objects()) == 4


def test_a_missing_file_is_an_error(trees: Trees) -> None:
    """Though what it would be compiled to is known."""
    one = trees.make("one")
    assert trees.compile(one) == 0
    (one / "a.hpp").unlink()
    assert trees.compile(one) != 0
