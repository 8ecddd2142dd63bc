# SPDX-License-Identifier: BSD-3-Clause
"""The interface of the library beside that of the last version with a tag, by abidiff: while the
SONAME is the same, programs of that version go on working. tests/architecture pins functions and
structures; this sees types of parameters, too."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from test_package import CACHE, LAUNCHER, MPIS, SOURCE, configure, run, succeeded, wrappers

pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(not MPIS, reason="there is no build (TONARI_BUILD)"),
    pytest.mark.skipif(not shutil.which("abidiff"), reason="there is no abidiff (abigail-tools)"),
]
# Bits of abidiff's status. Types of parameters that changed have the first of CHANGED alone.
CHANGED = 4 | 8
FAILED = 1 | 2


def breaks(old: Path, new: Path, *options: str) -> str:
    """What makes programs that were linked with the old library fail with the new one. Functions
    may join."""
    done = run(["abidiff", "--no-added-syms", *options, old, new])
    assert not done.returncode & FAILED, done.stderr
    return done.stdout if done.returncode & CHANGED else ""


FACTS = "struct facts { long a, b; }; "
GETTER = "long f(struct facts* x) { return x->b; } "


@pytest.mark.parametrize(
    ("now", "broken"),
    [
        (FACTS + GETTER + "void g(void) {}", False),
        (FACTS + "void g(void) {}", True),
        ("struct facts { long b; }; " + GETTER, True),
    ],
)
def test_what_breaks_programs_is_noticed(now: str, broken: bool, tmp_path: Path) -> None:
    libraries = []
    for name, text in (("before", FACTS + GETTER), ("now", now)):
        source, library = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
        source.write_text(text)
        succeeded([CACHE["CMAKE_C_COMPILER"], "-g", "-shared", "-fPIC", source, "-o", library])
        libraries.append(library)
    assert bool(breaks(*libraries)) == broken


def last_version() -> str:
    """The newest tag of a version before this commit, or an empty string."""
    ask = ["git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]
    done = subprocess.run(ask, capture_output=True, text=True, cwd=SOURCE)
    return done.stdout.strip()


def library(source: Path, build: Path, mpi: str) -> Path:
    """Compiled with all that debug information says of types."""
    command: list[Any] = configure(
        source,
        *wrappers(mpi),
        *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g", "-DCMAKE_UNITY_BUILD=ON"),
        *(f"-DTONARI_{part}=OFF" for part in ("TESTS", "EXAMPLES", "BENCHMARKS", "PYTHON")),
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}",
    )
    command[command.index("-B") + 1] = build
    succeeded(command)
    succeeded([CACHE["CMAKE_COMMAND"], "--build", build, "--target", f"tonari_{mpi}"])
    return (build / mpi / "lib/libtonari.so").resolve()


def test_programs_of_the_last_version_work_with_this_one(tmp_path: Path) -> None:
    version = last_version()
    if not version:
        pytest.skip("there is no tag of a version yet")
    archive, before = tmp_path / "before.tar", tmp_path / "before"
    succeeded(["git", "archive", "-o", archive, version], SOURCE)
    with tarfile.open(archive) as sources:
        sources.extractall(before, filter="data")
    mpi = next(iter(MPIS))
    old = library(before, tmp_path / "build-before", mpi)
    new = library(SOURCE, tmp_path / "build-now", mpi)
    if old.name.rpartition(".")[0] != new.name.rpartition(".")[0]:
        return  # another SONAME, which no program of that version starts with
    headers = ["--headers-dir1", str(before / "include"), "--headers-dir2", str(SOURCE / "include")]
    broken = breaks(old, new, *headers)
    assert not broken, f"programs of {version} do not work any more:\n{broken}"
