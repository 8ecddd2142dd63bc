# SPDX-License-Identifier: BSD-3-Clause
"""compiled_before.py: a copy of the sources takes objects of the build tree, and compiles what
differs from it in a file, a macro, an option or in debug information."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLACE = "src/CMakeFiles/tonari_core.dir/Unity/unity.cxx.o"
compiler = shutil.which("c++") or pytest.skip("there is no c++", allow_module_level=True)
ninja = shutil.which("ninja") or pytest.skip("there is no ninja", allow_module_level=True)


def sources(root: Path) -> Path:
    """A header, a source, and a batch that names it with its place."""
    folder, batch = root / "src", root / "build" / PLACE.removesuffix(".o")
    folder.mkdir(parents=True)
    batch.parent.mkdir(parents=True)
    (folder / "a.hpp").write_text("inline int two() { return 2; }\n")
    (folder / "a.cpp").write_text('#include "a.hpp"\nint f() { return two() + N; }\n')
    batch.write_text(f'#include "{folder}/a.cpp"\n')
    return root


def command(root: Path, *options: str) -> list[str]:
    batch = root / "build" / PLACE.removesuffix(".o")
    rule = ["-MD", "-MT", PLACE, "-MF", f"{PLACE}.d"]
    return [compiler, "-DN=1", f"-I{root}/src", *options, *rule, "-o", PLACE, "-c", str(batch)]


class Tree:
    """What `make` has built, and a copy of its sources that is to be built, too."""

    def __init__(self, folder: Path) -> None:
        self.root, self.copy = sources(folder / "here"), sources(folder / "copy")
        self.build = self.root / "build"
        (self.root / "tests/python").mkdir(parents=True)
        for name in ("compile_hollow.py", "compile_once.py", "compiled_before.py"):
            shutil.copy(HERE / name, self.root / "tests/python")
        line = " ".join(command(self.root, "-O1", "-g1"))
        row = {"directory": str(self.build), "command": f"{line} ", "file": "unity.cxx"}
        (self.build / "compile_commands.json").write_text(json.dumps([row]))
        (self.build / "CMakeCache.txt").write_text(f"CMAKE_MAKE_PROGRAM:FILEPATH={ninja}\n")
        rule = f"rule cxx\n  command = {line}\n  depfile = {PLACE}.d\n  deps = gcc\n"
        (self.build / "build.ninja").write_text(f"{rule}build {PLACE}: cxx\n")
        subprocess.run([ninja, "-C", self.build], check=True, capture_output=True)
        self.made = (self.build / PLACE).read_bytes()

    def taken(self, *options: str, status: int = 0, root: Path | None = None) -> bool:
        """Whether the copy got the tree's object, which has lines for debuggers. root: of the
        sources that are compiled there, others than those of the copy."""
        (self.copy / "known").mkdir(exist_ok=True)
        given = {"TONARI_COMPILED": str(self.copy / "known"), "TONARI_BUILD": str(self.build)}
        launcher = [sys.executable, self.root / "tests/python/compile_once.py"]
        done = subprocess.run(
            [*launcher, *command(root or self.copy, *options)],
            cwd=self.copy / "build",
            env=os.environ | given,
        )
        assert done.returncode == status or (status and done.returncode)
        return not status and (self.copy / "build" / PLACE).read_bytes() == self.made


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_copy_takes_the_object_and_tells_what_it_read(tree: Tree) -> None:
    assert tree.taken("-O0") and tree.taken()
    rule = (tree.copy / "build" / f"{PLACE}.d").read_text()
    assert str(tree.copy / "src/a.hpp") in rule


def test_sources_of_the_tree_are_not_read_again(tree: Tree) -> None:
    """As in a project that has them as a part."""
    assert tree.taken("-O0", root=tree.root)
    rule = (tree.copy / "build" / f"{PLACE}.d").read_text()
    assert "unity.cxx" in rule and "a.hpp" not in rule
    assert not tree.taken("-isystem", str(tree.copy / "src"), "-DM", root=tree.root)
    (tree.root / "src/a.hpp").write_text("inline int two() { return 3; }\n")
    assert not tree.taken(root=tree.root)


@pytest.mark.parametrize("option", ["-DN=2", "-fno-exceptions", "-g", "-DM"])
def test_what_makes_other_code_is_compiled(tree: Tree, option: str) -> None:
    assert not tree.taken(option)


@pytest.mark.parametrize("where", ["copy", "here"])
def test_a_changed_header_is_compiled(tree: Tree, where: str) -> None:
    """Also where the tree was not built since."""
    root = tree.copy if where == "copy" else tree.root
    (root / "src/a.hpp").write_text("inline int two() { return 3; }\n")
    assert not tree.taken()


def test_a_header_of_another_place_is_noticed(tree: Tree) -> None:
    """It has the same text, but the tree has not read it."""
    (tree.copy / "src/a.hpp").rename(tree.copy / "a.hpp")
    assert not tree.taken("-isystem", str(tree.copy))


def test_a_missing_header_is_an_error(tree: Tree) -> None:
    (tree.copy / "src/a.hpp").unlink()
    assert not tree.taken(status=1)


def test_without_a_build_tree_it_is_compiled(tree: Tree) -> None:
    shutil.rmtree(tree.build / "src")
    assert not tree.taken()
